"""The theorems in `proofs/`: all are proved, none assumes anything, and the proved checkers agree with ours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, TypeAlias

import pytest

from ascertain_check import check
from ascertain_check.claims import lower, lower_expected
from tests.reference.proved_checker import PROOFS, Untranslatable, make_proofs, missing_tools, run_proved, translate
from tests.reference.spoilers import Claim
from tests.test_checker_campaign import Subject, canonical_bytes, make_subject, random_task, spoilt, true_claims

FILES = [line for line in (PROOFS / "_CoqProject").read_text().split() if line.endswith(".v")]
TEXTS = {name: (PROOFS / name).read_text() for name in FILES}
Outcome: TypeAlias = tuple[str, str, bool | None]
"""Kind of claim, the word of our checker, whether the proved one accepts; None: it cannot be written down for it."""
PROVED = ("lower", "lower-expected")
CLOSED = "Closed under the global context"
needs_coq = pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}")


def list_theorems() -> set[str]:
    """Every theorem and corollary, with its file."""
    return {
        f"{name.removesuffix('.v')}.{theorem}"
        for name, text in TEXTS.items()
        for theorem in re.findall(r"^(?:Theorem|Corollary) (\w+)", text, re.MULTILINE)
    }


def list_printed() -> list[str]:
    return re.findall(r"^Print Assumptions ([\w.]+)\.$", TEXTS["Assumptions.v"], re.MULTILINE)


def test_every_file_of_the_folder_is_compiled() -> None:
    assert sorted(FILES) == sorted(path.name for path in PROOFS.glob("*.v"))


def test_no_proof_is_left_open() -> None:
    for name, text in TEXTS.items():
        assert not re.search(r"\b(Admitted|admit|Axiom|Axioms|Parameter|Parameters|Conjecture|Abort)\b", text), name


def test_every_theorem_is_asked_what_it_assumes() -> None:
    printed = list_printed()
    assert len(printed) == len(set(printed))
    assert set(printed) == list_theorems()


def test_the_documented_theorems_exist() -> None:
    format_page = (PROOFS.parent / "docs" / "certificate-format.md").read_text()
    section = format_page.partition("## Theorems that a machine has checked")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([A-Z]\w+\.[a-z]\w*)`", section))
    assert len(named) >= 10
    assert named <= list_theorems()


def cases(seed: int) -> Iterator[tuple[Subject, Claim]]:
    """The honest claims of a seed, and the spoilt ones."""
    rng = Random(seed)
    task = random_task(rng)
    subject = make_subject(task)
    yield from ((subject, claim) for claim in true_claims(rng, task))
    yield from spoilt(seed)


def run_both(seeds: range) -> Counter[Outcome]:
    """Honest and spoilt claims of these seeds, given to both checkers, which must agree."""
    found: list[tuple[str, str]] = []
    lines: list[str] = []
    count: Counter[Outcome] = Counter()
    for seed in seeds:
        for subject, claim in cases(seed):
            kind = str(claim["claim"])
            if kind not in PROVED:
                continue
            word = ask_ours(subject, claim)
            try:
                lines.append(translate(subject.text, claim))
                found.append((kind, word))
            except Untranslatable:
                count[kind, word, None] += 1
    for (kind, word), accepts, line in zip(found, run_proved(lines), lines, strict=True):
        assert accepts == (word == "VERIFIED"), f"ours: {word}, the proved checker: {accepts}, of {line}"
        count[kind, word, accepts] += 1
    return count


def ask_ours(subject: Subject, claim: Claim) -> str:
    return check(subject.text, canonical_bytes(subject.head | {"claims": [claim]})).word


@needs_coq
def test_the_proofs_assume_nothing_and_the_proved_checkers_agree_with_ours() -> None:
    assert make_proofs() == [CLOSED] * len(list_printed())
    count = run_both(range(20))
    for kind in PROVED:
        assert count[kind, "VERIFIED", True] > 50
        assert count[kind, "REFUTED", False] > 50
        assert count[kind, "MALFORMED", False] > 0
        assert count[kind, "VERIFIED", None] == 0


@needs_coq
@pytest.mark.slow
def test_the_proved_checkers_agree_with_ours_on_a_hundred_thousand_certificates() -> None:
    make_proofs()
    count: Counter[Outcome] = Counter()
    seed = 2_000_000
    while sum(n for (_, _, accepts), n in count.items() if accepts is not None) < 100_000:
        count += run_both(range(seed, seed + 100))
        seed += 100
    print(*(f"{kind} {word} {accepts} {n}" for (kind, word, accepts), n in sorted(count.items(), key=str)), sep="\n")


def mutants() -> list[tuple[Any, str, Any]]:
    """Ways to get lower bounds wrong: subsets alone are covered; equal states are enough; infinity is anything; no
    weights are compared."""
    covers = lower.covers
    return [
        (lower, "covers", lambda whole, part: part <= whole),
        (lower, "covers", lambda whole, part: covers(whole, part) or {c for _, c in part} <= {c for _, c in whole}),
        (lower, "reaches", lambda bound, needed: bound is None or needed is None or bound >= needed),
        (lower_expected, "weights_by_state", lambda _: {}),
    ]


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize("mutant", mutants(), ids=["subsets", "states", "infinity", "weights"])
def test_a_wrong_checker_would_be_noticed(mutant: tuple[Any, str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    make_proofs()
    monkeypatch.setattr(*mutant)
    with pytest.raises(AssertionError, match="the proved checker"):
        run_both(range(30))
