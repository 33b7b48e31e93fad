"""The work of the checker: it is counted, all of it, and a budget ends it without a verdict.

Work is compared with what the interpreter does, in lines of the checker that are run: never with a clock.
"""

from __future__ import annotations

import copy
import json
import random
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import ascertain_check
from ascertain_check import check, encounters, logarithm, observed
from ascertain_check.__main__ import main
from ascertain_check.certificate import prove_claims
from ascertain_check.rational import Rational
from ascertain_check.verdicts import Malformed, Refuted, Undecided
from ascertain_check.work import BYTES_PER_STEP, default_budget, hold, limit, spend
from tests.reference.hard_files import FAMILIES, Files
from tests.reference.run_claims import canonical

HOME = str(Path(ascertain_check.__file__).parent)
CORPUS = Path(__file__).parent / "certificates"
LINES_PER_STEP = 8
"""A step stands for a few lines: comprehensions run one for each item."""
LINES_PER_BYTE = 12
"""Reading a file runs so many lines for each byte, at most."""


def measure(files: Files, most: int = 10**7, budget: int | None = None) -> tuple[int, int]:
    """Steps that the checker counts, and lines that it runs, for these files, within a budget."""
    for cached in (encounters.entropy_of, encounters.variation_of, logarithm.log_bounds, logarithm.artanh):
        cached.cache_clear()
    lines = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines
        if not frame.f_code.co_filename.startswith(HOME):
            return None
        lines += event == "line"
        if lines > most:
            raise RuntimeError(f"more than {most} lines")
        return trace

    before = sys.gettrace()
    with limit(budget) as meter:
        sys.settrace(trace)
        try:
            prove_claims(*files, ())
        except (Refuted, Malformed, Undecided):
            pass
        finally:
            sys.settrace(before)
    return meter.spent, lines


def count_lines(files: Files) -> int:
    """The lines that are run, no more of them than are counted or the files are long."""
    spent, lines = measure(files)
    assert lines <= LINES_PER_STEP * spent + LINES_PER_BYTE * (len(files[0]) + len(files[1]))
    return lines


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in ("powers", "expressions")])
def test_whatever_a_file_asks_for_is_counted(name: str) -> None:
    assert count_lines(FAMILIES[name](8)) < count_lines(FAMILIES[name](25))


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in ("openings", "suites", "letters")])
def test_a_file_that_asks_for_too_much_is_undecided(name: str) -> None:
    task, certificate = FAMILIES[name](400)
    verdict = check(task, certificate, (), 10_000)
    assert (verdict.word, verdict.exit_code) == ("UNDECIDED", 3)
    assert "--budget N" in verdict.reason


@pytest.mark.parametrize(
    ("name", "number"),
    [("short_claims", 100), ("wide_laws", 100), ("silent_policies", 1500)],
)
def test_what_only_larger_files_show_is_counted(name: str, number: int) -> None:
    count_lines(FAMILIES[name](number))


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in ("powers", "expressions")])
def test_work_is_counted_before_it_is_done(name: str) -> None:
    budget, files = 10_000, FAMILIES[name](400)
    _, lines = measure(files, budget=budget)
    assert lines <= LINES_PER_STEP * budget + LINES_PER_BYTE * (len(files[0]) + len(files[1]))


def test_what_takes_long_in_one_line_is_counted_too() -> None:
    """Divisors of long numbers, hashes of long texts."""
    for name, power, number in (("drifts", 3, 10), ("seeds", 2, 400)):
        few, many = (measure(FAMILIES[name](n))[0] for n in (number, 4 * number))
        assert many > 4 ** (power - 1) * few


def test_the_actions_are_gone_through_once_and_not_for_every_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    monkeypatch.setattr(observed, "max", lambda items: looked.append(len(items)) or max(items), raising=False)
    assert check(*FAMILIES["letters"](50), (), None).word == "REFUTED"
    assert looked == [49]


def test_a_budget_never_changes_a_verdict_but_to_undecided() -> None:
    for line in (CORPUS / "expected.tsv").read_text("utf-8").splitlines()[::7]:
        name, expected = line.split("\t")
        files = [(CORPUS / f"{name}.{end}").read_bytes() for end in ("task.json", "json")]
        words = [str(check(files[0], files[1], (), budget)) for budget in (0, 50, 500, 5_000, 50_000)]
        known = [word for word in words if not word.startswith("UNDECIDED")]
        assert set(known) <= {expected}
        assert words[len(words) - len(known) :] == known


def test_the_command_takes_a_budget(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(tmp_path / "t.json"), str(tmp_path / "c.json")]
    for path, text in zip(paths, FAMILIES["walks"](50), strict=True):
        Path(path).write_bytes(text)
    assert main(paths) == 0
    assert main(["--budget", "1000", *paths]) == 3
    assert main([*paths, "--budget", "1000000"]) == 0
    capsys.readouterr()
    assert main(["--budget", "many", *paths]) == 2
    assert capsys.readouterr().out == "MALFORMED: --budget: a number of steps is needed\n"
    assert main(["--budget"]) == 2


