"""The claim of a run, checked: against a slow twin, with records changed, and with whatever else stands in a file."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from ascertain.evidence.evidence import Step
from ascertain.model import Machine
from ascertain.model.abstract import AbstractDeterministic
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.model.expression import parse_expression
from ascertain.model.noisy import with_flip
from ascertain.task.plant_task import BitsRule, ExpressionRule, LabelRule, NominalRule, PlantTask, StateRule
from ascertain.task.question import AbstractQuestion
from ascertain.task.task import Task
from ascertain.types import UNDEFINED
from ascertain_check import chain, check, evidence, plant_task, plant_world, rational, reading, switching, trust, work
from ascertain_check.__main__ import main
from ascertain_check.claims import CLAIMS
from ascertain_check.verdicts import Malformed
from tests.by_hand import build, identify
from tests.reference import hidden_cases, run_checker
from tests.reference.models import as_noisy
from tests.reference.run_cases import (
    DOUBT,
    EAGER,
    FALLBACK,
    NOMINAL,
    PLANT,
    QUESTION,
    REUSE,
    THRICE,
    corpus,
    sound_runs,
)
from tests.reference.run_claims import Case, claim_of, hypotheses_of, is_earned, label_now, rechained, texts_of

HALF, ONE = Fraction(1, 2), Fraction(1)
FLIPS = (Fraction(0), Fraction(1, 50), Fraction(1, 10), Fraction(1, 4))
ALPHAS = (Fraction(0), Fraction(1, 100), Fraction(1, 10), Fraction(1, 3))
OPERATIONS = {"and": 2, "or": 2, "xor": 2, "copy": 1, "set": 0, "clear": 0, "not": 0, "cnot": 1, "toffoli": 2}


# Random cases, most of them nearly true.


def random_plant(rng: Random) -> BooleanPlant:
    n = rng.randint(1, 4)
    commands = [Command(f"read{b}", (), b) for b in range(n)]
    for c in range(rng.randint(1, 3)):
        gates = [random_gate(rng, n) for _ in range(rng.randint(0, 2))]
        commands.append(Command(f"do{c}", tuple(gates), rng.randrange(n)))
    return BooleanPlant(tuple(f"b {i}" for i in range(n)), tuple(commands), rng.choice(FLIPS))


def random_gate(rng: Random, n: int) -> Gate:
    while True:
        op = rng.choice(list(OPERATIONS))
        target, sources = rng.randrange(n), tuple(rng.randrange(n) for _ in range(OPERATIONS[op]))
        if op not in ("cnot", "toffoli") or target not in sources:
            return Gate(op, target, sources)


def random_rule(rng: Random, plant: BooleanPlant) -> LabelRule:
    n = plant.num_bits
    names = [f"'{name}'" for name in plant.bits]
    text = f"not {rng.choice(names)} or {rng.choice(names)} and 1 xor (0 or {rng.choice(names)})"
    return rng.choice(
        [
            StateRule(),
            BitsRule(tuple(rng.sample(range(n), rng.randint(1, n)))),
            ExpressionRule(parse_expression(text, plant.bits)),
            NominalRule(rng.randrange(1 << n)),
        ]
    )


def random_plant_task(rng: Random) -> PlantTask:
    plant = random_plant(rng)
    states = list(range(1 << plant.num_bits))
    usable = plant.num_actions if rng.random() < 0.8 else rng.randint(1, plant.num_actions)
    return PlantTask(
        model=plant,
        rule=random_rule(rng, plant),
        about=rng.choice(("start", "current")),
        states=None if rng.random() < 0.6 else tuple(rng.sample(states, rng.randint(1, len(states)))),
        actions=tuple(rng.sample(range(plant.num_actions), usable)),
        never=tuple(rng.sample(states, 1)) if rng.random() < 0.3 else (),
        cost=(ONE,) * plant.num_actions,
        alpha=rng.choice(ALPHAS),
    )


def random_machine_task(rng: Random) -> Task:
    n, num_actions, num_readings = rng.randint(1, 5), rng.randint(1, 3), rng.randint(1, 3)
    shape = (n, num_actions)
    holes = np.array([[rng.random() < 0.1 for _ in range(num_actions)] for _ in range(n)]) & (rng.random() < 0.4)
    holes[0, 0] = False
    successor = np.array([[rng.randrange(n) for _ in range(num_actions)] for _ in range(n)], dtype=np.int32)
    output = np.array([[rng.randrange(num_readings) for _ in range(num_actions)] for _ in range(n)], dtype=np.int32)
    assert successor.shape == output.shape == shape
    machine = Machine(
        states=tuple(f"s{i}" for i in range(n)),
        actions=tuple(f"a{i}" for i in range(num_actions)),
        readings=tuple(f"y{i}" for i in range(num_readings)),
        successor=np.where(holes, UNDEFINED, successor).astype(np.int32),
        output=np.where(holes, UNDEFINED, output).astype(np.int32),
    )
    flip = rng.choice((None, Fraction(0), Fraction(1, 10), Fraction(1, 3)))
    model = machine if flip is None else as_noisy(machine) if flip == 0 else with_flip(machine, flip)
    of_state = np.array([rng.randrange(2) for _ in range(n)], dtype=np.int32)
    listed = np.array(sorted(rng.sample(range(n), rng.randint(1, n))), dtype=np.int32)
    return Task(
        model=model,
        state=listed,
        label=of_state[listed],
        labels=("good", "bad"),
        cost=(ONE,) * num_actions,
        alpha=rng.choice(ALPHAS),
        state_label=of_state if rng.random() < 0.4 else None,
    )


def random_steps(rng: Random, question: AbstractQuestion, truth: int) -> tuple[tuple[Step, ...], int]:
    """What is done and read when a state is true, now and then a reading lost or an action doubted; and the end."""
    model = question.model
    assert isinstance(model, AbstractDeterministic)
    actions = question.actions if isinstance(question, PlantTask) else range(len(model.actions))
    steps: list[Step] = []
    for _ in range(rng.randint(0, 10)):
        action = rng.choice(list(actions))
        law = model.reading_law(truth, action)
        if not law:
            continue
        after, chance = model.next_state(truth, action), rng.random()
        if chance < 0.1 and sum(not step.certain for step in steps) < 4:
            steps.append(Step(action, None, certain=False))
            truth = after if rng.random() < 0.5 else truth
            continue
        reading = max(law, key=lambda y: law[y]) if rng.random() < 0.9 else rng.choice(list(law))
        steps.append(Step(action, None if chance < 0.17 else reading))
        truth = after
    return tuple(steps), truth


def random_case(rng: Random) -> Case:
    question = random_plant_task(rng) if rng.random() < 0.6 else random_machine_task(rng)
    truth, label = rng.choice(list(hypotheses_of(question)))
    steps, end = random_steps(rng, question, truth)
    states = list(range(question.model.num_states))
    nominal = truth if rng.random() < 0.6 else rng.choice(states)
    policy = rng.choice(("eager", "staged", "readwise", "reuse"))
    switched = 0 if policy == "eager" else rng.choice((None, len(steps), rng.randint(0, len(steps))))
    share = rng.choice((HALF, Fraction(2, 3)))
    committed = "by hand"
    if switched is None:
        bank = ((nominal, share if policy == "reuse" else ONE),)
    else:
        chosen = sorted({truth, *rng.sample(states, rng.randint(1, len(states)))})
        bank = tuple((s, Fraction(1, len(chosen))) for s in chosen)
        committed = rng.choice(("by hand", "by hand", "hypotheses"))
        if committed == "hypotheses":
            states = sorted({state for state, _ in hypotheses_of(question)})
            bank = tuple((s, Fraction(1, len(states))) for s in states)
        if committed == "hypotheses" and isinstance(question, PlantTask) and rng.random() < 0.5:
            bank = None
        elif policy == "reuse" and rng.random() < 0.9:
            mixed = {s: (1 - share) * w for s, w in bank}
            mixed[nominal] = mixed.get(nominal, Fraction(0)) + share
            bank = tuple(sorted(mixed.items()))
    case = Case(
        question=question,
        label=label_now(question, label, end),
        steps=steps,
        bank=bank,
        policy=policy,
        nominal=nominal,
        switched=switched,
        alpha=question.alpha,
        nominal_share=share,
        ran=rng.choice((HALF, Fraction(1, 3), Fraction(2, 3))),
        committed=committed,
        threshold=rng.choice((Fraction(0), Fraction(2), Fraction(10**9))),
        rejection=rng.choice((Fraction(1, 3), Fraction(1, 20), Fraction(1, 10**9))),
        placed=rng.random() < 0.7,
        more=rng.choice(((), (), (), (("probing", "round-robin"),), (("limits", [[0, 2]]),), (("losses", 1),))),
    )
    if case.policy != "eager" and not case.placed and case.switched is not None:
        return replace(case, switched=first_due(case))
    return case


def first_due(case: Case) -> int | None:
    """After how many steps the trigger says that the bank is to be compiled."""
    claim = claim_of(case)
    world, first = run_checker.World(json.loads(texts_of(case.question, claim)[0])), claim["records"][0]
    for i in range(len(case.steps) + 1):
        least = run_checker.trigger(world, first["settings"]["nominal"], claim["transcript"][:i])
        if least != "not allowed" and run_checker.is_due(first, i, least):
            return i
    return case.switched


def spoil(rng: Random, case: Case) -> Case:
    """The case with one thing changed, whose consequences are carried through the whole claim."""
    steps, bank = list(case.steps), list(case.bank or ())
    match rng.randrange(11):
        case 0 if steps:
            i = rng.randrange(len(steps))
            readings = len(case.question.model.readings)
            if steps[i].certain:
                steps[i] = Step(steps[i].action, rng.randrange(readings))
            return replace(case, steps=tuple(steps))
        case 1 if steps:
            del steps[rng.randrange(len(steps))]
            return replace(case, steps=tuple(steps), switched=case.switched and min(case.switched, len(steps)))
        case 2 if bank:
            i = rng.randrange(len(bank))
            bank[i] = (bank[i][0], bank[i][1] * rng.choice((HALF, Fraction(3, 2), Fraction(1, 1000))))
            return replace(case, bank=tuple(bank))
        case 3:
            labels = sorted({label for _, label in hypotheses_of(case.question)})
            return replace(case, label=rng.choice(labels))
        case 4:
            return replace(case, alpha=rng.choice((*ALPHAS, case.alpha * 2)))
        case 5:
            return replace(case, policy=rng.choice(("eager", "staged", "readwise", "reuse")))
        case 6:
            return replace(case, switched=rng.choice((None, rng.randint(0, len(steps)))))
        case 8:
            return replace(case, committed=rng.choice((None, "by hand", "hypotheses")))
        case 9:
            return replace(case, bank=None)
        case 7:
            return replace(case, max_doubts=rng.randint(0, 1), ran=rng.choice((HALF, Fraction(9, 10))))
        case _:
            action = rng.randrange(len(case.question.model.actions))
            steps.insert(rng.randint(0, len(steps)), Step(action, None, rng.random() < 0.5))
            return replace(case, steps=tuple(steps))
    return case


def judge(case: Case) -> str:
    return check(*texts_of(case.question, claim_of(case))).word


def compare(seeds: range) -> Counter[tuple[str, bool]]:
    seen: Counter[tuple[str, bool]] = Counter()
    for seed in seeds:
        rng = Random(f"run {seed}")
        case = random_case(rng)
        for _ in range(3):
            word, earned = judge(case), is_earned(case)
            assert (word == "VERIFIED") == earned, (seed, word, earned, case)
            seen[word, isinstance(case.question, PlantTask)] += 1
            case = spoil(rng, case)
    return seen


def test_a_run_is_verified_exactly_when_its_answer_is_earned() -> None:
    seen = compare(range(250))
    for plant in (True, False):
        assert seen["VERIFIED", plant] > 30
        assert seen["REFUTED", plant] > 30


@pytest.mark.slow
def test_many_runs_are_verified_exactly_when_their_answers_are_earned() -> None:
    compare(range(1000, 41_000))


# Whose turn it is.

IN_TURN = (("probing", "round-robin"),)
APART = identify(build([[0, 0], [1, 1]], [[0, 0], [0, 1]]))
"""Two states that never meet: any action is a reset, and only the second tells them apart."""
LATE = Case(APART, "l1", (Step(0, 0), Step(0, 0), Step(1, 1)), ((1, ONE),), nominal=1, alpha=Fraction(0), more=IN_TURN)
LISTEN, OPEN = Step(0, 0), Step(1, 0)
TIGER = replace(hidden_cases.NOMINAL, question=hidden_cases.BOTH, more=IN_TURN)
GENEROUS = replace(TIGER, question=replace(hidden_cases.BOTH, alpha=Fraction(2, 5)), alpha=Fraction(2, 5))
PARTIAL = replace(dict(sound_runs())["machine-partial"], more=IN_TURN)


@pytest.mark.parametrize(
    ("case", "word"),
    [
        (replace(NOMINAL, more=IN_TURN), "REFUTED"),
        (replace(NOMINAL, more=(*IN_TURN, ("limits", [[0, 2]]))), "VERIFIED"),
        (LATE, "REFUTED"),
        (replace(LATE, steps=LATE.steps[1:]), "VERIFIED"),
        (PARTIAL, "VERIFIED"),
        (replace(PARTIAL, steps=(PARTIAL.steps[0], *PARTIAL.steps)), "VERIFIED"),  # an action may have been forbidden
        (TIGER, "REFUTED"),
        (replace(GENEROUS, steps=(LISTEN, OPEN)), "VERIFIED"),
        (replace(TIGER, question=hidden_cases.GUARDED, steps=(LISTEN, LISTEN, OPEN)), "VERIFIED"),
    ],
)
def test_turns_count_where_no_action_can_be_forbidden(case: Case, word: str) -> None:
    assert judge(case) == word
    assert is_earned(case) == (word == "VERIFIED")


def test_turns_do_not_count_after_a_fault() -> None:
    claim, time = claim_of(LATE), "2026-11-18T05:00:00+00:00"
    names: dict[str, Any] = {"actions": ["a", "b"], "readings": ["0", "1"]}
    plant = {"record": "plant", "identity": None, "address": "", "time": time, **names}
    fault = {"record": "verdict", "verdict": "abstained", "label": None, "reason": "", "cause": "plant", "time": time}
    first, *steps, verdict = claim["records"]
    for told, word in (([], "REFUTED"), ([fault, plant], "VERIFIED")):
        records = [first, plant, *steps[:2], *told, *steps[2:], verdict | {"time": time}]
        task, certificate = texts_of(APART, rechained(claim | {"records": records}))
        assert check(task, certificate).word == word
        assert run_checker.holds(json.loads(task), json.loads(certificate)["claims"][0]) == (word == "VERIFIED")


# What the parts of a claim are bound to.


def test_the_corpus_is_what_its_cases_say() -> None:
    home = Path(__file__).parent / "certificates"
    for name, task, certificate in corpus():
        assert (home / f"{name}.task.json").read_bytes() == task, name
        assert (home / f"{name}.json").read_bytes() == certificate, name


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a value that has no parts."""
    if isinstance(value, dict | list) and value:
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))
    else:
        yield path


