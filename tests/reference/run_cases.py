"""The cases of the corpus that are about runs, made by hand: `python -m tests.reference.run_cases` writes them.

Each is a name, whose folder is the expected verdict, a task and a certificate. What the checker says of each stands in
`expected.tsv`; the lines are printed, and a reader decides whether they are right.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from typing import Any

import numpy as np

from ascertain.evidence.evidence import Step
from ascertain.model import BooleanPlant
from ascertain.model.boolean import Command, Gate
from ascertain.model.expression import parse_expression
from ascertain.model.noisy import with_flip
from ascertain.task.canonical import task_data
from ascertain.task.plant_task import BitsRule, ExpressionRule, NominalRule, PlantTask, StateRule
from ascertain.task.task import Task
from tests.by_hand import build, identify
from tests.reference.corpus import write_cases
from tests.reference.run_claims import Case, canonical, claim_of, head_of, is_earned, rechained
from tests.reference.run_malformed import Claim, at, edit, malformed_claims, malformed_tasks

Files = tuple[str, bytes, bytes]

ONE, HALF, TENTH = Fraction(1), Fraction(1, 2), Fraction(1, 10)

PLANT = BooleanPlant(("a", "b"), (Command("A", (), 0), Command("B", (), 1)), TENTH)
QUESTION = PlantTask(model=PLANT, rule=StateRule(), actions=(0, 1), cost=(ONE, ONE), alpha=TENTH)
EVERYTHING = BooleanPlant(
    ("a", "b", "c d"),
    (
        Command("gates", (Gate("and", 0, (0, 1)), Gate("or", 1, (0, 2)), Gate("xor", 2, (0, 1))), 2),
        Command("more", (Gate("copy", 0, (1,)), Gate("not", 1), Gate("cnot", 2, (0,)), Gate("toffoli", 0, (1, 2))), 0),
        Command("ends", (Gate("set", 0), Gate("clear", 1)), 2),
        Command("read", (), 2),
    ),
)


def reads(*pairs: tuple[int, int]) -> tuple[Step, ...]:
    return tuple(Step(a, y) for a, y in pairs)


TWICE = reads((0, 1), (0, 1), (1, 0), (1, 0))
THRICE = reads((0, 1), (0, 1), (0, 1), (1, 0), (1, 0), (1, 0))
BACK = (Step(2, 1), *THRICE)
UNIFORM = tuple((s, Fraction(1, 4)) for s in range(4))
DOUBT = Step(1, None, certain=False)
NOMINAL = Case(QUESTION, "01", TWICE, ((1, ONE),), nominal=1)
FALLBACK = Case(QUESTION, "01", reads((1, 1)) + THRICE, UNIFORM, nominal=2, switched=1)
EAGER = Case(QUESTION, "01", THRICE, UNIFORM, policy="eager", nominal=None, switched=0)
MIXED = tuple((s, Fraction(5 if s == 2 else 1, 8)) for s in range(4))
REUSE = Case(QUESTION, "01", THRICE, MIXED, policy="reuse", nominal=2, switched=4)


def expression(text: str) -> ExpressionRule:
    return ExpressionRule(parse_expression(text, EVERYTHING.bits))


def everything(rule: Any, label: str, **changes: Any) -> Case:
    """A plant without noise, with every gate, from state 5, followed by its definition."""
    question = PlantTask(model=EVERYTHING, rule=rule, actions=(0, 1, 2, 3), cost=(ONE,) * 4, **changes)
    state, steps = 5, []
    for action in (3, 1, 3, 0, 3, 1, 0, 2, 3):
        state, tapped = EVERYTHING.step(state, action)
        steps.append(Step(action, tapped))
    return Case(question, label, tuple(steps), ((5, ONE),), nominal=5, alpha=Fraction(0))


def many(number: int) -> Case:
    """Each bit once read wrongly and then so often right, by a sensor with flip 1/4: nine contradictions beat."""
    question = replace(QUESTION, model=replace(PLANT, flip=Fraction(1, 4)), alpha=Fraction(1, 1000))
    steps = reads((0, 0), (1, 1), *[(0, 1)] * number, *[(1, 0)] * number)
    return replace(NOMINAL, question=question, steps=steps, alpha=question.alpha)


def sound_runs() -> Iterator[tuple[str, Case]]:
    """Cases that are earned."""
    yield "plant-nominal", NOMINAL
    yield "plant-fallback", FALLBACK
    yield "plant-staged", replace(FALLBACK, policy="staged")
    yield "plant-eager", EAGER
    yield "plant-reuse", REUSE
    yield "plant-reuse-hypotheses", replace(REUSE, committed="hypotheses")
    yield "plant-eager-hypotheses", replace(EAGER, committed="hypotheses")
    listed = replace(QUESTION, states=(1, 2))
    halves = ((1, HALF), (2, HALF))
    yield "plant-listed-hypotheses", replace(EAGER, question=listed, bank=halves, committed="hypotheses")
    yield "plant-reuse-nominal", replace(REUSE, steps=TWICE, nominal=1, bank=((1, HALF),), switched=None)
    yield "plant-missing", replace(NOMINAL, steps=(Step(0, None), *TWICE))
    yield "plant-doubt", replace(NOMINAL, steps=(Step(0, None, certain=False), *THRICE))
    yield "plant-listed", replace(NOMINAL, question=replace(QUESTION, states=(3, 1)), steps=TWICE[2:])
    yield "plant-bits", replace(NOMINAL, question=replace(QUESTION, rule=BitsRule((1,))), label="b=0", steps=TWICE[2:])
    nominal = replace(QUESTION, rule=NominalRule(1))
    yield "plant-label-nominal", replace(NOMINAL, question=nominal, label="nominal")
    other = replace(NOMINAL, question=replace(QUESTION, rule=NominalRule(2)), label="other", steps=TWICE[:2])
    yield "plant-label-other", other
    yield "plant-smaller-alpha", replace(NOMINAL, alpha=Fraction(1, 20), steps=THRICE)
    yield "plant-weights-below-one", replace(EAGER, bank=((1, Fraction(1, 4)),))
    swap = BooleanPlant(("a", "b"), (*PLANT.commands, Command("X", (Gate("not", 1),), 0)), TENTH)
    unsafe = PlantTask(
        model=swap, rule=StateRule(), states=(1, 2, 3), actions=(0, 1, 2), never=(0,), cost=(ONE,) * 3, alpha=TENTH
    )
    safe = replace(NOMINAL, question=unsafe, steps=(*TWICE, Step(2, 1)))
    yield "plant-unsafe-state-beaten", safe
    yield (
        "plant-unsafe-state-beaten-in-the-stage-before",
        replace(safe, steps=(*TWICE[:2], Step(2, 1), *BACK), bank=UNIFORM, switched=3),
    )
    doubted = replace(safe, steps=(*THRICE, Step(2, None, certain=False)))
    yield "plant-unsafe-state-beaten-doubt", doubted
    exact = replace(NOMINAL, question=replace(QUESTION, alpha=Fraction(2, 81)), alpha=Fraction(2, 81))
    yield "plant-exactly-enough", exact
    yield "plant-many-readings", many(8)
    moving = replace(QUESTION, model=swap, rule=BitsRule((0,)), actions=(0, 1, 2), cost=(ONE,) * 3)
    split = replace(exact, question=moving, label="a=1", steps=(Step(2, None, certain=False), *TWICE[:2]))
    split = replace(split, ran=Fraction(2, 3), question=replace(moving, alpha=Fraction(2, 81)))
    yield "plant-doubt-exactly-enough", split
    whole = everything(BitsRule((2, 1)), "c d=1 b=0")
    yield "plant-gates", whole
    state, _ = EVERYTHING.run(5, [step.action for step in whole.steps])
    yield "plant-gates-current", everything(StateRule(), EVERYTHING.name_state(state), about="current")
    yield "plant-expression", everything(expression("'c d' and not b or 0"), "true")
    yield "plant-expression-current", everything(expression("a xor 'c d' and 1"), "false", about="current")
    machine = build([[1, 0], [2, 1], [2, 2]], [[0, 0], [0, 1], [1, 0]])
    walked = Case(identify(machine), "l0", reads((0, 0), (0, 0), (0, 1)), ((0, ONE),), nominal=0, alpha=Fraction(0))
    yield "machine-nominal", walked
    moved = identify(machine, state_label=np.arange(3, dtype=np.int32))
    yield "machine-current", Case(moved, "l2", reads((0, 0), (0, 1)), ((1, ONE),), nominal=1, alpha=Fraction(0))
    partial = build([[0, 1], [1, -1], [2, 2]], [[0, 0], [1, -1], [0, 1]])
    careful = Case(identify(partial), "l2", reads((0, 0), (1, 1)), ((2, ONE),), nominal=2, alpha=Fraction(0))
    yield "machine-partial", careful
    sensor = with_flip(build([[0, 0], [1, 1]], [[0, 0], [1, 0]]), TENTH)
    noisy = Case(identify(sensor, alpha=TENTH), "l1", reads((0, 1), (0, 1)), ((1, ONE),), nominal=1)
    yield "noisy-nominal", noisy
    yield "noisy-doubt", replace(noisy, steps=(Step(1, None, certain=False), *noisy.steps))
    both = build([[0, 0], [1, 1], [1, 2]], [[0, 0], [1, 0], [1, 0]])
    pair = identify(with_flip(both, TENTH), [0, 1, 1], alpha=Fraction(2, 81))
    halves = Case(pair, "l1", (DOUBT, *reads((0, 1), (0, 1))), ((2, ONE),), nominal=2, ran=Fraction(2, 3))
    yield "noisy-doubt-exactly-enough", replace(halves, alpha=Fraction(2, 81))
    yield "noisy-missing", replace(noisy, steps=(Step(1, None), *noisy.steps))
    yield (
        "noisy-candidate-not-listed",
        replace(
            noisy,
            question=replace(noisy.question, state=np.array([1], dtype=np.int32), label=np.array([1], dtype=np.int32)),
            steps=(),
        ),
    )


def switched_runs() -> Iterator[tuple[str, Case]]:
    """Cases whose bank was compiled when the trigger said so."""
    wrong = reads((0, 0), (0, 0))  # each multiplies T for q = 1 by 5: T is 2.55 after one and 8.06 after two
    late = replace(FALLBACK, steps=wrong + THRICE, switched=2, nominal=1, placed=False)
    yield "plant-switched-by-the-threshold", replace(late, threshold=Fraction(3))
    yield "plant-switched-by-rejection", replace(late, rejection=Fraction(1, 8))
    yield (
        "plant-staged-switched-by-rejection",
        replace(late, policy="staged", threshold=Fraction(0), rejection=Fraction(1, 8)),
    )
    lost = (Step(0, None), Step(1, None))
    yield "plant-switched-readings-lost", replace(late, steps=(*lost, *late.steps), switched=4, threshold=Fraction(3))
    sensor = with_flip(build([[0], [1]], [[0], [1]]), TENTH)
    pair = identify(sensor, alpha=TENTH)
    halves = ((0, HALF), (1, HALF))
    noisy = Case(pair, "l1", reads(*[(0, 1)] * 4), halves, nominal=0, switched=2, placed=False, threshold=Fraction(3))
    yield "noisy-switched-by-the-threshold", noisy
    exact = build([[0], [1]], [[0], [1]])
    sure = replace(noisy, question=identify(exact), alpha=Fraction(0), steps=reads((0, 1), (0, 1)), switched=1)
    yield "machine-switched-by-contradiction", replace(sure, threshold=Fraction(10**9))
    turns = replace(NOMINAL, steps=tuple(TWICE[i] for i in (0, 2, 1, 3)), more=(("probing", "round-robin"),))
    yield "plant-in-turn", turns
    yield "plant-within-limits", replace(NOMINAL, more=(("limits", [[0, 2], [1, 2]]), ("budget", 4)))
    yield "plant-losses-as-many-as-allowed", replace(NOMINAL, steps=(Step(0, None), *TWICE), more=(("losses", 1),))


def only(case: Case, state: int) -> Task:
    """The task of a case with one hypothesis."""
    listed = np.array([state], dtype=np.int32)
    assert isinstance(case.question, Task)
    return replace(case.question, state=listed, label=listed)


def all_beaten() -> Case:
    """The nominal, which is no hypothesis, explains the readings 25 times better than both hypotheses; 20 would do."""
    machine = with_flip(build([[0], [1], [2]], [[0], [0], [1]]), Fraction(1, 6))
    listed = np.array([0, 1], dtype=np.int32)
    question = replace(identify(machine, alpha=TENTH), state=listed, label=listed)
    return Case(question, "l0", reads((0, 1), (0, 1)), ((2, ONE),), nominal=2)


def two_in_one_state() -> Case:
    """After a doubted action two rivals may be in state 1; the one that explains more of what was read is left."""
    successor = [[1, 0, 0], [3, 1, 1], [2, 2, 2], [3, 3, 3]]
    machine = with_flip(build(successor, [[0, 1, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]]), TENTH)
    steps = (Step(1, 1), Step(0, None, certain=False), *reads((1, 1), (2, 1), (2, 1)))
    return Case(identify(machine, alpha=TENTH), "l2", steps, ((2, ONE),), nominal=2)


def false_runs() -> Iterator[tuple[str, Case]]:
    """Cases that are not earned, although every record agrees with every other."""
    sound = dict(sound_runs())
    partial, unsafe = sound["machine-partial"], sound["plant-unsafe-state-beaten"]
    yield "noisy-all-beaten-by-little", all_beaten()
    yield "noisy-doubt-two-in-one-state", two_in_one_state()
    yield "plant-one-reading-changed", replace(NOMINAL, steps=reads((0, 0)) + TWICE[1:])
    yield "plant-last-reading-changed", replace(NOMINAL, steps=(*TWICE[:3], Step(1, 1)))
    yield "plant-one-reading-missing", replace(NOMINAL, steps=(*TWICE[:3], Step(1, None)))
    yield "plant-too-few-readings", replace(NOMINAL, steps=TWICE[:3])
    yield "plant-early-readings-do-not-count", replace(FALLBACK, switched=3)
    yield "plant-wrong-label", replace(NOMINAL, label="11")
    yield "plant-wrong-label-other", replace(sound["plant-label-other"], label="nominal")
    yield "plant-wrong-expression", replace(sound["plant-expression"], label="false")
    yield "plant-alpha-above-the-task", replace(NOMINAL, alpha=Fraction(1, 5))
    yield "plant-weights-above-one", replace(EAGER, bank=((1, Fraction(3, 4)), (2, Fraction(1, 3))))
    yield "plant-weight-too-small", replace(EAGER, bank=((1, Fraction(1, 1000)),))
    yield "plant-candidates-refuted", replace(sound["plant-gates"], bank=((2, ONE),), policy="eager", switched=0)
    yield "plant-all-beaten", replace(sound["plant-listed"], label="11", question=replace(QUESTION, states=(3,)))
    yield (
        "plant-doubt-case-not-beaten",
        replace(
            sound["plant-unsafe-state-beaten-doubt"],
            question=replace(sound["plant-unsafe-state-beaten-doubt"].question, never=(), about="current"),
        ),
    )
    yield "plant-too-many-doubts", replace(sound["plant-doubt"], max_doubts=0)
    yield "plant-nominal-is-another", replace(NOMINAL, nominal=2)
    yield "plant-nominal-with-another-weight", replace(NOMINAL, bank=((1, HALF),))
    yield "plant-without-nominal", replace(FALLBACK, nominal=None)
    yield "plant-eager-late", replace(EAGER, switched=1)
    yield "plant-eager-never", replace(EAGER, switched=None)
    yield "plant-reuse-nominal-too-light", replace(REUSE, bank=UNIFORM)
    yield "plant-reuse-nominal-left-out", replace(REUSE, bank=((1, ONE),))
    yield "plant-no-bank-committed", replace(EAGER, committed=None)
    yield "plant-hypotheses-not-even", replace(EAGER, bank=((1, ONE),), committed="hypotheses")
    yield "plant-hypotheses-one-heavier", replace(FALLBACK, bank=MIXED, committed="hypotheses")
    other = tuple((s, HALF) for s in (0, 1))
    yield "plant-hypotheses-of-others", replace(sound["plant-listed-hypotheses"], bank=other)
    yield "plant-reuse-nominal-weight-one", replace(sound["plant-reuse-nominal"], bank=((1, ONE),))
    yield "plant-action-not-allowed", replace(NOMINAL, question=replace(QUESTION, actions=(0,)))
    yield "plant-unsafe-state-not-beaten", replace(unsafe, steps=(Step(2, 1), *TWICE))
    early = sound["plant-unsafe-state-beaten-in-the-stage-before"]
    yield (
        "plant-unsafe-state-not-beaten-in-the-stage-before",
        replace(early, steps=(TWICE[0], Step(2, 1), TWICE[0], *BACK)),
    )
    yield (
        "plant-unsafe-state-not-beaten-in-the-last-stage",
        replace(early, steps=(*TWICE[:2], Step(0, 1), *BACK, Step(2, 1))),
    )
    yield "plant-early-stage-beats-nothing-later", replace(unsafe, steps=TWICE, bank=UNIFORM, switched=4)
    certain = replace(unsafe.question, model=replace(unsafe.question.model, flip=Fraction(0)), states=None, never=(1,))
    silent = reads((0, 0), (2, 0), (0, 0), (1, 1))
    vain = Case(replace(certain, alpha=Fraction(0)), "00", silent, UNIFORM, nominal=1, switched=2, alpha=Fraction(0))
    yield "plant-contradicted-nominal-beats-nothing", vain
    yield "plant-many-readings-one-too-few", many(7)
    for name in ("plant-exactly-enough", "plant-doubt-exactly-enough", "noisy-doubt-exactly-enough"):
        yield name.replace("exactly-enough", "not-quite-enough"), replace(sound[name], alpha=Fraction(1, 41))
    sound |= dict(switched_runs())
    for name, steps in (("plant-switched-by-the-threshold", 2), ("noisy-switched-by-the-threshold", 2)):
        late = sound[name]
        yield f"{name}-too-early", replace(late, switched=steps - 1)
        yield f"{name}-too-late", replace(late, switched=steps + 1)
        yield f"{name}-not-reached", replace(late, threshold=Fraction(8))
    rejected = sound["plant-switched-by-rejection"]
    yield "plant-switched-by-rejection-not-reached", replace(rejected, rejection=Fraction(1, 9))
    staged = sound["plant-staged-switched-by-rejection"]
    yield "plant-readwise-switched-too-late", replace(staged, policy="readwise")
    passed = replace(NOMINAL, steps=reads((0, 0)) + THRICE, threshold=Fraction(1))
    yield "plant-switch-passed-over", passed
    yield "plant-nominal-budget-passed-over", replace(NOMINAL, more=(("nominal_budget", 3),))
    yield "plant-out-of-turn", replace(sound["plant-in-turn"], steps=TWICE)
    yield "plant-action-above-its-limit", replace(NOMINAL, more=(("limits", [[0, 1]]),))
    yield "plant-budget-exceeded", replace(NOMINAL, more=(("budget", 3),))
    yield "plant-too-many-losses", replace(NOMINAL, steps=(Step(0, None), *TWICE), more=(("losses", 0),))
    yield "plant-eleven-losses", replace(NOMINAL, steps=(*[Step(0, None)] * 11, *TWICE))
    yield "machine-rival-left", replace(sound["machine-nominal"], steps=reads((0, 0)))
    yield "machine-current-rival-left", replace(sound["machine-current"], steps=reads((0, 0)))
    yield "machine-wrong-label", replace(sound["machine-nominal"], label="l1")
    yield "machine-forbidden-action", replace(partial, steps=reads((1, 1), (0, 0)))
    yield (
        "machine-forbidden-doubt",
        replace(partial, steps=(Step(1, None, certain=False), *partial.steps)),
    )
    yield "machine-candidates-refuted", replace(sound["machine-nominal"], bank=((2, ONE),), policy="eager", switched=0)
    lone = replace(partial, question=only(partial, 2), bank=((1, ONE),), nominal=1)
    yield "machine-candidate-forbids", replace(lone, steps=reads((1, 1)))
    yield "noisy-one-reading-changed", replace(sound["noisy-nominal"], steps=reads((0, 0), (0, 1)))
    yield (
        "noisy-doubt-splits-nothing",
        replace(sound["noisy-doubt"], steps=(DOUBT, *reads((0, 1)))),
    )


def unknown_labels() -> Iterator[tuple[str, Case]]:
    yield "expression-unknown", everything(expression("a"), "True")
    yield "nominal-unknown", replace(dict(sound_runs())["plant-label-nominal"], label="01")
    yield "bits-other-order", everything(BitsRule((2, 1)), "b=0 c d=1")
    yield "of-a-machine-unknown", replace(dict(sound_runs())["machine-nominal"], label="l3")


def false_claims() -> Iterator[tuple[str, Claim]]:
    """Claims about the first case whose parts do not agree."""
    claim, fallback = claim_of(NOMINAL), claim_of(FALLBACK)
    yield "transcript-not-the-records", edit(claim, at("transcript", 0, 1), None)
    yield "transcript-shorter", claim | {"transcript": claim["transcript"][:3]}
    yield "label-not-the-records", claim | {"label": "11"}
    yield "record-changed", edit(claim, at("records", 2, "reading"), 0, chain=False)
    yield "record-removed", claim | {"records": claim["records"][:-2] + claim["records"][-1:]}
    yield "head-of-another-chain", claim | {"head": "f" * 64}
    other = edit(claim, at("records", 0, "settings", "task"), "0" * 64)
    yield "settings-of-another-task", other
    yield "records-of-another-task", edit(other, at("records", 0, "task_sha256"), "0" * 64)
    yield "verdict-missing", rechained(claim | {"records": claim["records"][:-1]})
    yield "verdict-abstained", edit(claim, at("records", -1, "verdict"), "abstained")
    yield "verdict-with-a-reason", edit(claim, at("records", -1, "reason"), "none")
    yield "verdict-twice", rechained(claim | {"records": [*claim["records"], claim["records"][-1]]})
    yield "verdict-then-a-step", rechained(claim | {"records": [*claim["records"], *claim["records"][1:3]]})
    yield "commitment-twice", rechained(claim | {"records": [claim["records"][0], *claim["records"]]})
    yield "intent-missing", rechained(claim | {"records": [claim["records"][0], *claim["records"][2:]]})
    yield "intent-twice", rechained(claim | {"records": [*claim["records"][:2], *claim["records"][1:]]})
    yield "reading-of-another-intent", edit(claim, at("records", 1, "action"), 1)
    yield (
        "intent-left-open",
        rechained(claim | {"records": [*claim["records"][:-1], claim["records"][1], claim["records"][-1]]}),
    )
    yield "stage-not-there", edit(fallback, at("records", 3, "after"), 2)
    yield "stage-true", edit(fallback, at("records", 3, "after"), True)
    yield "stage-twice", rechained(fallback | {"records": [*fallback["records"][:4], *fallback["records"][3:]]})
    yield "bank-not-the-one-noted", edit(fallback, at("bank", 0, 1), "1/8")
    yield "scored-from-earlier", fallback | {"scored_from": 0}
    yield "share-of-the-other-stage", claim | {"share": "fallback"}
    yield "shares-larger", claim | {"shares": {"nominal": "1/10", "fallback": "1/10"}}
    yield "shares-lack-one", claim | {"shares": {"nominal": "1/20"}}


def signed(task: dict[str, Any], claim: Claim) -> tuple[bytes, bytes]:
    """Both files, the certificate and its records signed for this very task."""
    text = canonical(task)
    digest = sha256(text).hexdigest()
    claim = copy.deepcopy(claim)
    records = claim.get("records")
    if isinstance(records, list) and records and records[0].get("task_sha256") == OWN:
        records[0]["task_sha256"] = records[0]["settings"]["task"] = digest
        if claim.get("head") == OWN:
            claim["head"] = head_of(records)
    head = {"format": "ascertain-certificate", "version": 1, "made_by": "by hand", "task_sha256": digest}
    return text, canonical(head | {"claims": [claim]}).replace(b"SURROGATE", b"\\ud800")


OWN = "own"
"""Stands in a claim for a hash that belongs to the task that it is put on."""


def corpus() -> Iterator[Files]:
    for name, case in (*sound_runs(), *switched_runs()):
        assert is_earned(case), name
        yield f"verified/run-{name}", *signed(task_data(case.question), claim_of(case))
    for name, case in false_runs():
        assert not is_earned(case), name
        yield f"refuted/run-{name}", *signed(task_data(case.question), claim_of(case))
    task = task_data(QUESTION)
    for name, claim in false_claims():
        yield f"refuted/run-{name}", *signed(task, claim)
    for name, claim in malformed_claims(NOMINAL, FALLBACK, dict(sound_runs())["plant-doubt"]):
        yield f"malformed/run-{name}", *signed(task, claim)
    for name, case in unknown_labels():
        yield f"malformed/run-label-{name}", *signed(task_data(case.question), claim_of(case))
    for name, data in malformed_tasks(task):
        claim = claim_of(replace(NOMINAL, label="0" * 27) if name == "too-many-bits-to-follow" else NOMINAL)
        claim["records"][0]["task_sha256"] = claim["head"] = OWN
        yield f"malformed/plant-task-{name}", *signed(data, claim)
    other = {"claim": "lower", "cost": "0", "row": None, "rows": []}
    yield "refuted/plant-task-another-claim", *signed(task, other)


if __name__ == "__main__":
    write_cases(list(corpus()))