def test_long_numbers_are_paid_for_by_the_square_of_their_length() -> None:
    def price(bits: int) -> int:
        x = Rational(1, 2**bits + 1)
        with limit(None) as meter:
            _ = x + x, x - 1, 2 * x, x / 3, x < 1, x**2
        return meter.spent

    assert price(10) < 100
    assert 12 < (price(80_000) - price(0)) / (price(20_000) - price(0)) < 20
    with limit(1000), pytest.raises(Undecided):
        _ = Rational(1, 3) ** 10**9


def test_a_budget_may_be_spent_to_its_last_step_and_is_counted_from_nothing() -> None:
    spend(10**9)  # where nothing is limited, nothing is counted
    hold(10**18)
    with limit(7) as meter:
        assert meter.spent == 0
        spend(7)
        hold(7 * BYTES_PER_STEP)
        with pytest.raises(Undecided, match="more than 7 steps"):
            spend(1)
        with pytest.raises(Undecided, match="0 MB of memory"):
            hold(7 * BYTES_PER_STEP + 1)
        with pytest.raises(Undecided, match="5 MB of memory"):
            hold(5 << 20)
    with limit(None) as meter:
        hold(10**18)
        spend(10**9)
        assert meter.spent == 10**9


def test_numbers_stay_what_they_are() -> None:
    third = Rational(1, 3)
    for value, expected in ((third + third, "2/3"), (1 - third, "2/3"), (third**2, "1/9"), (1 / third, "3")):
        assert (type(value), str(value)) == (Rational, expected)
    assert hash(third) == hash(Rational(2, 6))
    assert sum([third, third, third], Rational(0)) == 1


# A search for files that ask for what is not counted.


def grow(rng: random.Random, value: Any) -> Any:
    """The value with one list, somewhere in it, made longer or one number larger."""
    spots = list(list_spots(value))
    changed = copy.deepcopy(value)
    path = rng.choice(spots)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    old = holder[path[-1]]
    if isinstance(old, list):
        chosen = [rng.choice(old) for _ in range(rng.randint(1, 2 * len(old)))]
        holder[path[-1]] = rng.choice((old + copy.deepcopy(chosen), old * 2))
    elif isinstance(old, str):
        holder[path[-1]] = rng.choice(("1/3", "7/9", f"1/{10**300 + 7}", "0", "inf"))
    else:
        holder[path[-1]] = rng.choice((0, 1, old + 1, 2 * old))
    return changed


def list_spots(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key in value:
            yield from list_spots(value[key], (*path, key))
    elif isinstance(value, list):
        if path and value:
            yield path
        for i in range(min(len(value), 5)):
            yield from list_spots(value[i], (*path, i))
    elif path and ((isinstance(value, str) and value[:1].isdigit()) or type(value) is int):
        yield path


def search_slow_files(seeds: range, most_bytes: int) -> int:
    """From small honest files on, keep what takes more lines, and check that all of it is counted."""
    tried = 0
    names = sorted(path.stem for path in (CORPUS / "verified").glob("*.json") if not path.stem.endswith(".task"))
    for seed in seeds:
        rng = random.Random(seed)
        stem = CORPUS / "verified" / rng.choice(names)
        task = json.loads(Path(f"{stem}.task.json").read_bytes())
        certificate = json.loads(Path(f"{stem}.json").read_bytes())
        best = 0
        for _ in range(20):
            other = grow(rng, certificate) if rng.random() < 0.7 else certificate
            question = task if other is not certificate else grow(rng, task)
            other = other | {"task_sha256": sha256(canonical(question)).hexdigest()}
            files = (json.dumps(question).encode(), json.dumps(other).encode())
            if len(files[0]) + len(files[1]) > most_bytes:
                break
            lines = count_lines(files)
            tried += 1
            if lines >= best:
                best, task, certificate = lines, question, other
    return tried


def test_a_search_finds_no_file_whose_work_is_not_counted() -> None:
    assert search_slow_files(range(8), 4_000) > 50


@pytest.mark.slow
def test_a_long_search_finds_no_file_whose_work_is_not_counted() -> None:
    search_slow_files(range(100, 400), 30_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FAMILIES))
def test_a_megabyte_stays_within_the_default_budget_or_is_undecided(name: str) -> None:
    number = 100
    while sum(map(len, FAMILIES[name](2 * number))) < 1_000_000 and number < 20_000:
        number *= 2
    task, certificate = FAMILIES[name](number)
    assert check(task, certificate, (), default_budget(len(task) + len(certificate))).word != "MALFORMED"
