"""The evidence of a run against every state of a Boolean plant, all of them at once.

Hypotheses are numbered, and a *plane* is an integer whose bit i belongs to hypothesis i: one plane for every bit of the
plant says where each hypothesis is. A gate is then one operation or two on planes, and a reading marks in one plane
all hypotheses that it contradicts. With flip = f a hypothesis that was contradicted k times has, up to a factor that is
common to all, the likelihood r^k, r = f/(1-f) < 1. So whether it is beaten depends on k alone: there is a least count T
that is, and T never falls as readings come in, because the bank's sum never rises. Hence a *slack* T - 1 - k, kept in
planes as a binary number for every hypothesis at once: a contradiction takes one from it, a larger T adds to it, and
whoever would fall below zero is beaten.

Each case of the actions that may not have run is followed by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TypeAlias

from ascertain_check.evidence import Bar, Stage, Step, check_effort, need_answer, need_list, raise_bar
from ascertain_check.plant_task import Gate, PlantTask, Rule
from ascertain_check.verdicts import Malformed, Refuted
from ascertain_check.work import hold, spend

Wanted: TypeAlias = dict[int, bool] | bool
"""The values that the bits must have; or whether the expression, or being the nominal, must hold."""

MAX_BITS = 26
"""Of a plant whose states are not listed."""
MAX_PLANES = 40
"""Planes that are held beside those of the bits: slack, counts, and what is being computed."""


def check_plant(task: PlantTask, label: str, stage: Stage, steps: list[Step]) -> None:
    """Refuted unless this is the answer that the evidence allows."""
    wanted = read_label(task, label)
    check_effort(0, stage, steps, task.flip.denominator)
    size = count_hypotheses(task, stage, steps)
    bars, explained = find_bars(task, stage, steps)
    if not explained:
        raise Refuted("no candidate of the bank explains the readings")
    early: list[int] = []
    if stage.before is not None and task.never:
        early = find_bars(task, stage.before, steps[: stage.scored_from])[0]
    world = Sweep(task, size, stage.scored_from, early, bars)
    rivals, supported = 0, False
    for ran in product((True, False), repeat=sum(not step.certain for step in steps)):
        other, alive = world.follow(wanted, steps, ran)
        rivals |= alive & other
        supported = supported or alive & other != alive
    lowest = (rivals & -rivals).bit_length() - 1
    state = lowest if task.states is None else task.states[lowest]
    need_answer(f"state {state}" if rivals else None, supported)


def count_hypotheses(task: PlantTask, stage: Stage, steps: list[Step]) -> int:
    if task.states is None and len(task.bits) > MAX_BITS:
        raise Malformed(f"the plant has {len(task.bits)} bits; this checker follows all states of at most {MAX_BITS}")
    size = task.num_states if task.states is None else len(task.states)
    cases = 1 << sum(not step.certain for step in steps)
    gates = sum(len(task.commands[step.action].gates) for step in steps)
    spend(10 * gates * cases * len(stage.bank or ()))
    # Operations on planes: gates, slack, what must not be entered, the label; and, where every state is a candidate,
    # the counts that are told apart after each reading.
    operations = 2 * gates + len(steps) * (4 * len(steps).bit_length() + 6 + 4 * len(task.never) * len(task.bits))
    operations += len(task.bits) + len(task.rule.program) + (len(steps) ** 2 // 2 if stage.bank is None else 0)
    spend(cases * operations * (2 + (size >> 13)))
    hold((len(task.bits) + task.rule.depth + MAX_PLANES) * size // 7)
    return size


# The label.


def read_label(task: PlantTask, label: str) -> Wanted:
    """What the label says."""
    rule = task.rule
    if rule.kind in ("expression", "nominal"):
        words = {"expression": {"true": True, "false": False}, "nominal": {"nominal": True, "other": False}}[rule.kind]
        if label not in words:
            raise Malformed("the label is not one of the task's")
        return words[label]
    if rule.kind == "state":
        pattern, bits = "([01])" * len(task.bits), [*reversed(range(len(task.bits)))]
    else:
        pattern, bits = " ".join(re.escape(task.bits[b]) + "=([01])" for b in rule.bits), rule.bits
    match = re.fullmatch(pattern, label)
    if match is None:
        raise Malformed("the label is not one of the task's")
    return {b: value == "1" for b, value in zip(bits, match.groups(), strict=True)}


def find_rivals(rule: Rule, wanted: Wanted, planes: list[int], full: int) -> int:
    """The hypotheses whose label, by what the planes say, is another one."""
    if isinstance(wanted, dict):
        return find_others(wanted, planes, full)
    if rule.kind == "nominal":
        apart = find_others({b: bool(rule.nominal >> b & 1) for b in rule.bits}, planes, full)
    else:
        apart = full ^ run_program(rule.program, planes, full)
    return apart if wanted else full ^ apart


def find_others(values: dict[int, bool], planes: list[int], full: int) -> int:
    """The hypotheses in which some bit has another value."""
    result = 0
    for b, value in values.items():
        result |= planes[b] ^ full if value else planes[b]
    return result


def run_program(program: list[int | str], planes: list[int], full: int) -> int:
    stack: list[int] = []
    for step in program:
        if isinstance(step, int):
            stack.append(planes[step])
        elif step in ("0", "1"):
            stack.append(full if step == "1" else 0)
        elif step == "not":
            stack.append(stack.pop() ^ full)
        else:
            x, y = stack.pop(), stack.pop()
            stack.append(x & y if step == "and" else x | y if step == "or" else x ^ y)
    return stack.pop()


# The bank.


def find_bars(task: PlantTask, stage: Stage, steps: list[Step]) -> tuple[list[int], bool]:
    """The least number of contradictions that beats a state, after each step.

    No count exceeds the number of scored readings, so that a larger T need not be known yet. Second, whether some
    candidate explains all readings; once none does, nothing more is beaten.
    """
    p, m = task.flip.numerator, task.flip.denominator - task.flip.numerator
    found: list[int] = []
    least, scored, explained = 1, 0, True
    listed = stage.bank is not None
    bars = raise_bar(partial(move_one, task), stage, steps) if listed else raise_even_bar(task, stage, steps)
    for i, bar in enumerate(bars):
        scored += stage.scored(steps, i) is not None
        explained = bar.total > 0
        while least <= scored and not (explained and is_beaten(p, m, least, scored, bar)):
            least += 1
        found.append(least)
    return found, explained


def is_beaten(p: int, m: int, count: int, scored: int, bar: Bar) -> bool:
    """Whether a state is, that so many of the scored readings contradict."""
    spend(10 + ((scored * m.bit_length() >> 8) ** 2 >> 5))
    return p**count * m ** (scored - count) * bar.factor <= bar.limit


def raise_even_bar(task: PlantTask, stage: Stage, steps: list[Step]) -> Iterator[Bar]:
    """What it takes to be beaten after each step, where every state is a candidate of the same weight.

    The sum over the bank follows from how many states were contradicted k times, for every k. Those are counted in
    planes, as the slack is, and each case of the doubts by itself with its weight.
    """
    if task.states is not None:
        need_list(stage)
    p, m = task.flip.numerator, task.flip.denominator - task.flip.numerator
    doubts = sum(not step.certain for step in steps)
    totals = [0] * len(steps)
    for ran in product((True, False), repeat=doubts):
        weight = 1
        for done in ran:
            weight *= stage.ran.numerator if done else stage.ran.denominator - stage.ran.numerator
        for i, many in enumerate(count_contradictions(task, stage, steps, ran)):
            scored = len(many) - 1
            spend(scored * (10 + ((scored * m.bit_length() >> 8) ** 2 >> 5)))
            totals[i] += weight * sum(number * p**k * m ** (scored - k) for k, number in enumerate(many))
    den = task.num_states * stage.ran.denominator**doubts
    for total in totals:
        yield Bar(total, den * stage.alpha.denominator, stage.alpha.numerator * total)


def count_contradictions(
    task: PlantTask, stage: Stage, steps: list[Step], ran: tuple[bool, ...]
) -> Iterator[list[int]]:
    """After each step how many states were contradicted by 0, 1, 2, ... of the scored readings, up to all of them."""
    full = (1 << task.num_states) - 1
    planes, counts = start_planes(task, task.num_states), list[int]()
    many, doubted = [task.num_states], iter(ran)
    for i, step in enumerate(steps):
        if step.certain or next(doubted):
            command = task.commands[step.action]
            for gate in command.gates:
                apply(gate, planes, full)
            if stage.scored(steps, i) is not None:
                carry = planes[command.tap] ^ (full if step.reading else 0)
                for j, plane in enumerate(counts):
                    counts[j], carry = plane ^ carry, plane & carry
                counts += [carry] if carry else []
                many = tell_apart(full, counts, len(many) + 1)
        yield many


def tell_apart(marked: int, counts: list[int], size: int) -> list[int]:
    """How many of the marked hypotheses have count 0, 1, ... below `size`; the last plane is the highest place."""
    if not counts or not marked:
        return [marked.bit_count(), *[0] * (size - 1)]
    *below, top = counts
    half, upper = 1 << len(below), marked & top
    low = tell_apart(marked ^ upper, below, min(half, size))
    return low + ([] if size <= half else tell_apart(upper, below, size - half))


def move_one(task: PlantTask, state: int, action: int) -> tuple[int, dict[int, int]]:
    """One state through one command, and what is then read."""
    command = task.commands[action]
    for gate in command.gates:
        a, b, t = (state >> bit & 1 for bit in (gate.first, gate.second, gate.target))
        state ^= (t ^ gate_value(gate.op, t, a, b, 1)) << gate.target
    tapped = state >> command.tap & 1
    p = task.flip.numerator
    return state, {tapped: task.flip.denominator - p, 1 - tapped: p}


# The world.


@dataclass(frozen=True)
class Sweep:
    """`early` are the bars of the stage before, where they matter: where some states must not be entered."""

    task: PlantTask
    size: int
    scored_from: int
    early: list[int]
    bars: list[int]

    def follow(self, wanted: Wanted, steps: list[Step], ran: tuple[bool, ...]) -> tuple[int, int]:
        """The rivals, and what is not beaten in the end, where `ran` says which doubted actions ran."""
        task, full = self.task, (1 << self.size) - 1
        planes = start_planes(task, self.size)
        other = 0 if task.about_current else find_rivals(task.rule, wanted, planes, full)
        alive, slack = full, Slack(self.bars, full)
        early_alive, early_slack = full, Slack(self.early, full)
        doubted = iter(ran)
        for i, step in enumerate(steps):
            if not step.certain and not next(doubted):
                continue
            command, outside = task.commands[step.action], full ^ find_unsafe(task, planes, full)
            for gate in command.gates:
                apply(gate, planes, full)
            scored = i >= self.scored_from
            if (alive if scored else early_alive) & outside & find_unsafe(task, planes, full):
                raise Refuted(f"action {step.action} was done while it may lead into a state that must not be entered")
            wrong = planes[command.tap] ^ (full if step.reading else 0)
            if step.reading is not None and scored:
                alive ^= alive & slack.contradict(wrong, self.bars[i])
            elif step.reading is not None and self.early:
                early_alive ^= early_alive & early_slack.contradict(wrong, self.early[i])
        if task.about_current:
            other = find_rivals(task.rule, wanted, planes, full)
        return other, alive


class Slack:
    """For every hypothesis how many more contradictions it can bear, in planes, the least significant first.

    The bars that are to come, none of which is below the one before, say how many planes are needed.
    """

    def __init__(self, bars: list[int], full: int) -> None:
        first, last = (bars[0], bars[-1]) if bars else (1, 1)
        self.bar, self.full = first, full
        self.planes = [full if first - 1 >> i & 1 else 0 for i in range((last - 1).bit_length())]

    def contradict(self, wrong: int, bar: int) -> int:
        """Add what the bar has risen, take one where a reading was wrong, and return who could not bear it."""
        rise, self.bar, carry = bar - self.bar, bar, 0
        for i, plane in enumerate(self.planes if rise else []):
            bit = rise >> i & 1
            self.planes[i] = plane ^ carry ^ (self.full if bit else 0)
            carry = plane | carry if bit else plane & carry
        for i, plane in enumerate(self.planes):
            self.planes[i] = plane ^ wrong
            wrong &= self.planes[i]
        return wrong


def start_planes(task: PlantTask, size: int) -> list[int]:
    """A plane for every bit: hypothesis i is state i, or the i-th that is listed."""
    if task.states is not None:
        digits = [format(state, f"0{len(task.bits)}b") for state in reversed(task.states)]
        return [int("".join(column), 2) for column in reversed(list(zip(*digits, strict=True)))]
    planes: list[int] = []
    for b in range(len(task.bits)):
        width = 1 << b
        plane = (1 << width) - 1 << width
        while (width := 2 * width) < size:
            plane |= plane << width
        planes.append(plane)
    return planes


def apply(gate: Gate, planes: list[int], full: int) -> None:
    planes[gate.target] = gate_value(gate.op, planes[gate.target], planes[gate.first], planes[gate.second], full)


def gate_value(op: str, t: int, a: int, b: int, full: int) -> int:
    """The target after the gate: of one state, where `full` is 1, or of all at once."""
    match op:
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case "copy":
            return a
        case "set":
            return full
        case "clear":
            return 0
        case "not":
            return t ^ full
        case "cnot":
            return t ^ a
        case _:
            return t ^ (a & b)


def find_unsafe(task: PlantTask, planes: list[int], full: int) -> int:
    """The hypotheses that are now in a state that must not be entered."""
    unsafe = 0
    for state in task.never:
        unsafe |= full ^ find_others({b: bool(state >> b & 1) for b in range(len(planes))}, planes, full)
    return unsafe
