"""Mutation testing of the checker: is there a line whose meaning could change without a test that notices?

    python benchmarks/mutants.py [FILE.py ...] [--new] [--part I/N] [--list]

Each mutant is the checker with one small change: a comparison replaced, `and` for `or`, a condition negated, a
constant off by one, a `raise` or another statement removed. The corpus and then the fast tests that are about the
changed file run against it, in a process of its own with a time limit, one after the other on one core; of the corpus,
those cases that enter the changed function, since no other can notice. Programs that the tests start find the changed
checker too. Random tests draw the same examples for every mutant, and stop at the first that fails. Survivors are
printed; `docs/checker-mutants.md` explains each of them, and the exit code says whether one is not explained there.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import copy
import os
import pickle
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from math import ceil
from pathlib import Path
from types import FrameType
from typing import TypeAlias

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "ascertain_check"
EXPLAINED = ROOT / "docs" / "checker-mutants.md"
CORPUS_LIMIT, TEST_LIMIT = 5, 120
"""Seconds of processor time; the corpus takes less than one, the tests of a file about 15. A mutant gets no more than
five seconds and three times what the tests need without a change: a loop without end should not take two minutes."""
MEMORY_LIMIT = 3 * 2**30
EVERY = ("tests/test_checker.py",)
CLAIMS = (*EVERY, "tests/test_certificate.py", "tests/test_checker_campaign.py")
RUNS = (
    "tests/test_check_run.py::test_the_limits_are_those_of_the_format",  # quick, and many mutants end there
    "tests/test_check_run.py::test_a_plant_of_too_many_bits_is_refused_in_a_sentence",
    "tests/test_check_run.py",
)
WORK = ("tests/test_check_work.py",)
HIDDEN = ("tests/test_hidden_certificate.py",)
CONFORMANCE = (
    *(
        f"tests/test_conformance.py::{name}"  # what is about the checker, and quick
        for name in (
            "test_a_complete_claim_that_is_changed_is_not_taken",
            "test_a_sampled_claim_that_is_changed_is_not_taken",
            "test_none_of_these_needs_every_hypothesis_contradicted",
            "test_a_suite_without_a_leaf_is_verified_only_if_the_definition_still_holds",
        )
    ),
    "tests/test_check_conformance.py",
)
COMMAND = (
    "tests/test_checker_start.py",
    "tests/test_check_work.py::test_the_command_takes_a_budget",
    "tests/test_check_required.py::test_a_requirement_that_is_not_one_is_refused",
    "tests/test_check_required.py::test_the_command_line_says_what_is_missing",
    "tests/test_check_run.py::test_what_had_to_be_trusted_is_printed_even_when_nothing_else_is_asked_for",
    *EVERY,
)
SHARES = tuple(
    f"tests/test_shares.py::{name}"  # what is about the checker, and the quick ones first
    for name in (
        "test_the_checker_says_what_is_wrong_with_shares",
        "test_what_is_refused_is_told_how_much_its_shares_and_potentials_prove",
        "test_a_potential_counts_where_a_step_begins_and_where_it_ends",
        "test_the_distance_of_a_rival_is_that_of_its_cheapest_word_though_a_dearer_one_is_met_first",
        "test_joint_states_are_numbered_as_they_are_met_and_end_where_an_action_is_not_allowed",
        "test_shares_say_nothing_of_the_current_state",
        "test_what_is_spoilt_proves_nothing_false",
        "test_shares_prove_what_value_iteration_says_and_no_more_than_the_optimum",
        "test_bounds_by_shares_are_verified_and_never_above_the_optimum",
    )
)
BOUNDS = ("tests/test_check_bounds.py", "tests/test_check_program_parts.py")
PRICES = ("tests/test_check_prices.py",)
ALL = (*CLAIMS, *RUNS, "tests/test_check_policy.py", *BOUNDS, *PRICES)
TESTS = {
    "__main__.py": COMMAND,
    "verdicts.py": (*EVERY, *RUNS),
    "certificate.py": (*EVERY, "tests/test_check_required.py", *WORK),
    "claim.py": (*EVERY, "tests/test_check_registry.py"),
    **dict.fromkeys(("achieves.py", "lower.py", "lower_expected.py", "obstruction.py", "quotient.py"), CLAIMS),
    "shares.py": SHARES,
    **dict.fromkeys(("reading.py", "task.py"), (*CLAIMS, *RUNS)),
    "chain.py": (*RUNS, "tests/test_recovery.py", *WORK),
    **dict.fromkeys(("evidence.py", "listed_world.py", "plant_task.py", "plant_world.py"), (*RUNS, *WORK)),
    **dict.fromkeys(("run.py", "turns.py", "fault_reset.py"), (*RUNS, "tests/test_recovery.py", *HIDDEN)),
    "switching.py": ("tests/test_check_switching.py", *RUNS, *HIDDEN, *WORK),
    **dict.fromkeys(("work.py", "rational.py"), (RUNS[0], *WORK)),
    **dict.fromkeys(("bit_tests.py", "forms.py"), ("tests/test_check_bit_tests.py", "tests/test_bit_tests.py")),
    "required.py": ("tests/test_check_required.py",),
    **dict.fromkeys(("encounters.py", "information.py", "logarithm.py", "program.py"), BOUNDS),
    **dict.fromkeys(("hidden_task.py", "hidden_world.py", "question.py"), (*EVERY, *HIDDEN)),
    **dict.fromkeys(("conforms.py", "none_of_these.py", "observed.py", "sampled.py"), CONFORMANCE),
    "within_risk.py": ("tests/test_check_policy.py", "tests/test_check_bit_tests.py", "tests/test_bit_tests.py"),
    **dict.fromkeys(("openings.py", "prices.py"), PRICES),
    "followed.py": (
        "tests/test_followed.py",
        "tests/test_bit_tests.py::test_a_run_is_certified_and_only_with_the_answer_that_its_readings_give",
    ),
    "words.py": ("tests/test_sequences.py::test_a_claim_of_words_is_verified_exactly_if_the_definition_holds",),
}
"""The tests that are about a file, by its name; all of them for a file that is not listed."""
PRELOADED = (
    "ascertain.certificate.write",
    "ascertain.observer.records",
    "ascertain.planning.policy_forms",
    "ascertain.planning.two_sided",
    "ascertain.problem.pose_plant",
    "ascertain.search.exact",
)
"""What many tests import and what does not import the checker."""
Case: TypeAlias = tuple[bytes, bytes, str]
"""A task, a certificate, and what the checker says of them."""
COMPARISONS: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}


@dataclass(frozen=True)
class Mutant:
    """One change in one file. Its name is stable under changes elsewhere in the file."""

    file: str
    """Its path in the package."""
    where: str
    """The function that was changed, or "module"."""
    name: str
    source: str


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Small changes of one node: what was done, and the node that takes its place."""
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                new = copy.deepcopy(node)
                new.ops[i] = other()
                yield f"becomes `{ast.unparse(new)}`", new
    if isinstance(node, ast.BoolOp):
        new = copy.deepcopy(node)
        new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield f"becomes `{ast.unparse(new)}`", new
        for i in range(len(node.values)):
            kept = [value for j, value in enumerate(node.values) if j != i]
            shorter = kept[0] if len(kept) == 1 else ast.BoolOp(node.op, kept)
            yield f"becomes `{ast.unparse(shorter)}`", shorter
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield f"becomes `{ast.unparse(node.operand)}`", node.operand
    if isinstance(node, ast.Constant) and type(node.value) is int:
        for value in (node.value + 1, node.value - 1):
            yield f"becomes `{value}`", ast.Constant(value)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield f"becomes `{not node.value}`", ast.Constant(not node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        new = copy.deepcopy(node)
        new.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield f"becomes `{ast.unparse(new)}`", new
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        for value in (True, False):
            new = copy.deepcopy(node)
            new.test = ast.Constant(value)
            if not (isinstance(node, ast.While) and value):
                yield f"condition `{ast.unparse(node.test)}` becomes `{value}`", new
    if isinstance(node, ast.comprehension) and node.ifs:
        new = copy.deepcopy(node)
        new.ifs = []
        yield f"filter `{ast.unparse(node.ifs[0])}` removed", new
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("all", "any"):
        new = copy.deepcopy(node)
        new.func = ast.Name("any" if node.func.id == "all" else "all")
        yield f"becomes `{ast.unparse(new)}`", new
    if isinstance(node, ast.Raise | ast.Continue | ast.AugAssign) or is_call(node):
        yield "removed", ast.Pass()
    if isinstance(node, ast.ExceptHandler):
        new = copy.deepcopy(node)
        new.type = ast.Name("ZeroDivisionError")
        yield "catches nothing", new


def is_call(node: ast.AST) -> bool:
    """Whether this is a statement that only calls something, such as a check."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def mutate(path: Path) -> Iterator[Mutant]:
    """Every mutant of a file, each with its function and the text that was changed as its name."""
    tree = ast.parse(path.read_text("utf-8"))
    seen: dict[str, int] = {}
    for node, place, where in list(places(tree)):
        for what, new in changes(node):
            holder, field, index = place
            old = getattr(holder, field) if index is None else getattr(holder, field)[index]
            put(holder, field, index, new)
            text = ast.unparse(old).splitlines()[0] if not isinstance(old, ast.comprehension) else ""
            name = f"{path.name}: {where}: `{text}` {what}" if text else f"{path.name}: {where}: {what}"
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1:
                name += f" ({seen[name]})"
            source = ast.unparse(ast.fix_missing_locations(tree))
            put(holder, field, index, old)
            yield Mutant(path.relative_to(PACKAGE).as_posix(), where, name, source)


def places(tree: ast.AST, where: str = "module") -> Iterator[tuple[ast.AST, tuple[ast.AST, str, int | None], str]]:
    """Every node but annotations, docstrings and counts of work, with where it stands and the function it stands in."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        inside = tree.name if isinstance(tree, ast.FunctionDef) else where
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not counts_work(child):
                yield child, (tree, field, index), inside
                yield from places(child, inside)


def counts_work(node: ast.AST) -> bool:
    """Whether this statement only counts work: `tests/test_check_work.py` compares counts with what is done."""
    called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in ("spend", "hold")


def put(holder: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(holder, field, node)
    else:
        getattr(holder, field)[index] = node


def survives(mutant: Mutant, home: Path, cases: list[Case], limit: int = TEST_LIMIT) -> tuple[bool, float]:
    """Whether the tests pass with this mutant in place of the checker, and the processor time that they took.

    A mutant that runs out of time is noticed.
    """
    target = home / "ascertain_check" / mutant.file
    original = target.read_bytes()
    target.write_text(mutant.source, "utf-8")
    forget(home, mutant.file)
    child = os.fork()
    if child == 0:
        try:
            os._exit(run_tests(home, cases, TESTS.get(target.name, ALL), limit))
        finally:
            os._exit(1)
    _, status, usage = os.wait4(child, 0)
    target.write_bytes(original)
    return status == 0, usage.ru_utime + usage.ru_stime


def copy_checker(home: Path) -> None:
    """The checker in a directory of its own, compiled, since most of it is not changed."""
    shutil.copytree(PACKAGE, home / "ascertain_check", ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(home / "ascertain_check", quiet=2)


def forget(home: Path, file: str) -> None:
    """Remove the bytecode of a file, so that the change counts."""
    source = home / "ascertain_check" / file
    for compiled in (source.parent / "__pycache__").glob(f"{source.stem}.*"):
        compiled.unlink()


def run_tests(home: Path, cases: list[Case], tests: tuple[str, ...], limit: int) -> int:
    """In the child: the corpus and the tests, with `ascertain_check` from this directory, silent, so many seconds."""
    import pytest
    from hypothesis import HealthCheck, Phase, settings

    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    sys.path.insert(0, str(home))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(home), os.environ.get("PYTHONPATH"))))
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CPU, (CORPUS_LIMIT, TEST_LIMIT))
    if not corpus_passes(cases):
        return 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    settings.register_profile(
        "mutants",
        database=None,
        derandomize=True,
        phases=(Phase.explicit, Phase.generate),  # an example need not be small to count
        deadline=None,  # nor does one that is only slow: the machine may be busy
        suppress_health_check=[HealthCheck.too_slow],
    )
    early = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis was imported before pytest began
    once = ["--deselect", "tests/test_checker.py::test_the_folder_of_a_certificate_is_its_verdict"]
    options = [
        *early,
        *once,
        "--hypothesis-profile=mutants",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:cov",
        "-p",
        "no:xdist",
        "-p",
        "no:benchmark",
    ]
    return int(pytest.main([*options, *tests]))