@pytest.mark.parametrize("case", [NOMINAL, FALLBACK, EAGER], ids=["nominal", "fallback", "eager"])
def test_no_value_of_any_record_can_be_changed_under_the_head(case: Case) -> None:
    claim = claim_of(case)
    for path in places(claim["records"]):
        for other in (0, 1, 2, "1/3", "x", None, True):
            changed = copy.deepcopy(claim)
            holder = changed["records"]
            for key in path[:-1]:
                holder = holder[key]
            if json.dumps(holder[path[-1]]) != json.dumps(other):
                holder[path[-1]] = other
                assert check(*texts_of(case.question, changed)).word != "VERIFIED", (path, other)


def test_records_cannot_be_left_out_or_exchanged_under_the_head() -> None:
    claim = claim_of(FALLBACK)
    records = claim["records"]
    for i in range(len(records)):
        for others in (records[:i] + records[i + 1 :], [*records[:i], *records[i : i + 2][::-1], *records[i + 2 :]]):
            if others != records:
                assert check(*texts_of(FALLBACK.question, claim | {"records": others})).word != "VERIFIED"


def test_a_changed_reading_is_refuted_unless_the_answer_is_still_earned() -> None:
    """With the chain forged. With four readings of each bit one may be wrong; with the two that suffice, none."""
    long = replace(NOMINAL, steps=NOMINAL.steps * 2)
    words = Counter[str]()
    for case in (NOMINAL, long):
        for i, step in enumerate(case.steps):
            other = replace(
                case, steps=(*case.steps[:i], Step(step.action, 1 - (step.reading or 0)), *case.steps[i + 1 :])
            )
            words[judge(other)] += 1
            assert (judge(other) == "VERIFIED") == is_earned(other)
    assert words == {"REFUTED": 4, "VERIFIED": 8}


