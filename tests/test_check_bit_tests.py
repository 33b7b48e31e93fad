"""The checker's bit_tests.py line by line: against a slow twin, at its limits, and on files that are spoilt."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest

from ascertain.model.named import register
from ascertain.problem.pose_plant import pose_plant
from ascertain.task.canonical import canonical_bytes, task_data
from ascertain_check import bit_tests
from ascertain_check.bit_tests import (
    MAX_FRONT,
    MAX_NODES,
    UNIT,
    Chances,
    down,
    find_wanted,
    follow_tests,
    measure,
    read_bit_policy,
    up,
    walk_level,
    wrong_about_which,
)
from ascertain_check.evidence import Step
from ascertain_check.plant_task import PlantTask, Rule, read_plant_task
from ascertain_check.verdicts import Malformed, Refuted
from tests.reference.bit_policies import achieved, answers_after
from tests.test_bit_tests import TENTH, ask

ZERO = Fraction(0)
FORMS = {"first": (0,), "sum": (0, 1), "other": (0, 2)}
"""Which bits a command of `ask` adds up; `sum` adds 1."""


def read_form(action: str, state: int) -> int:
    """What the command reads of this state, without noise."""
    if action.startswith("read"):
        return state >> int(action[4:]) & 1
    return (sum(state >> b & 1 for b in FORMS[action]) + (action == "sum")) & 1


def posed(label: Any, **settings: Any) -> PlantTask:
    """As the checker reads it: about the parities of test_bit_tests.py, or a register where all bits are asked for."""
    if label == "state" or "nominal" in label:
        question = pose_plant(register(3, TENTH), label=label, cost={"read1": 2, "read2": 3}, **settings)
    else:
        question = ask(label)
    return read_plant_task(json.loads(canonical_bytes(task_data(question))))


WHICH: list[Any] = ["state", {"bits": ["b0", "b2"]}, {"bits": ["b2"]}, {"bits": ["b0"]}]
NOMINAL: list[Any] = [{"nominal": "010"}, {"expression": "b0 and not b2"}, {"expression": "not b1 and not b0"}]
NEEDED: dict[str, tuple[str, ...]] = {
    "state": ("read0", "read1", "read2"),
    "bits b0 b2": ("first", "other"),
    "bits b2": ("first", "other"),
    "bits b0": ("first",),
    "nominal 010": ("read0", "read1", "read2"),
    "expression b0 and not b2": ("other", "first"),
    "expression not b1 and not b0": ("first", "sum"),
}
"""By question the commands that a policy for it reads."""
CENTRE = {"nominal 010": 0b010, "expression b0 and not b2": 0b001, "expression not b1 and not b0": 0b000}


def name_of(label: Any) -> str:
    if isinstance(label, str):
        return label
    ((kind, what),) = label.items()
    return f"{kind} {what if isinstance(what, str) else ' '.join(what)}"


def random_table(rng: Random) -> list[Any]:
    """A test of up to five nodes; branches may be missing, and answers may be anything."""
    nodes: list[Any] = []
    size = rng.randint(1, 5)
    for v in range(size):
        if v + 1 < size and (v == 0 or rng.random() < 0.6):
            some = rng.choice((["0", "1"], ["0", "1"], ["0", "1"], ["0"], ["1"], []))
            nodes.append({"next": {y: rng.randrange(v + 1, size) for y in some}})
        else:
            nodes.append({"answer": rng.choice((0, 0, 1, 1, None))})
    return nodes


def random_policy(rng: Random, label: Any) -> tuple[dict[str, Any], dict[str, int] | None]:
    """For this question, and the nominal values."""
    name = name_of(label)
    actions = list(NEEDED[name])
    rng.shuffle(actions)
    nominal = {a: read_form(a, CENTRE[name]) for a in actions} if name in CENTRE else None
    if nominal and rng.random() < 0.4:
        caps = [rng.randint(1, 4) for _ in range(rng.randint(1, 2))]
        values = [nominal[a] for a in actions]
        levels = {"actions": actions, "nominal": values, "up": len(caps), "down": rng.randint(1, 2), "caps": caps}
        return {"levels": levels}, nominal
    tables = [random_table(rng) for _ in range(rng.randint(1, 3))]
    if nominal is None and rng.random() < 0.3:  # more than is asked for
        actions += [a for a in ("sum", "first") if a not in actions and "read0" not in actions]
    return {"tests": tables, "order": [{"action": a, "test": rng.randrange(len(tables))} for a in actions]}, nominal


@pytest.mark.parametrize("label", [*WHICH, *NOMINAL], ids=name_of)
def test_what_is_measured_is_what_the_combinations_come_to(label: Any) -> None:
    """Exactly: the numbers are too short to be rounded."""
    task, rng = posed(label), Random(1)
    cost = dict(zip(task.names, task.cost, strict=True))
    for _ in range(60):
        policy, nominal = random_policy(rng, label)
        assert measure(task, read_bit_policy(task, policy)) == achieved(policy, nominal, TENTH, cost), policy


def label_of(label: Any, answers: dict[str, int], nominal: dict[str, int] | None) -> str:
    """The one label of all states in which the commands read these values."""
    if nominal is not None:
        words = ("nominal", "other") if "nominal" in label else ("true", "false")
        return words[0 if answers == nominal else 1]
    states = [s for s in range(8) if all(read_form(a, s) == y for a, y in answers.items())]
    bits = ["b0", "b1", "b2"] if label == "state" else label["bits"]
    values = [{b: s >> int(b[1]) & 1 for b in bits} for s in states]
    if label == "state":
        found = {"".join(str(value[b]) for b in reversed(bits)) for value in values}
    else:
        found = {" ".join(f"{b}={value[b]}" for b in bits) for value in values}
    (one,) = found
    return one


@pytest.mark.parametrize("label", [*WHICH, *NOMINAL], ids=name_of)
def test_a_run_is_followed_to_the_answer_that_its_readings_give(label: Any) -> None:
    """Also where readings are lost, and steps missing, exchanged or added."""
    task, rng, ends = posed(label), Random(2), Counter[str]()
    for _ in range(150):
        given, nominal = random_policy(rng, label)
        policy = read_bit_policy(task, given)
        steps: list[tuple[str, int | None]] = []
        actions = NEEDED[name_of(label)]
        while (end := answers_after(given, nominal, steps)) == "does not answer":
            assert refusal(task, policy, steps) == f"after {len(steps)} steps the policy does not answer"
            tried = [(a, answers_after(given, nominal, [*steps, (a, 0)])) for a in (*actions, "sum", "first")]
            asked = next(a for a, found in tried if found != "is not what the policy asks")
            for a, found in tried:
                if found == "is not what the policy asks" and a in task.names:
                    assert refusal(task, policy, [*steps, (a, 0)]).startswith(f"step {len(steps)} is not what")
            assert refusal(task, policy, [*steps, (asked, 0)], doubt=True).startswith(f"step {len(steps)} is not what")
            steps.append((asked, rng.choice((0, 1, 0, 1, 0, 1, None))))
        if isinstance(end, str):
            assert end in refusal(task, policy, steps)
        else:
            answer = follow_tests(task, policy, done(task, steps))
            assert answer == label_of(label, end, nominal), (given, steps)
            more = [*steps, (actions[0], 0)]
            assert refusal(task, policy, more) == f"the policy answers before step {len(steps)}"
        ends[end if isinstance(end, str) else "answers"] += 1
    assert set(ends) == {"answers", "abstains", "gives no answer"}


def done(task: PlantTask, steps: list[tuple[str, int | None]], doubt: bool = False) -> list[Step]:
    """The steps as the checker reads them; with `doubt` nobody knows whether the last one ran."""
    found = [Step(task.names.index(a), y, True) for a, y in steps]
    return [*found[:-1], Step(found[-1].action, found[-1].reading, False)] if doubt else found


def refusal(task: PlantTask, policy: Any, steps: list[tuple[str, int | None]], doubt: bool = False) -> str:
    with pytest.raises(Refuted) as refused:
        follow_tests(task, policy, done(task, steps, doubt))
    return str(refused.value)


def test_pairs_that_are_merged_are_neighbours_and_only_where_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two that are merged leave the larger probability of going on and the smaller one of being right."""
    rng, rounded = Random(3), 0
    for _ in range(300):
        both: list[tuple[Chances, Chances]] = []
        for _ in range(rng.randint(1, 4)):
            one, other = (Fraction(rng.randint(1, 16), 16) for _ in range(2))
            rights = [x * Fraction(rng.randint(0, 8), 8) for x in (one, other)]
            both.append((Chances(one, ZERO, ZERO, rights[0], ZERO), Chances(other, ZERO, ZERO, rights[1], ZERO)))
        most = rng.randint(1, 5)
        monkeypatch.setattr(bit_tests, "MAX_FRONT", most)
        found = wrong_about_which(both)
        exact = max(g - r for g, r in products(both))
        assert found == merged_front(both, most)
        assert found >= exact
        rounded += found > exact
        monkeypatch.setattr(bit_tests, "MAX_FRONT", 16)
        assert wrong_about_which(both) == exact
    assert rounded > 20