def corpus_passes(cases: list[Case]) -> bool:
    """What the first test does, without the time that pytest takes to begin: most mutants end here."""
    from ascertain_check import check

    return all(str(check(task, certificate)) == expected for task, certificate, expected in cases)


def read_corpus() -> list[Case]:
    corpus = ROOT / "tests" / "certificates"
    lines = [line.split("\t") for line in (corpus / "expected.tsv").read_text("utf-8").splitlines()]
    return [
        ((corpus / f"{case}.task.json").read_bytes(), (corpus / f"{case}.json").read_bytes(), expected)
        for case, expected in lines
    ]


def find_entered(home: Path, cases: list[Case]) -> list[set[tuple[str, str]]]:
    """By case the functions that it enters, as (file, name): found in a child, which alone imports the checker."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            sys.path.insert(0, str(home))
            with os.fdopen(into, "wb") as stream:
                pickle.dump([trace(case) for case in cases], stream)
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as stream:
        found: list[set[tuple[str, str]]] = pickle.load(stream)  # from our own child
    os.waitpid(child, 0)
    return found


def trace(case: Case) -> set[tuple[str, str]]:
    from ascertain_check import check

    entered: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            entered.add((Path(frame.f_code.co_filename).name, frame.f_code.co_name))

    sys.setprofile(note)
    try:
        check(case[0], case[1])
    finally:
        sys.setprofile(None)
    return entered


def preload() -> None:
    """Import what every child needs, but not the checker: forks then start at once."""
    for name in ("hypothesis", "pytest", "typer.testing", *PRELOADED):
        import_module(name)
    assert not [name for name in sys.modules if name.startswith("ascertain_check")]


def main() -> int:
    parser = argparse.ArgumentParser(description="mutation testing of the checker")
    parser.add_argument("files", nargs="*", metavar="FILE.py", help="the files of the checker to change; all of them")
    parser.add_argument("--new", action="store_true", help="leave out the mutants that are explained already")
    parser.add_argument("--part", default="0/1", metavar="I/N", help="of every N mutants number I, from 0 on")
    parser.add_argument("--list", action="store_true", help="list the mutants and run nothing")
    options = parser.parse_args()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT)]
    files = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
    unknown = set(options.files) - {*files, *(Path(file).name for file in files)}
    if unknown:
        parser.error(f"no files of the checker: {', '.join(sorted(unknown))}")
    if options.files:
        files = [file for file in files if {file, Path(file).name} & set(options.files)]
    explained = set(EXPLAINED.read_text("utf-8").splitlines())
    mutants = [mutant for file in files for mutant in mutate(PACKAGE / file)]
    for line in sorted(find_stale(explained, files, mutants)):
        print(f"EXPLAINED, BUT THERE IS NO SUCH MUTANT: {line}", file=sys.stderr)
    if options.new:
        mutants = [mutant for mutant in mutants if f"- {mutant.name}" not in explained]
    part, parts = map(int, options.part.split("/"))
    mutants = mutants[part::parts]
    if options.list:
        print(*(mutant.name for mutant in mutants), sep="\n")
        return 0
    preload()
    with tempfile.TemporaryDirectory() as home:
        copy_checker(Path(home))
        return judge(mutants, Path(home), explained)


def find_stale(explained: set[str], files: list[str], mutants: list[Mutant]) -> set[str]:
    """The explanations of these files that name no mutant: what they name has changed, and others may mean another."""
    starts = tuple(f"- {Path(file).name}: " for file in files)
    return {line for line in explained if line.startswith(starts)} - {f"- {mutant.name}" for mutant in mutants}


def judge(mutants: list[Mutant], home: Path, explained: set[str]) -> int:
    """Print who survives; returns the exit code."""
    cases = read_corpus()
    entered = find_entered(home, cases)
    started, survivors = time.monotonic(), []
    limits: dict[str, int] = {}
    for file in dict.fromkeys(mutant.file for mutant in mutants):
        unchanged = Mutant(file, "module", "no change", (PACKAGE / file).read_text("utf-8"))
        passed, seconds = survives(unchanged, home, cases)
        if not passed:
            print(f"the tests of {file} fail without any mutant; nothing can be learnt")
            return 2
        limits[file] = min(TEST_LIMIT, 5 + ceil(3 * seconds))
    sys.dont_write_bytecode = True  # until here the tests were compiled; a mutant must not be kept
    for mutant in mutants:
        touched = [
            case
            for case, functions in zip(cases, entered, strict=True)
            if mutant.where == "module" or (Path(mutant.file).name, mutant.where) in functions
        ]
        if survives(mutant, home, touched, limits[mutant.file])[0]:
            survivors.append(mutant)
            known = "" if f"- {mutant.name}" in explained else " (not explained)"
            print(f"SURVIVED{known}: {mutant.name}", flush=True)
    minutes = (time.monotonic() - started) / 60
    print(f"{len(mutants)} mutants, {len(survivors)} survived, {minutes:.1f} minutes")
    return int(any(f"- {mutant.name}" not in explained for mutant in survivors))


if __name__ == "__main__":
    sys.exit(main())