def test_the_risk_of_a_run_is_named_beside_its_share_where_that_is_not_all_of_it() -> None:
    whole, part = (check(*texts_of(case.question, claim_of(case))).proved[0] for case in (EAGER, NOMINAL))
    assert "at risk 1/10, on" in whole and "at risk 1/20 (the run: 1/10), on" in part


def test_what_had_to_be_trusted_is_printed_even_when_nothing_else_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in zip(("t.json", "c.json"), texts_of(NOMINAL.question, claim_of(NOMINAL)), strict=True):
        (tmp_path / name).write_bytes(text)
    files = [str(tmp_path / "t.json"), str(tmp_path / "c.json")]
    assert main(files) == 0
    proved = "the answer '01' beats every rival at risk 1/20 (the run: 1/10), on 4 readings"
    shown = capsys.readouterr().out
    assert shown.splitlines() == ["VERIFIED", proved, *trust.RUN]
    assert main(["-v", *files]) == 0  # as it was called before
    assert capsys.readouterr().out == shown


def test_the_page_of_guarantees_lists_what_is_trusted_word_for_word() -> None:
    page = (Path(__file__).parent.parent / "docs" / "guarantees.md").read_text("utf-8").splitlines()
    said = {sentence for claim in CLAIMS.values() for sentence in claim.trusted}
    assert {line for line in page if line.startswith("trusted, not proved")} == said


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ((Step(0, None), Step(1, None), DOUBT), "; 2 readings are recorded as lost and 1 actions as doubted"),
        ((Step(0, None),), "; 1 readings are recorded as lost and 0 actions as doubted"),
        ((DOUBT,), "; 0 readings are recorded as lost and 1 actions as doubted"),
        ((), ""),
    ],
)
def test_losses_and_doubts_are_told(first: tuple[Step, ...], told: str) -> None:
    case = replace(NOMINAL, steps=(*first, *THRICE))
    assert check(*texts_of(case.question, claim_of(case))).proved[0].endswith(f"on 6 readings{told}")


