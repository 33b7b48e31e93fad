"""Mutation testing of the checker: is there a line whose meaning could change without a test that notices?

    python benchmarks/mutants.py [--only FILE] [--list]

Each mutant is the checker with one small change: a comparison replaced, `and` for `or`, a condition negated, a
constant off by one, a `raise` or another statement removed. The corpus and then the fast tests of the checker run
against it, in a process of its own with a time limit. Survivors are printed; `docs/checker-mutants.md` explains each of
them, and the exit code says whether one is not explained there.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "ascertain_check"
EXPLAINED = ROOT / "docs" / "checker-mutants.md"
TIME_LIMIT = 60
"""Seconds of processor time for one mutant; the tests take about 10."""
TESTS = [
    "tests/test_checker.py",
    "tests/test_check_run.py",
    "tests/test_checker_campaign.py",
    "tests/test_certificate.py",
]
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
            yield Mutant(path.name, name, source)


def places(tree: ast.AST, where: str = "module") -> Iterator[tuple[ast.AST, tuple[ast.AST, str, int | None], str]]:
    """Every node but annotations and docstrings, with where it stands and the function it stands in."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        inside = tree.name if isinstance(tree, ast.FunctionDef) else where
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST):
                yield child, (tree, field, index), inside
                yield from places(child, inside)


def put(holder: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(holder, field, node)
    else:
        getattr(holder, field)[index] = node


def survives(mutant: Mutant) -> bool:
    """Whether the tests pass with this mutant in place of the checker. A mutant that runs out of time is noticed."""
    with tempfile.TemporaryDirectory() as home:
        shutil.copytree(PACKAGE, Path(home) / "ascertain_check", ignore=shutil.ignore_patterns("__pycache__"))
        (Path(home) / "ascertain_check" / mutant.file).write_text(mutant.source, "utf-8")
        child = os.fork()
        if child == 0:
            try:
                resource.setrlimit(resource.RLIMIT_CPU, (TIME_LIMIT, TIME_LIMIT))
                os._exit(run_tests(home))
            finally:
                os._exit(1)
        return os.waitpid(child, 0)[1] == 0


def run_tests(home: str) -> int:
    """In the child: the tests, with `ascertain_check` from this directory, silent."""
    import pytest

    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    sys.path.insert(0, home)
    sys.dont_write_bytecode = True
    if not corpus_passes():
        return 1
    early = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis was imported before pytest began
    options = [*early, "-x", "-q", "-p", "no:cacheprovider", "-p", "no:cov", "-p", "no:xdist", "-p", "no:benchmark"]
    return int(pytest.main([*options, *TESTS]))


def corpus_passes() -> bool:
    """What the first test does, without the time that pytest takes to begin: most mutants end here."""
    from ascertain_check import check

    corpus = ROOT / "tests" / "certificates"
    lines = (corpus / "expected.tsv").read_text("utf-8").splitlines()
    for case, expected in (line.split("\t") for line in lines):
        if str(check(*((corpus / f"{case}{end}").read_bytes() for end in (".task.json", ".json")))) != expected:
            return False
    return True


def preload() -> None:
    """Import what every child needs, but not the checker: forks then start at once."""
    import hypothesis
    import pytest

    import ascertain.certificate

    assert hypothesis and pytest and ascertain.certificate
    assert not [name for name in sys.modules if name.startswith("ascertain_check")]


def main() -> int:
    parser = argparse.ArgumentParser(description="mutation testing of the checker")
    parser.add_argument("--only", help="the mutants of this file only", default="*.py")
    parser.add_argument("--list", action="store_true", help="list the mutants and run nothing")
    options = parser.parse_args()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT)]
    mutants = [mutant for path in sorted(PACKAGE.glob(options.only)) for mutant in mutate(path)]
    if options.list:
        print(*(mutant.name for mutant in mutants), sep="\n")
        return 0
    preload()
    explained = EXPLAINED.read_text("utf-8") if EXPLAINED.exists() else ""
    started, survivors = time.monotonic(), []
    if not survives(Mutant("verdicts.py", "no change", (PACKAGE / "verdicts.py").read_text("utf-8"))):
        print("the tests fail without any mutant; nothing can be learnt")
        return 2
    for mutant in mutants:
        if survives(mutant):
            survivors.append(mutant)
            print(f"SURVIVED{'' if mutant.name in explained else ' (not explained)'}: {mutant.name}", flush=True)
    minutes = (time.monotonic() - started) / 60
    print(f"{len(mutants)} mutants, {len(survivors)} survived, {minutes:.1f} minutes")
    return int(any(mutant.name not in explained for mutant in survivors))


if __name__ == "__main__":
    sys.exit(main())