def products(both: list[tuple[Chances, Chances]]) -> set[tuple[Fraction, Fraction]]:
    found = {(Fraction(1), Fraction(1))}
    for pair in both:
        found = {(g * c.go, r * c.right) for g, r in found for c in pair}
    return found


def merged_front(both: list[tuple[Chances, Chances]], most: int) -> Fraction:
    front = {(Fraction(1), Fraction(1))}
    for pair in both:
        points = {(g * c.go, r * c.right) for g, r in front for c in pair}
        best = {p for p in points if not any(q != p and q[0] >= p[0] and q[1] <= p[1] for q in points)}
        rows = sorted(best, reverse=True)
        if len(rows) > most:
            rows = [
                (max(g for g, _ in rows[i : i + 2]), min(r for _, r in rows[i : i + 2])) for i in range(0, len(rows), 2)
            ]
        front = set(rows)
    return max(g - r for g, r in front)


def test_numbers_are_rounded_toward_more_risk_at_the_last_place_and_only_if_they_are_longer() -> None:
    rng = Random(4)
    for _ in range(100):
        short = Fraction(rng.randrange(1 << 300), rng.randrange(1, UNIT))
        assert up(short) == down(short) == short
        whole = Fraction(2 * rng.randrange(1 << 300) + 1, UNIT)
        assert up(whole) == down(whole) == whole
        x = Fraction(rng.randrange(1 << 300), 3 ** rng.randint(170, 300))
        assert down(x) < x < up(x) == down(x) + Fraction(1, UNIT)
        assert UNIT % up(x).denominator == 0