SOUND = dict(sound_runs())
SURE = as_noisy(build([[0, 0], [1, 1]], [[0, 0], [1, 0]]))
"""Of the kind of a noisy machine, though every law is certain."""
HALF_SURE = replace(SURE, laws=(((0, Fraction(99, 100)), (1, Fraction(1, 100))), ((1, ONE),)))
SEEN = Case(identify(SURE, alpha=Fraction(1, 10)), "l1", (Step(0, 1),), ((1, ONE),), nominal=1)


@pytest.mark.parametrize(
    ("case", "word"),
    [
        (SOUND["machine-nominal"], "VERIFIED"),
        (SEEN, "VERIFIED"),
        (replace(SEEN, question=replace(SEEN.question, model=HALF_SURE)), "REFUTED"),
        (NOMINAL, "REFUTED"),
        (replace(NOMINAL, question=replace(QUESTION, model=replace(PLANT, flip=Fraction(0)))), "VERIFIED"),
    ],
)
def test_losses_are_limited_where_readings_are_uncertain(case: Case, word: str) -> None:
    """Without noise a reading that is left out rules out nobody."""
    for losses, expected in ((2, "VERIFIED"), (1, word)):
        lost = replace(case, steps=(Step(1, None), Step(1, None), *case.steps), more=(("losses", losses),))
        assert judge(lost) == expected
        assert is_earned(lost) == (expected == "VERIFIED")


