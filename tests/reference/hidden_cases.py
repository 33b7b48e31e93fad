"""The cases of the corpus about hidden models: `python -m tests.reference.hidden_cases` writes them.

What the checker says of each stands in `expected.tsv`; the lines are printed, and a reader decides if they are right.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from typing import Any

from ascertain.evidence.evidence import Step
from ascertain.model.hidden import HiddenModel, make_joint
from ascertain.problem.pose_hidden import Beliefs, pose_hidden
from ascertain.task.canonical import task_data
from tests.reference.corpus import write_cases
from tests.reference.hidden_runs import HiddenCase, at_the_threshold, is_earned
from tests.reference.run_claims import canonical, claim_of, texts_of

Files = tuple[str, bytes, bytes]

ONE, HALF = Fraction(1), Fraction(1, 2)
TIGER = HiddenModel(
    states=("left", "right"),
    actions=("listen", "open"),
    readings=("hear-left", "hear-right"),
    joint=tuple(
        (
            make_joint({(s, s): Fraction(17, 20), (s, 1 - s): Fraction(3, 20)}),
            make_joint({(t, y): Fraction(1, 4) for t in (0, 1) for y in (0, 1)}),
        )
        for s in (0, 1)
    ),
)
LISTENING = pose_hidden(TIGER, actions=("listen",), alpha="1/10")
BOTH = pose_hidden(TIGER, alpha="1/10")
EVEN = ((0, HALF), (1, HALF))
LEFT, RIGHT, OPEN = Step(0, 0), Step(0, 1), Step(1, 0)
DOUBT = Step(0, None, certain=False)
NOMINAL = HiddenCase(LISTENING, "left", (LEFT, LEFT), ((0, ONE),), nominal=0)
EAGER = replace(NOMINAL, steps=(LEFT,) * 2, bank=EVEN, policy="eager", nominal=None, switched=0)
TWICE = replace(EAGER, committed="hypotheses")
MIXED = ((0, Fraction(3, 4)), (1, Fraction(1, 4)))
REUSE = replace(NOMINAL, bank=MIXED, policy="reuse", switched=1)
GUARDED = pose_hidden(replace(TIGER, joint=(TIGER.joint[0], (TIGER.joint[1][0], ()))), alpha="1/10")
COINS = pose_hidden(
    HiddenModel(
        states=("zero", "one"),
        actions=("toss", "look"),
        readings=("0", "1"),
        joint=tuple(
            (make_joint({(0, 0): HALF, (1, 1): HALF}), make_joint({(s, s): Fraction(3, 4), (s, 1 - s): Fraction(1, 4)}))
            for s in (0, 1)
        ),
    ),
    hypotheses=Beliefs(
        {"fair": {"zero": "1/2", "one": "1/2"}, "shut": {"one": 1}, "bent": {"zero": "1/3", "one": "2/3"}}
    ),
    label={"fair": "fine", "shut": "stuck", "bent": "fine"},
    alpha="1/3",
)


THIRDS = tuple((h, Fraction(1, 3)) for h in range(3))
BELIEFS = HiddenCase(
    COINS, "fine", (), THIRDS, policy="eager", nominal=None, switched=0, alpha=Fraction(1, 3), ran=Fraction(2, 3)
)
TOSS = Step(0, None, certain=False)
LOOK, OTHER = Step(1, 0), Step(1, 1)
CLOSE = {
    "beliefs": (LOOK, LOOK),
    "beliefs-doubt": (LOOK, TOSS, LOOK, LOOK),
    "beliefs-doubts": (LOOK, TOSS, LOOK, Step(1, None, certain=False), LOOK),
    "beliefs-missing": (LOOK, Step(1, None), LOOK, OTHER, LOOK),
}


def close(steps: tuple[Step, ...], factor: Fraction) -> HiddenCase:
    """The coins at the least alpha at which these steps settle the question, times a factor."""
    found = at_the_threshold(replace(BELIEFS, steps=steps), factor)
    assert found is not None, steps
    return found


def sound_runs() -> Iterator[tuple[str, HiddenCase]]:
    """Cases that are earned."""
    yield "nominal", NOMINAL
    yield "eager", EAGER
    yield "eager-hypotheses", TWICE
    yield "staged", replace(NOMINAL, steps=(RIGHT, *[LEFT] * 4), bank=EVEN, nominal=1, switched=3, policy="staged")
    yield "readwise", replace(NOMINAL, steps=(RIGHT, *[LEFT] * 4), bank=EVEN, nominal=1, switched=5)
    yield "reuse", REUSE
    yield "reuse-hypotheses", replace(REUSE, committed="hypotheses")
    yield "reuse-nominal", replace(NOMINAL, steps=(LEFT,) * 2, bank=((0, HALF),), policy="reuse")
    yield "missing", replace(NOMINAL, steps=(Step(0, None), LEFT, LEFT))
    yield "doubt", replace(NOMINAL, steps=(DOUBT, LEFT, LEFT))
    yield "doubt-uneven", replace(EAGER, steps=(LEFT, DOUBT, LEFT), ran=Fraction(2, 3))
    yield "smaller-alpha", replace(NOMINAL, steps=(LEFT,) * 3, alpha=Fraction(1, 20))
    # (17/3)^2 against 1: beaten exactly where that is 1/alpha, 9/289 for a nominal with the whole share.
    exact = Fraction(18, 289)
    yield "exactly-enough", replace(NOMINAL, question=replace(LISTENING, alpha=exact), alpha=exact)
    yield "action-allowed-once-beaten", replace(NOMINAL, question=GUARDED, steps=(LEFT, LEFT, OPEN))
    yield (
        "action-allowed-once-beaten-doubt",
        replace(NOMINAL, question=GUARDED, steps=(LEFT, LEFT, Step(1, None, certain=False))),
    )
    yield "beliefs", replace(BELIEFS, steps=(LOOK,) * 4)
    for name, steps in CLOSE.items():
        yield f"{name}-exactly-enough", close(steps, ONE)
    yield "one-label", replace(BELIEFS, question=replace(COINS, label=(0, 0, 0)))


def unsound_runs() -> Iterator[tuple[str, HiddenCase]]:
    """Cases that are not earned."""
    yield "rival-left", replace(NOMINAL, steps=(LEFT,))
    yield "wrong-label", replace(NOMINAL, label="right")
    yield "no-steps", replace(NOMINAL, steps=())
    yield "other-reading", replace(NOMINAL, steps=(LEFT, RIGHT))
    just = Fraction(17, 289)
    yield "not-quite-enough", replace(NOMINAL, question=replace(LISTENING, alpha=just), alpha=just)
    yield "alpha-above-the-tasks", replace(NOMINAL, alpha=Fraction(1, 5))
    yield "opening-forgets", replace(NOMINAL, question=BOTH, steps=(OPEN, LEFT, LEFT, LEFT))
    yield "forbidden-action", replace(NOMINAL, question=GUARDED, steps=(LEFT, OPEN, LEFT))
    sure = replace(TIGER, joint=tuple((make_joint({(s, s): ONE}), TIGER.joint[s][1]) for s in (0, 1)))
    exact = pose_hidden(sure, alpha="1/10")
    yield "bank-does-not-explain", replace(NOMINAL, question=exact, label="right", steps=(RIGHT,))
    yield "everything-beaten", replace(EAGER, steps=(*[LEFT] * 2, *[RIGHT] * 5))
    yield "too-many-doubts", replace(NOMINAL, steps=(DOUBT, DOUBT, LEFT, LEFT), max_doubts=1)
    yield "not-the-hypotheses", replace(TWICE, bank=((0, Fraction(3, 4)), (1, Fraction(1, 4))))
    yield "not-all-hypotheses", replace(TWICE, bank=((0, HALF),))
    yield "eager-later", replace(EAGER, switched=1)
    yield "two-rivals-left", replace(BELIEFS, label="stuck")
    for name, steps in CLOSE.items():
        yield f"{name}-not-quite-enough", close(steps, Fraction(999, 1000))
    yield "no-bank-committed", replace(EAGER, committed=None)


def scored_late() -> dict[str, Any]:
    """The claim of a switch whose readings are scored from then on, as on a machine."""
    case = replace(NOMINAL, steps=(RIGHT, *[LEFT] * 4), bank=EVEN, nominal=1, switched=1, policy="staged")
    return claim_of(case) | {"scored_from": 1}


Change = Callable[[dict[str, Any]], None]


def at(*path: Any) -> Callable[[Any], Change]:
    """Puts a value at a place."""

    def put(value: Any) -> Change:
        def change(data: dict[str, Any]) -> None:
            holder: Any = data
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = value

        return change

    return put


MALFORMED: dict[str, Change] = {
    "key-missing": lambda data: data.pop("labels"),
    "key-current": at("current")(None),
    "format": at("format")("ascertain"),
    "model-key": at("model", "output")([]),
    "model-states-twice": at("model", "states")(["left", "left"]),
    "model-actions-none": at("model", "actions")([]),
    "model-readings-number": at("model", "readings")([0, 1]),
    "law-short": at("model", "law")([[0]]),
    "law-too-large": at("model", "law", 0, 0)(2),
    "law-text": at("model", "law", 0, 0)("0"),
    "laws-twice": at("model", "laws", 1)([[0, 0, "17/20"], [0, 1, "3/20"]]),
    "laws-no-list": at("model", "laws", 0)("all"),
    "laws-empty": at("model", "laws", 0)([]),
    "laws-entry-short": at("model", "laws", 0, 0)([0, "17/20"]),
    "laws-state": at("model", "laws", 0, 0)([2, 0, "17/20"]),
    "laws-reading": at("model", "laws", 0, 1)([0, 2, "3/20"]),
    "laws-probability": at("model", "laws", 0, 0)([0, 0, "0.85"]),
    "laws-zero": at("model", "laws", 0)([[0, 0, "1"], [0, 1, "0"]]),
    "laws-sum": at("model", "laws", 0, 0)([0, 0, "4/5"]),
    "laws-order": at("model", "laws", 0)([[0, 1, "3/20"], [0, 0, "17/20"]]),
    "laws-cell-twice": at("model", "laws", 0)([[0, 0, "17/20"], [0, 0, "3/20"]]),
    "hypotheses-none": at("hypotheses")([]),
    "hypothesis-short": at("hypotheses", 0)(["left", 0]),
    "hypothesis-name-twice": at("hypotheses", 0, 0)("right"),
    "hypothesis-name-number": at("hypotheses", 0, 0)(0),
    "hypothesis-label": at("hypotheses", 0, 2)(2),
    "hypothesis-twice": at("hypotheses", 1)(["right", [[0, "1"]], 0]),
    "belief-state": at("hypotheses", 0, 1)([[2, "1"]]),
    "belief-empty": at("hypotheses", 0, 1)([]),
    "belief-sum": at("hypotheses", 0, 1)([[0, "1/2"], [1, "1/3"]]),
    "belief-zero": at("hypotheses", 0, 1)([[0, "1"], [1, "0"]]),
    "belief-order": at("hypotheses", 0, 1)([[1, "1/2"], [0, "1/2"]]),
    "belief-twice": at("hypotheses", 0, 1)([[0, "1/2"], [0, "1/2"]]),
    "belief-entry": at("hypotheses", 0, 1)([[0]]),
    "belief-probability": at("hypotheses", 0, 1)([[0, 1]]),
    "cost-zero": at("cost")(["0"]),
    "cost-short": at("cost")([]),
    "alpha-one": at("alpha")("1"),
    "beta-one": at("beta")("1"),
}


def spoilt_task(change: Change) -> tuple[bytes, bytes]:
    """A task that is not one, and the certificate that names its hash all the same."""
    data = copy.deepcopy(task_data(TWICE.question))
    change(data)
    task = canonical(data)
    head = {"format": "ascertain-certificate", "version": 1, "made_by": "a test"}
    return task, canonical(head | {"task_sha256": sha256(task).hexdigest(), "claims": [claim_of(TWICE)]})


def corpus() -> Iterator[Files]:
    """All cases."""
    for name, case in sound_runs():
        assert is_earned(case), name
        yield (f"verified/run-hidden-{name}", *texts_of(case.question, claim_of(case)))
    for name, case in unsound_runs():
        assert not is_earned(case), name
        yield (f"refuted/run-hidden-{name}", *texts_of(case.question, claim_of(case)))
    yield ("refuted/run-hidden-scored-late", *texts_of(LISTENING, scored_late()))
    claim = {"claim": "obstruction", "pair": [0, 1]}
    yield ("refuted/hidden-other-claim", *texts_of(LISTENING, claim))
    yield ("malformed/run-hidden-label", *texts_of(LISTENING, claim_of(replace(NOMINAL, label="up"))))
    yield ("malformed/run-hidden-candidate", *texts_of(LISTENING, claim_of(replace(EAGER, bank=((2, ONE),)))))
    yield ("malformed/run-hidden-nominal", *texts_of(LISTENING, claim_of(replace(NOMINAL, nominal=2))))
    for name, change in MALFORMED.items():
        yield (f"malformed/task-hidden-{name}", *spoilt_task(change))


if __name__ == "__main__":
    write_cases(list(corpus()))
