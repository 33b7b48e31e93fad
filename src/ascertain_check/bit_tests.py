"""Policies for a plant whose commands only read: a test for each of some bits, and what they achieve together.

*Forms.* The gates of the commands that the policy uses are affine, so that what a command reads is the parity of some
bits of the state, plus a constant: its *form*. They *only read*: no command that is used changes the form of any. So
every reading of a command is that of one fixed bit, flipped or not, each time independently.

*Policy.* Rounds of visits, in order: a visit tests the form of one command, and says 0 or 1 or abstains, which ends the
run. Forms `{"tests": [...], "order": [...]}` have one round. It asks

- *which*: every visit that answers is followed by the next. The bits asked for must be sums of the forms, so that the
  answers give a label; if they are right it is. There is one round.
- *nominal or not*: a visit that says another value than the nominal ends the run with "not nominal"; if none does, the
  answer is "nominal". The forms must have their nominal values in exactly the states that are nominal: their span is
  that of the bits of the conjunction, and a state that is nominal gives the values. `{"levels": ...}` visits all forms
  in each round; on level l (from 0) a walk begins at l, goes up at a nominal reading and down at another, passes at l +
  1, falls at -down, and abstains after `caps[l]` readings.

*What they achieve.* A test is a table in which children come after their parents, so what it does with either value is
computed from the last node back: g the probability that the run goes on, w that it says the wrong value, b that it
abstains, n the cost of its readings. Visits read afresh, so given the state they are independent.

- *No answer, and cost*: at most the nested sums b + g (b' + g' (...)) and n + g (n' + g' (...)), each visit with the
  value for which the sum is largest.
- *Wrong, which*: prod g - prod r, with r = 1 - w - b the probability of the right value; the pairs (prod g, prod r)
  that no other pair exceeds are kept.
- *Wrong, nominal or not*: if all forms are nominal, w + g (w' + g' (...)). If form i is not, at most the product of all
  g, those of the visits to i for the value that is not nominal, the others for the value for which g is larger.
- *Cost, nominal or not*: exact where all forms are nominal. Otherwise at least one visit of every round is to a form
  that is not: the largest nested sum with that restriction.

Every combination of values counts, whether or not a state has it. Numbers are rounded toward more risk at 2^-256.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ascertain_check.evidence import Step
from ascertain_check.forms import Form, carry, evaluate, express, find_form, rank
from ascertain_check.plant_task import PlantTask
from ascertain_check.reading import Object, quote, read_index, read_list, read_map, read_object, read_text
from ascertain_check.verdicts import Malformed, Refuted
from ascertain_check.work import KEEP, spend

Node: TypeAlias = dict[int, int] | int | None
"""The node after each reading; or an answer; or None, an abstention."""
Test: TypeAlias = list[Node]
Triple: TypeAlias = tuple[Fraction, Fraction, Fraction]
ZERO, ONE = Fraction(0), Fraction(1)
UNIT = 1 << 256
MAX_NODES = 10**6
"""Of the walk of one level."""
MAX_FRONT = 1000
"""Pairs that are kept; more are merged outward."""


@dataclass(frozen=True)
class Visit:
    action: int
    test: int
    nominal: int | None
    """The value that is nominal; None: the question is which."""


@dataclass(frozen=True)
class BitPolicy:
    tests: list[Test]
    rounds: list[list[Visit]]
    forms: dict[int, Form]
    """By command that is used."""

    @property
    def visits(self) -> list[Visit]:
        return [visit for visits in self.rounds for visit in visits]


@dataclass(frozen=True)
class Chances:
    go: Fraction
    wrong: Fraction
    none: Fraction
    right: Fraction
    cost: Fraction


def read_bit_policy(task: PlantTask, value: object) -> BitPolicy:
    """The policy, after checking that it is one for this task."""
    if task.about_current or task.never:
        raise Refuted("tests of bits are for questions about the start, with nothing forbidden")
    data = read_map(value, "the policy")
    is_nominal = task.rule.kind in ("nominal", "expression")
    if "levels" in data:
        actions, tests, rounds = read_levels(task, data, is_nominal)
    else:
        actions, tests, rounds = read_product(task, data)
    forms = {a: find_form(task, a) for a in actions}
    for a in actions:
        for b in actions:
            if carry(task.commands[a], forms[b]) != forms[b]:
                raise Refuted(f"command {a} changes what command {b} reads")
    masks = [mask for mask, _ in forms.values()]
    wanted, centre = find_wanted(task)
    if any(express(1 << b, masks) is None for b in wanted):
        raise Refuted("a bit that is asked for is no sum of what the tests read")
    if is_nominal and rank(masks) != len(wanted):
        raise Refuted("the tests read more than the bits that are nominal")
    nominal = {a: evaluate(form, centre) if is_nominal else None for a, form in forms.items()}
    placed = [[Visit(a, t, nominal[a]) for a, t in visits] for visits in rounds]
    if "levels" in data and [v.nominal for v in placed[0]] != read_map(data["levels"], "levels")["nominal"]:
        raise Refuted("the levels do not have the nominal values of the task")
    return BitPolicy(tests, placed, forms)


Rounds: TypeAlias = tuple[list[int], list[Test], list[list[tuple[int, int]]]]
"""The actions, the tests, and rounds of (action, test)."""


def read_product(task: PlantTask, data: Object) -> Rounds:
    read_object(data, "tests order", "the policy")
    tests = [read_test(nodes) for nodes in read_list(data["tests"], "tests")]
    order: list[tuple[int, int]] = []
    for item in read_list(data["order"], "order"):
        entry = read_object(item, "action test", "order")
        order.append((find_action(task, entry["action"]), read_index(entry["test"], len(tests), "order")))
    actions = [a for a, _ in order]
    if not actions or len(set(actions)) < len(actions):
        raise Malformed("order: at least one action is needed, each once")
    return actions, tests, [order]


def read_test(value: object) -> Test:
    nodes = read_list(value, "a test")
    test: Test = []
    for v, node in enumerate(nodes):
        if "answer" in read_map(node, "a node of a test"):
            answer = read_object(node, "answer", "a node of a test")["answer"]
            test.append(None if answer is None else read_index(answer, 2, "an answer"))
            continue
        children = read_map(read_object(node, "next", "a node of a test")["next"], "a node of a test")
        if not set(children) <= {"0", "1"}:
            raise Malformed('a node of a test: readings are "0" and "1"')
        after = {int(y): read_index(child, len(nodes), "a node of a test") for y, child in children.items()}
        if any(child <= v for child in after.values()):
            raise Malformed(f"node {v} of a test leads to a node that does not come after it")
        test.append(after)
    if not test:
        raise Malformed("a test needs at least one node")
    return test


def read_levels(task: PlantTask, data: Object, is_nominal: bool) -> Rounds:
    read_object(data, "levels", "the policy")
    levels = read_object(data["levels"], "actions nominal up down caps", "levels")
    actions = [find_action(task, name) for name in read_list(levels["actions"], "actions")]
    nominal = [read_index(x, 2, "nominal") for x in read_list(levels["nominal"], "nominal", len(actions))]
    up, down = (read_index(levels[key], 1001, key) for key in ("up", "down"))
    caps = [read_index(cap, MAX_NODES, "caps") for cap in read_list(levels["caps"], "caps", up)]
    if not is_nominal or not actions or len(set(actions)) < len(actions) or min(up, down, *caps) < 1:
        raise Malformed("levels are for nominal or not, each action once, with numbers of at least 1")
    if any((cap + 1) * (up + down) > MAX_NODES for cap in caps):
        raise Malformed(f"a level has more than {MAX_NODES} nodes, this checker's limit")
    tests = [walk_level(level, down, cap, value) for level, cap in enumerate(caps) for value in (0, 1)]
    return actions, tests, [[(a, 2 * k + n) for a, n in zip(actions, nominal, strict=True)] for k in range(up)]


def walk_level(level: int, down: int, cap: int, nominal: int) -> Test:
    """The walk of one visit as a table; what is nominal goes up."""
    number, order = {(level, 0): 0}, [(level, 0)]
    test: Test = []
    for evidence, taken in order:  # grows while it is walked
        spend(3 * KEEP)
        if evidence > level or evidence <= -down:
            test.append(nominal if evidence > level else 1 - nominal)
        elif taken == cap:
            test.append(None)
        else:
            after: dict[int, int] = {}
            for y in (0, 1):
                place = evidence + (1 if y == nominal else -1), taken + 1
                if place not in number:
                    number[place] = len(order)
                    order.append(place)
                after[y] = number[place]
            test.append(after)
    return test


def find_action(task: PlantTask, value: object) -> int:
    name = read_text(value, "an action")
    spend(1 + len(task.names) // 4)
    if name not in task.names or task.names.index(name) not in task.actions:
        raise Malformed(f"{quote(name)} is no action of the task")
    return task.names.index(name)


def find_wanted(task: PlantTask) -> tuple[list[int], int]:
    """The bits that are asked for, and a state that is nominal, where that is the question."""
    if task.rule.kind != "expression":
        return task.rule.bits, task.rule.nominal
    stack: list[dict[int, int]] = []
    for step in task.rule.program:
        if isinstance(step, int):
            stack.append({step: 1})
        elif step == "not" and len(stack[-1]) == 1:
            stack.append({b: 1 - x for b, x in stack.pop().items()})
        elif step == "and" and all(stack[-1].get(b, x) == x for b, x in stack[-2].items()):
            stack.append(stack.pop() | stack.pop())
        else:
            raise Refuted("the expression is not a conjunction of bits and negated bits")
    literals = stack[0]
    return sorted(literals), sum(x << b for b, x in literals.items())


# What the tests achieve.


def up(x: Fraction) -> Fraction:
    return x if x.denominator <= UNIT else Fraction(-(-x.numerator * UNIT // x.denominator), UNIT)


def down(x: Fraction) -> Fraction:
    return x if x.denominator <= UNIT else Fraction(x.numerator * UNIT // x.denominator, UNIT)


def run_test(test: Test, flip: Fraction, bit: int) -> tuple[Fraction, Fraction, Fraction]:
    """The probabilities of saying 0 and 1, and the expected number of readings, where the bit has this value."""
    said: list[tuple[Fraction, Fraction, Fraction]] = [(ZERO, ZERO, ZERO)] * len(test)
    for v in reversed(range(len(test))):
        node = test[v]
        spend(KEEP)
        if isinstance(node, dict):
            zero, one, readings = ZERO, ZERO, ONE
            for y, child in node.items():
                p = 1 - flip if y == bit else flip
                zero, one, readings = (x + p * z for x, z in zip((zero, one, readings), said[child], strict=True))
            said[v] = zero, one, readings
        elif node is not None:
            said[v] = (ZERO, ONE, ZERO) if node else (ONE, ZERO, ZERO)
    return said[0]


def find_chances(task: PlantTask, policy: BitPolicy) -> dict[Visit, tuple[Chances, Chances]]:
    """For each visit, what it does with a bit that is 0 and one that is 1."""
    ran = [[run_test(test, task.flip, bit) for bit in (0, 1)] for test in policy.tests]
    found: dict[Visit, tuple[Chances, Chances]] = {}
    for visit in policy.visits:
        spend(5 * KEEP)
        both: list[Chances] = []
        for bit, (zero, one, readings) in enumerate(ran[visit.test]):
            right, wrong = (one, zero) if bit else (zero, one)
            go = zero + one if visit.nominal is None else one if visit.nominal else zero
            cost = readings * task.cost[visit.action]
            both.append(Chances(up(go), up(wrong), up(1 - zero - one), down(right), up(cost)))
        found[visit] = both[0], both[1]
    return found


def measure(task: PlantTask, policy: BitPolicy) -> Triple:
    """At most so probable are a wrong answer and none, and so much it costs."""
    chances = find_chances(task, policy)
    both = [chances[visit] for visit in policy.visits]
    none = cost = ZERO
    for pair in reversed(both):
        spend(4 * KEEP)
        none = up(max(c.none + c.go * none for c in pair))
        cost = up(max(c.cost + c.go * cost for c in pair))
    if policy.visits[0].nominal is None:
        return wrong_about_which(both), none, cost
    alarm = good = ZERO
    for visit in reversed(policy.visits):
        c = chances[visit][visit.nominal or 0]
        alarm, good = up(c.wrong + c.go * alarm), up(c.cost + c.go * good)
    missed = max(miss(policy, chances, a) for a in policy.forms)
    return max(alarm, missed), none, max(good, cost_of_other(policy, chances))


def wrong_about_which(both: list[tuple[Chances, Chances]]) -> Fraction:
    front = [(ONE, ONE)]
    for pair in both:
        spend(4 * KEEP * len(front))
        points = {(up(g * c.go), down(r * c.right)) for g, r in front for c in pair}
        kept: list[tuple[Fraction, Fraction]] = []
        for g, r in sorted(points, key=lambda point: (-point[0], point[1])):
            if not kept or r < kept[-1][1]:
                kept.append((g, r))
        if len(kept) > MAX_FRONT:
            kept = [(kept[i][0], kept[min(i + 1, len(kept) - 1)][1]) for i in range(0, len(kept), 2)]
        front = kept
    return max(g - r for g, r in front)


def miss(policy: BitPolicy, chances: dict[Visit, tuple[Chances, Chances]], action: int) -> Fraction:
    """The most probable "nominal" where the form of this action is not."""
    passed = ONE
    for visit in policy.visits:
        spend(KEEP)
        pair = chances[visit]
        bad = pair[1 - (visit.nominal or 0)].go
        passed = up(passed * (bad if visit.action == action else max(c.go for c in pair)))
    return passed


def cost_of_other(policy: BitPolicy, chances: dict[Visit, tuple[Chances, Chances]]) -> Fraction:
    """The largest cost where every round has a visit to a form that is not nominal."""
    rest = ZERO
    for visits in reversed(policy.rounds):
        # `may`: some visit before was to such a form; `must`: none was, so that one of the rest is.
        may, must = rest, None
        for visit in reversed(visits):
            spend(4 * KEEP)
            good, bad = chances[visit][visit.nominal or 0], chances[visit][1 - (visit.nominal or 0)]
            wrong = bad.cost + bad.go * may
            must = up(wrong if must is None else max(wrong, good.cost + good.go * must))
            may = up(max(wrong, good.cost + good.go * may))
        rest = must or ZERO
    return rest


# A run that follows the policy.


def follow_tests(task: PlantTask, policy: BitPolicy, steps: list[Step]) -> str:
    """The label that the policy answers after these steps; Refuted where it asks something else, or answers none."""
    queue, done = list(enumerate(steps)), 0
    answers: dict[int, int] = {}
    for visit in policy.visits:
        test, v = policy.tests[visit.test], 0
        while isinstance(node := test[v], dict):
            if done == len(queue):
                raise Refuted(f"after {len(steps)} steps the policy does not answer")
            i, step = queue[done]
            done += 1
            if step.action != visit.action or not step.certain:
                raise Refuted(f"step {i} is not what the policy asks, or nobody knows whether it ran")
            children = {node.get(y) for y in ((0, 1) if step.reading is None else (step.reading,))}
            after = children.pop()
            if after is None or children:
                raise Refuted(f"after step {i} the policy gives no answer: it has no branch for what was read")
            v = after
        if node is None:
            raise Refuted("the policy abstains")
        answers[visit.action] = node
        if visit.nominal not in (None, node):
            break
    if done < len(queue):
        raise Refuted(f"the policy answers before step {done}")
    return say_label(task, policy, answers)


def say_label(task: PlantTask, policy: BitPolicy, answers: dict[int, int]) -> str:
    if task.rule.kind in ("nominal", "expression"):
        is_nominal = all(answers.get(v.action) == v.nominal for v in policy.visits)
        yes, no = ("nominal", "other") if task.rule.kind == "nominal" else ("true", "false")
        return yes if is_nominal else no
    read, masks = list(policy.forms), [mask for mask, _ in policy.forms.values()]
    values: dict[int, int] = {}
    for b in task.rule.bits:
        used = express(1 << b, masks) or []
        values[b] = sum(answers[read[i]] + policy.forms[read[i]][1] for i in used) & 1
    if task.rule.kind == "state":
        return "".join(str(values[b]) for b in reversed(task.rule.bits))
    return " ".join(f"{task.bits[b]}={values[b]}" for b in task.rule.bits)