ALL_STATES = replace(EAGER, bank=None, committed="hypotheses")


@pytest.mark.parametrize(
    ("case", "word"),
    [
        (ALL_STATES, "VERIFIED"),
        (replace(FALLBACK, bank=None, committed="hypotheses"), "VERIFIED"),
        (replace(ALL_STATES, committed="by hand"), "REFUTED"),
        (replace(ALL_STATES, committed=None), "REFUTED"),
        (replace(REUSE, bank=None, committed="hypotheses"), "REFUTED"),
        (replace(REUSE, bank=None), "REFUTED"),
        (replace(ALL_STATES, question=replace(QUESTION, states=(1, 2))), "MALFORMED"),
        (replace(SOUND["noisy-nominal"], policy="eager", switched=0, bank=None, committed="hypotheses"), "MALFORMED"),
        (replace(SOUND["machine-nominal"], policy="eager", switched=0, bank=None), "REFUTED"),
    ],
)
def test_a_bank_of_all_states_is_for_plants_of_which_every_state_is_a_hypothesis(case: Case, word: str) -> None:
    assert judge(case) == word
    assert is_earned(case) == (word == "VERIFIED")


def test_a_bank_is_compiled_part_by_part_where_the_policy_is_incremental() -> None:
    for policy, word in (("incremental", "VERIFIED"), ("reuse", "REFUTED")):
        claim = claim_of(replace(REUSE, policy=policy))
        records = claim["records"]
        at = [record["record"] for record in records].index("stage")
        part, whole = records[at] | {"bank_sha256": "0" * 64}, records[at] | {"after": records[at]["after"] + 1}
        step = records[at + 1 : at + 3]
        for parts, expected in (((part, whole), word), ((whole | {"after": part["after"]}, part), "REFUTED")):
            last = parts[1] | {"after": whole["after"]}
            told = [*records[:at], parts[0], *step, last, *records[at + 3 :]]
            task, certificate = texts_of(REUSE.question, rechained(claim | {"records": told}))
            assert check(task, certificate).word == expected
            assert run_checker.holds(json.loads(task), json.loads(certificate)["claims"][0]) == (expected == "VERIFIED")