def test_the_limits_are_those_that_are_written_down() -> None:
    assert (UNIT, MAX_NODES, MAX_FRONT) == (2**256, 10**6, 1000)


def levels(**changes: Any) -> dict[str, Any]:
    right = {"actions": ["first", "other"], "nominal": [1, 1], "up": 1, "down": 1, "caps": [2]}
    return {"levels": right | changes}


CONJUNCTION = {"expression": "b0 and not b2"}


@pytest.mark.parametrize(
    "policy",
    [
        levels(caps=[499_999]),  # (cap + 1) * (up + down) is the limit
        levels(down=1000, caps=[1]),
        levels(up=1000, caps=[1] * 1000),
    ],
)
def test_levels_are_taken_to_their_limits(policy: dict[str, Any]) -> None:
    task = posed(CONJUNCTION)
    assert len(read_bit_policy(task, policy).rounds) == policy["levels"]["up"]


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (levels(caps=[500_000]), "limit"),
        (levels(up=2, caps=[2, 400_000]), "limit"),
        (levels(down=1000, caps=[999]), "limit"),
        (levels(down=1001), "an index below 1001"),
        (levels(up=1001, caps=[1] * 1001), "an index below 1001"),
        (levels(caps=[1_000_000]), "an index below 1000000"),
        (levels(up=0, caps=[]), "numbers of at least 1"),
        (levels(down=0), "numbers of at least 1"),
        (levels(caps=[0]), "numbers of at least 1"),
        (levels(up=2, caps=[1, 0]), "numbers of at least 1"),
        (levels(up=2), "caps"),
        (levels(nominal=[1, 2]), "an index below 2"),
        (levels(nominal=[1]), "nominal"),
        (levels(actions=["first", "first"]), "each action once"),
        (levels(actions=[], nominal=[]), "each action once"),
        (levels(actions=["first", "nothing"]), "no action of the task"),
        (levels(actions=["first", "move"]), "no action of the task"),
        (levels(more=1), "levels"),
        ({**levels(), "tests": [], "order": []}, "the policy"),
    ],
)
def test_levels_that_are_not_levels_are_malformed(policy: dict[str, Any], reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        read_bit_policy(posed(CONJUNCTION), policy)


def test_a_level_has_no_more_nodes_than_the_limit_counts() -> None:
    """One for each place: two walks that meet go on as one, or the table would double with each reading."""
    for level, least, cap in product(range(3), range(1, 4), (1, 2, 5, 12)):
        for value in (0, 1):
            assert len(walk_level(level, least, cap, value)) <= (cap + 1) * (level + 1 + least)


def test_levels_are_for_one_question() -> None:
    with pytest.raises(Malformed, match="levels are for nominal or not"):
        read_bit_policy(posed({"bits": ["b0", "b2"]}), levels())


ONE = [{"next": {"0": 1, "1": 2}}, {"answer": 0}, {"answer": 1}]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"tests": [[{"answer": 2}]]}, "an index below 2"),
        ({"tests": [[{"answer": 0, "next": {}}]]}, "a node of a test"),
        ({"tests": [[{"next": {}, "more": 0}]]}, "a node of a test"),
        ({"tests": [[{}]]}, "a node of a test"),
        ({"tests": [[{"next": {"0": 1, "2": 1}}, {"answer": 1}]]}, '"0" and "1"'),
        ({"tests": [[{"next": {"0": 2}}, {"answer": 1}]]}, "an index below 2"),
        ({"tests": [[{"next": {"0": 0, "1": 1}}, {"answer": 1}]]}, "does not come after it"),
        ({"tests": [[{"next": {"0": 1}}, {"next": {"0": 0}}]]}, "does not come after it"),
        ({"tests": [ONE, []]}, "at least one node"),
        ({"order": [{"action": "first", "test": 1}]}, "an index below 1"),
        ({"order": [{"action": "first", "test": 0, "more": 0}]}, "order"),
        ({"order": []}, "at least one action is needed, each once"),
        ({"order": [{"action": "first", "test": 0}] * 2}, "at least one action is needed, each once"),
        ({"order": [{"action": "nothing", "test": 0}]}, "no action of the task"),
        ({"more": 0}, "the policy"),
    ],
)
def test_a_product_that_is_not_one_is_malformed(changes: dict[str, Any], reason: str) -> None:
    policy: dict[str, Any] = {"tests": [ONE], "order": [{"action": "first", "test": 0}]}
    task = posed({"bits": ["b0"]})
    assert len(read_bit_policy(task, policy).visits) == 1
    with pytest.raises(Malformed, match=reason):
        read_bit_policy(task, policy | changes)


