"""The theorems in `proofs/`: all are proved, none assumes anything, and the proved checkers agree with ours."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from random import Random
from typing import Any, TypeAlias

import numpy as np
import pytest

from ascertain.certificate.claims.lower import lower_claim
from ascertain.model import Machine
from ascertain.search.solution import ProofRow
from ascertain.task.task import Task
from ascertain_check import check
from ascertain_check.claims import lower, lower_expected
from ascertain_check.verdicts import Verdict
from tests.reference.proved_checker import PROOFS, Untranslatable, make_proofs, missing_tools, run_proved, translate
from tests.reference.spoilers import RATIONALS, SPOILERS, Claim, shaped
from tests.test_checker_campaign import (
    Subject,
    canonical_bytes,
    make_subject,
    random_model,
    random_task,
    spoilt,
    true_claims,
)

FILES = [line for line in (PROOFS / "_CoqProject").read_text().split() if line.endswith(".v")]
TEXTS = {name: (PROOFS / name).read_text() for name in FILES}
Outcome: TypeAlias = tuple[str, str, bool | None]
"""Kind of claim, the word of our checker, whether the proved one accepts; None: it cannot be written down for it."""
PROVED = ("lower", "lower-expected")
BY_LEAVES = "lower, by leaves"
"""Claims `lower` that are refuted unless the rule about leaves helps; counted apart."""
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
    yield from with_silent(rng, ((subject, claim) for claim in true_claims(rng, task)))
    yield from with_silent(rng, ((subject, claim) for _, subject, claim in spoilt(seed)))
    yield from leafy(rng)


def with_silent(rng: Random, claims: Iterator[tuple[Subject, Claim]]) -> Iterator[tuple[Subject, Claim]]:
    """These claims; of those with rows, also copies in which rows say nothing of some actions."""
    for subject, claim in claims:
        yield subject, claim
        if claim["claim"] == "lower" and shaped(claim) and claim["rows"]:
            silent = copy.deepcopy(claim)
            for row in silent["rows"]:
                row["moves"] = {a: move for a, move in row["moves"].items() if rng.random() < 0.6}
            yield subject, silent


def leafy(rng: Random) -> Iterator[tuple[Subject, Claim]]:
    """Claims of one row without moves, about a task in which each state has a label of its own; and the same spoilt.

    The bounds are sums of costs, as L is: the largest that holds is often among them.
    """
    model = random_model(rng)
    if not isinstance(model, Machine):
        return
    n = model.num_states
    cost = tuple(Fraction(rng.choice(RATIONALS[1:7])) for _ in model.actions)
    of_state = np.arange(n, dtype=np.int32)
    current = of_state if rng.random() < 0.1 else None
    subject = make_subject(
        Task(model=model, state=of_state, label=of_state, labels=model.states, cost=cost, state_label=current)
    )
    sums = sorted({sum(some, Fraction(0)) for k in (1, 2, 3) for some in combinations_with_replacement(cost, k)})
    for bound in [*rng.sample(sums, min(10, len(sums))), None]:
        members = sorted(rng.sample(range(n), rng.randint(2, n)))
        claim = lower_claim(bound, [ProofRow(tuple((s, s) for s in members), bound, {})], 0)
        yield subject, claim
        broken = copy.deepcopy(claim)
        rng.choice(SPOILERS["lower"])(rng, broken)
        yield subject, broken


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
            word = ask_ours(subject, claim).word
            kind = BY_LEAVES if needs_leaves(subject, claim) else kind
            try:
                lines.append(translate(subject.text, claim))
                found.append((kind, word))
            except Untranslatable:
                count[kind, word, None] += 1
    for (kind, word), accepts, line in zip(found, run_proved(lines), lines, strict=True):
        assert accepts == (word == "VERIFIED"), f"ours: {word}, the proved checker: {accepts}, of {line}"
        count[kind, word, accepts] += 1
    return count


def ask_ours(subject: Subject, claim: Claim) -> Verdict:
    return check(subject.text, canonical_bytes(subject.head | {"claims": [claim]}))


def needs_leaves(subject: Subject, claim: Claim) -> bool:
    """Whether a row says nothing of an action and, without the rule about leaves, would be refuted for it."""
    if claim["claim"] != "lower":
        return False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lower, "cost_of_leaves", lambda *_: lambda _: Fraction(0))
        return "says nothing of action" in ask_ours(subject, claim).reason


@needs_coq
def test_the_proofs_assume_nothing_and_the_proved_checkers_agree_with_ours() -> None:
    assert make_proofs() == [CLOSED] * len(list_printed())
    count = run_both(range(20))
    for kind in (*PROVED, BY_LEAVES):
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
    weights are compared; a reading leaves all labels; leaves cost nothing; all are told apart by the cheapest."""
    covers = lower.covers
    return [
        (lower, "covers", lambda whole, part: part <= whole),
        (lower, "covers", lambda whole, part: covers(whole, part) or {c for _, c in part} <= {c for _, c in whole}),
        (lower, "reaches", lambda bound, needed: bound is None or needed is None or bound >= needed),
        (lower_expected, "weights_by_state", lambda _: {}),
        (lower, "most_labels", lambda _, row, __: len({k for k, _ in row.members})),
        (lower, "cost_of_leaves", lambda *_: lambda _: Fraction(0)),
        (lower, "cost_of_leaves", lambda task, _: lambda n: min(task.cost) if n > 1 else Fraction(0)),
    ]


MUTANTS = ["subsets", "states", "infinity", "weights", "labels", "no leaves", "one reading each"]


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize("mutant", mutants(), ids=MUTANTS)
def test_a_wrong_checker_would_be_noticed(mutant: tuple[Any, str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    make_proofs()
    monkeypatch.setattr(*mutant)
    with pytest.raises(AssertionError, match="the proved checker"):
        run_both(range(30))