def test_the_moves_of_every_hypothesis_and_candidate_are_counted() -> None:
    steps = [evidence.Step(0, 0, True)] * 3
    doubted = [*steps[:2], evidence.Step(0, None, False)]
    twenty = [(s, Fraction(1, 20)) for s in range(20)]
    for bank, done, moves in ((twenty, steps, 4 * 30), (None, steps, 4 * 10), (twenty, doubted, 2 * 4 * 30)):
        with work.limit(None) as meter:
            evidence.check_effort(10, evidence.Stage(bank, HALF, 0, HALF), done, 2)
        assert meter.spent == 5 * moves


def test_what_had_to_be_trusted_is_said_of_a_run_among_other_claims_and_of_nothing_else() -> None:
    machine, other = dict(sound_runs())["machine-nominal"], {"claim": "lower", "cost": "0", "row": None, "rows": []}
    for claims, trusted in (([claim_of(machine), other], 1), ([other, claim_of(machine)], 1), ([other], 0)):
        task, certificate = texts_of(machine.question, other)
        signed = json.loads(certificate) | {"claims": claims}
        verdict = check(task, json.dumps(signed).encode())
        assert (verdict.word, verdict.proved.count(trust.BEFORE)) == ("VERIFIED", trusted)


# Forging, with an honest first record.