def test_nothing_may_be_forbidden() -> None:
    order = [{"action": f"read{i}", "test": 0} for i in range(3)]
    policy = {"tests": [ONE], "order": order}
    assert read_bit_policy(posed("state"), policy)
    with pytest.raises(Refuted, match="with nothing forbidden"):
        read_bit_policy(posed("state", never=["111"]), policy)


def evaluate(program: tuple[int | str, ...]) -> tuple[frozenset[int], bool] | None:
    """The states of three bits in which it is true, and whether it is a conjunction of literals; None: no program."""
    stack: list[tuple[frozenset[int], bool]] = []
    everything = frozenset(range(8))
    for step in program:
        if isinstance(step, int):
            stack.append((frozenset(s for s in everything if s >> step & 1), True))
        elif step in "01":
            stack.append((everything if step == "1" else frozenset(), False))
        elif step == "not" and stack:
            true, simple = stack.pop()
            stack.append((everything - true, simple and len(true) == 4))
        elif step != "not" and len(stack) > 1:
            (a, first), (b, second) = stack.pop(), stack.pop()
            stack.append((a & b, first and second and bool(a & b)) if step == "and" else (a | b, False))
        else:
            return None
    return stack[0] if len(stack) == 1 else None


def test_expressions_are_taken_exactly_if_they_are_conjunctions_and_then_with_a_state_in_which_they_hold() -> None:
    """All programs of up to six steps: of two bits, and of three where the last one is joined to what went before."""
    task, count = posed(CONJUNCTION), Counter[bool]()
    words: tuple[int | str, ...] = (0, 2, "not", "and", "or", "1")
    programs = [word for n in range(1, 7) for word in product(words, repeat=n)]
    programs += [(*word, 1, "not", "and") for word in programs if len(word) == 4]
    for program in programs:
        found = evaluate(program)
        if found is None:
            continue
        true, simple = found
        asked = replace(task, rule=Rule("expression", [], list(program), 0))
        count[simple] += 1
        if not simple:
            with pytest.raises(Refuted, match="not a conjunction"):
                find_wanted(asked)
            continue
        bits, centre = find_wanted(asked)
        assert bits == sorted(bits)
        assert true == {s for s in range(8) if all((s ^ centre) >> b & 1 == 0 for b in bits)}, program
    assert min(count.values()) > 90