def lamp(truth: int, seed: int) -> Case:
    """A lamp that should be lit, looked at six hundred times; the bank is its two states."""
    machine = with_flip(build([[0], [1]], [[0], [1]]), Fraction(1, 20))
    rng = Random(f"lamp {seed}")
    steps = tuple(Step(0, truth if rng.random() < 0.95 else 1 - truth) for _ in range(600))
    halves = ((0, HALF), (1, HALF))
    case = Case(identify(machine, alpha=Fraction(1, 1000)), "l1", steps, halves, policy="staged", nominal=1)
    return replace(case, alpha=Fraction(1, 1000), placed=False, rejection=Fraction(1, 1000), committed="hypotheses")


def test_a_switch_that_is_placed_afterwards_is_not_verified() -> None:
    """Where three readings in a row happen to speak for what is wrong: lamps were certified like that."""
    forged = 0
    for seed in range(150):
        case = lamp(0, seed)
        found = [i for i in range(598) if all(step.reading == 1 for step in case.steps[i : i + 3])]
        for i in found:
            forged += 1
            assert judge(replace(case, steps=case.steps[: i + 3], switched=i)) == "REFUTED"
    assert forged >= 5


def test_unwelcome_readings_that_are_called_lost_are_not_verified() -> None:
    for seed in range(30):
        case = lamp(0, seed)
        kept = [Step(0, step.reading if step.reading == 1 else None) for step in case.steps]
        end = [i for i, step in enumerate(kept) if step.reading == 1][3] + 1
        lost = sum(step.reading is None for step in kept[:end])
        blank = replace(case, steps=tuple(kept[:end]), bank=((1, ONE),))
        assert lost <= 10 or judge(blank) == "REFUTED"
        for switched in (0, 1):
            assert judge(replace(blank, bank=case.bank, switched=switched)) == "REFUTED"


def test_an_honest_run_switches_where_the_trigger_says() -> None:
    case = lamp(0, 1)
    switched = first_due(case)
    assert switched is not None
    honest = replace(case, label="l0", switched=switched)
    assert [judge(replace(honest, steps=case.steps[: switched + k])) for k in (1, 2, 3)] == [
        "REFUTED",
        "REFUTED",
        "VERIFIED",
    ]


# Limits.


def test_a_plant_of_too_many_bits_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = texts_of(NOMINAL.question, claim_of(NOMINAL))
    monkeypatch.setattr(plant_world, "MAX_BITS", 2)
    assert check(*texts).word == "VERIFIED"
    monkeypatch.setattr(plant_world, "MAX_BITS", 1)
    verdict = check(*texts)
    assert verdict.word == "MALFORMED"
    assert "this checker" in verdict.reason


def test_a_common_denominator_may_be_as_long_as_the_limit() -> None:
    long = Fraction(1, 2 ** (evidence.MAX_BITS - 1))
    assert evidence.common_denominator([long, HALF], "these") == long.denominator
    assert [evidence.common_denominator(values, "these") for values in ([], [Fraction(2, 3)])] == [1, 3]
    with pytest.raises(Malformed, match="these: the common denominator"):
        evidence.common_denominator([long, Fraction(1, 3)], "these")


def test_the_limits_are_those_of_the_format() -> None:
    assert (evidence.MAX_BITS, evidence.MAX_DOUBTS, chain.MAX_DOUBTS, chain.LOSSES) == (2**14, 12, 10**6, 10)
    assert (plant_world.MAX_BITS, chain.MAX_BUDGET) == (26, 10**18)
    assert (plant_task.MAX_BITS, plant_task.MAX_PROGRAM, plant_task.MAX_STACK) == (64, 10_000, 256)
    assert work.default_budget(1000) == 20_000_000 + 15 * 1000
    assert (work.KEEP, work.BYTES_PER_STEP, rational.OPERATION) == (20, 15, 11)
    assert switching.SIXTEENTHS == (1, 2, 4, 8, 16)


def test_so_many_doubts_are_followed_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("plant-doubt", "noisy-doubt"):
        case = dict(sound_runs())[name]
        monkeypatch.setattr(evidence, "MAX_DOUBTS", 1)
        assert judge(case) == "VERIFIED"
        monkeypatch.setattr(evidence, "MAX_DOUBTS", 0)
        assert judge(case) == "MALFORMED"


def test_a_record_nested_without_end_are_malformed() -> None:
    """JSON is read deeper than it is written, or the other way round; neither may get past."""
    claim = claim_of(NOMINAL)
    claim["records"][0]["bank"]["note"] = "DEEP"
    task, certificate = texts_of(NOMINAL.question, claim)
    for depth in (10, *range(900, 1000), 100_000):
        deep = certificate.replace(b'"DEEP"', b"[" * depth + b"]" * depth)
        assert str(check(task, deep)) in (
            "REFUTED: the chain of records does not end in the head that the claim names",
            "MALFORMED: a record is nested too deeply",
            "MALFORMED: the certificate is nested too deeply",
        )
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(Malformed, match="a record is nested too deeply"):
        reading.canonical_bytes(value, "a record")


def test_only_a_certified_answer_is_an_answer() -> None:
    claim = claim_of(NOMINAL)
    claim["records"][-1]["verdict"] = "none of these"
    assert check(*texts_of(NOMINAL.question, rechained(claim))).reason.startswith("the run did not end with an answer")


def test_a_commitment_may_name_no_bank() -> None:
    claim = claim_of(NOMINAL)
    claim["records"][0]["bank"] = None
    assert check(*texts_of(NOMINAL.question, rechained(claim))).word == "VERIFIED"


def test_a_plant_of_26_bits_of_which_two_states_are_listed_is_followed_at_once() -> None:
    plant = BooleanPlant(tuple(f"b{i}" for i in range(40)), (Command("r", (), 39),), Fraction(1, 10))
    question = PlantTask(
        model=plant, rule=BitsRule((39,)), states=(0, 1 << 39), actions=(0,), cost=(ONE,), alpha=Fraction(1, 10)
    )
    assert judge(Case(question, "b39=0", (Step(0, 0), Step(0, 0)), ((0, ONE),), nominal=0)) == "VERIFIED"
    assert judge(Case(question, "b39=0", (Step(0, 0), Step(0, 1)), ((0, ONE),), nominal=0)) == "REFUTED"


@pytest.mark.slow
def test_a_machine_of_a_hundred_thousand_states_is_followed_through_six_hundred_steps() -> None:
    """With half of the readings wrong, a rival is beaten by 231 of them, which takes nearly all steps."""
    n, rng = 100_000, Random(1)
    successor = np.array([[(s + 1) % n, (s * 7 + 3) % n] for s in range(n)], dtype=np.int32)
    output = np.array([[rng.randrange(2), rng.randrange(2)] for _ in range(n)], dtype=np.int32)
    machine = with_flip(build(successor.tolist(), output.tolist()), Fraction(1, 10))
    question = replace(identify(machine, [int(s == 5) for s in range(n)]), alpha=Fraction(1, 10**220))
    state, steps = 5, []
    for _ in range(600):
        action = rng.randrange(2)
        steps.append(Step(action, int(output[state, action])))
        state = int(successor[state, action])
    case = Case(question, "l1", tuple(steps), ((5, ONE),), nominal=5, alpha=question.alpha)
    assert judge(case) == "VERIFIED"
