"""A second checker of the claim `run`, written from docs/certificate-format.md alone: files in, true or false out.

It takes files that are well formed, follows every hypothesis and every candidate by itself, once for each case of the
actions that may not have run, in fractions, and computes everything again at every step. Nothing of `ascertain` or of
`ascertain_check` is used.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from hashlib import sha256
from itertools import product
from typing import Any

Belief = dict[int, Fraction]
Steps = list[list[Any]]
"""[action, reading or null, whether it is certain that it ran]."""
SURE = Fraction(1)
MIXED = ("reuse", "incremental")


def canonical(data: object) -> bytes:
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def holds(task: dict[str, Any], claim: dict[str, Any]) -> bool:
    """Whether the claim is proved."""
    told = tell(claim["records"])
    if told is None or head_of(claim["records"]) != claim["head"]:
        return False
    steps, stages, label, resets = told
    first = claim["records"][0]
    settings = first["settings"]
    switched = stages[0]["after"] if stages else None
    world = World(task)
    own = sha256(canonical(task)).hexdigest()
    if (
        first["task_sha256"] != own
        or settings["task"] != own
        or label != claim["label"]
        or steps != claim["transcript"]
    ):
        return False
    if len(stages) > 1 and settings["policy"] != "incremental":
        return False
    if not all(world.is_reset(steps[i][0]) for i in resets):
        return False
    return (
        keeps_to_settings(world, settings, steps, bool(resets))
        and has_right_bank(world, first, claim, stages)
        and has_right_shares(world, settings, claim, switched)
        and switches_in_time(world, first, steps, switched)
        and is_answered(world, settings, claim, switched)
    )


# Records.


def head_of(records: list[dict[str, Any]]) -> str:
    head = "0" * 64
    for record in records:
        head = sha256(head.encode() + b"\n" + canonical(record)).hexdigest()
    return head


def tell(records: list[dict[str, Any]]) -> tuple[Steps, list[dict[str, Any]], str, list[int]] | None:
    """Steps, stage records, the answer, and the steps that must be resets; None where the order is wrong."""
    if records[0]["record"] != "commitment":
        return None
    steps: Steps = []
    stages: list[dict[str, Any]] = []
    resets: list[int] = []
    named = failed = False
    answer: str | None = None
    open_action: int | None = None
    before = ""
    for number, record in enumerate(records[1:]):
        kind = record["record"]
        due = bool(resets) and resets[-1] == len(steps)
        if answer is not None or (failed and kind != "plant"):
            return None
        if kind == "plant":
            if number and not (failed and named):
                return None
            resets += [len(steps)] if number else []
            named, failed, open_action = True, False, None
        elif kind == "intent":
            if open_action is not None and not (due and open_action == record["action"]):
                return None
            open_action = record["action"]
        elif kind in ("reading", "doubt"):
            if open_action != record["action"] or (due and kind == "doubt"):
                return None
            steps.append([record["action"], record.get("reading"), kind == "reading"])
            open_action = None
        elif kind == "stage":
            if open_action is not None or record["after"] != len(steps):
                return None
            stages.append(record)
        elif kind == "verdict" and record["verdict"] == "abstained":
            if record.get("cause") != "plant" or record["label"] is not None:
                return None
            if before == "doubt":
                steps.pop()
            failed, open_action = True, None
        elif kind == "verdict":
            if open_action is not None or due or record["verdict"] != "certified" or record["reason"] is not None:
                return None
            answer = record["label"]
        else:
            return None
        before = kind
    return None if answer is None else (steps, stages, answer, resets)


# The world.


class World:
    """What the task says, by the definition."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.task, self.model = task, task["model"]
        self.kind = self.model["kind"]
        self.hidden, self.plant = self.kind == "hidden", self.kind == "boolean"
        self.alpha = Fraction(task["alpha"])
        self.num_actions = len(self.model["commands" if self.plant else "actions"])
        self.actions = task["actions"] if self.plant else list(range(self.num_actions))

    def hypotheses(self) -> Iterator[tuple[Belief, Callable[[int], str]]]:
        """Where each may begin, and its right answer once the plant is in a state."""
        task = self.task
        if self.plant:
            every = range(1 << len(self.model["bits"])) if task["hypotheses"] is None else task["hypotheses"]
            for s in every:
                yield {s: SURE}, (self.label_of if task["about"] == "current" else lambda _, s=s: self.label_of(s))
        elif self.hidden:
            for _, belief, k in task["hypotheses"]:
                yield {s: Fraction(p) for s, p in belief}, lambda _, k=k: task["labels"][k]
        else:
            for s, k in task["hypotheses"]:
                if task["current"] is None:
                    yield {s: SURE}, lambda _, k=k: task["labels"][k]
                else:
                    yield {s: SURE}, lambda t: task["labels"][task["current"][t]]

    def candidate(self, number: int) -> Belief:
        if not self.hidden:
            return {number: SURE}
        return {s: Fraction(p) for s, p in self.task["hypotheses"][number][1]}

    def label_of(self, s: int) -> str:
        rule, bits = self.task["label"], self.model["bits"]
        if rule[0] == "state":
            return format(s, f"0{len(bits)}b")
        if rule[0] == "bits":
            return " ".join(f"{bits[i]}={s >> i & 1}" for i in rule[1])
        if rule[0] == "nominal":
            return "nominal" if s == rule[1] else "other"
        stack: list[int] = []
        for word in rule[1]:
            if word in ("and", "or", "xor"):
                x, y = stack.pop(), stack.pop()
                stack.append({"and": x & y, "or": x | y, "xor": x ^ y}[word])
            elif word == "not":
                stack.append(1 - stack.pop())
            else:
                stack.append(int(word) if isinstance(word, str) else s >> word & 1)
        return "true" if stack.pop() else "false"

    def law(self, s: int, a: int) -> list[tuple[int, int, Fraction]] | None:
        """(next state, reading, probability); None where the action is not allowed."""
        model = self.model
        if self.plant:
            flip, (t, tapped) = Fraction(model["flip"]), self.command(s, a)
            return [(t, tapped, 1 - flip), *([(t, 1 - tapped, flip)] if flip else [])]
        number = model["output" if self.kind == "machine" else "law"][s][a]
        if number is None:
            return None
        if self.hidden:
            return [(t, y, Fraction(p)) for t, y, p in model["laws"][number]]
        t = model["successor"][s][a]
        return (
            [(t, number, SURE)] if self.kind == "machine" else [(t, y, Fraction(p)) for y, p in model["laws"][number]]
        )

    def command(self, s: int, a: int) -> tuple[int, int]:
        _, gates, tap = self.model["commands"][a]
        for op, t, *sources in gates:
            x, y = [*(s >> i & 1 for i in sources), 0, 0][:2]
            old = s >> t & 1
            new = {
                "and": x & y, "or": x | y, "xor": x ^ y, "copy": x, "set": 1, "clear": 0,
                "not": 1 - old, "cnot": old ^ x, "toffoli": old ^ (x & y),
            }[op]  # fmt: skip
            s = s & ~(1 << t) | new << t
        return s, s >> tap & 1

    def counts(self, s: int, a: int) -> list[tuple[int, int, Fraction]] | None:
        """The same with what a reading counts in place of its probability, where noise is a bound."""
        law = self.law(s, a)
        if law is None or "at_most" not in self.model or len(law) == 1:
            return law if law is None or "at_most" not in self.model else [(t, y, SURE) for t, y, _ in law]
        f = Fraction(self.model["at_most"])
        silence, lost = self.model.get("lost", [None, "0"])
        lost = Fraction(lost)
        m = (1 - f) * (1 - lost)
        (right,) = [y for _, y, p in law if p == (1 - f * (1 - lost) if y == silence else m)]
        if not lost:
            return [(t, y, 1 - f if y == right else f) for t, y, _ in law]
        return [(t, y, SURE if y == right else (1 - m) / (1 - f) if y == silence else f / m) for t, y, _ in law]

    def move(self, belief: Belief, a: int, reading: int | None) -> Belief:
        """The weights after an action that ran; states that do not allow it lose theirs."""
        after: Belief = {}
        for s, w in belief.items():
            law = self.counts(s, a) or []
            if not self.hidden and law:
                share = SURE if reading is None else sum((p for _, y, p in law if y == reading), Fraction(0))
                after[law[0][0]] = w * share
            elif self.hidden:
                for t, y, p in law:
                    if reading in (None, y):
                        after[t] = after.get(t, Fraction(0)) + w * p
        return after

    def allows(self, belief: Belief, a: int) -> bool:
        return all(self.law(s, a) is not None for s in belief)

    def everywhere(self) -> bool:
        """Whether every action is allowed at any time."""
        if self.plant:
            return not self.task["never"]
        return all(None not in row for row in self.model["law" if self.hidden else "successor"])

    def is_noisy(self) -> bool:
        if self.plant:
            return Fraction(self.model["flip"]) > 0
        beliefs = [belief for _, belief, _ in self.task["hypotheses"]] if self.hidden else []
        return any(len(law) > 1 for law in [*self.model.get("laws", []), *beliefs])

    def num_readings(self, a: int) -> int:
        if self.plant:
            return 2
        states = range(len(self.model["states"]))
        return len({y for s in states for _, y, _ in self.law(s, a) or []})

    def is_reset(self, a: int) -> bool:
        if self.kind != "machine":
            return False
        successor, output = self.model["successor"], self.model["output"]
        for start, _ in self.task["hypotheses"]:
            part = {start}
            for _ in successor:
                part |= {t for s in part for t in successor[s] if t is not None}
                part |= {s for s, row in enumerate(successor) if part & {t for t in row if t is not None}}
            if len({(successor[s][a], output[s][a]) for s in part}) > 1 or successor[start][a] is None:
                return False
        return True


# What the settings say.


def keeps_to_settings(world: World, settings: dict[str, Any], steps: Steps, failed: bool) -> bool:
    done = Counter(a for a, _, _ in steps)
    if len(steps) > settings["budget"] or any(done[a] > most for a, most in settings["limits"]):
        return False
    if not set(done) <= set(world.actions) or sum(not certain for _, _, certain in steps) > settings["doubts"][0]:
        return False
    lost = sum(y is None and certain for _, y, certain in steps)
    if world.is_noisy() and lost > settings.get("losses", 10):
        return False
    if settings["probing"] != "round-robin" or settings["limits"] or failed or not turn_is_certain(world):
        return True
    sensors: dict[int, list[int]] = {}
    for a in world.actions:
        sensors.setdefault(world.model["commands"][a][2] if world.plant else a, []).append(a)
    order = [sensors[sensor] for sensor in sorted(sensors)]
    n = len(order)
    return all(a == order[i % n][i // n % len(order[i % n])] for i, (a, _, _) in enumerate(steps))


def turn_is_certain(world: World) -> bool:
    if not world.everywhere():
        return False
    if world.plant:
        gates = [gate for a in world.actions for gate in world.model["commands"][a][1]]
        return world.task["about"] == "current" or all(gate[0] in ("not", "cnot", "toffoli") for gate in gates)
    if world.hidden or world.task["current"] is not None:
        return True
    columns = zip(*world.model["successor"], strict=True)
    return all(len(set(column)) == len(column) for column in columns)


def has_right_shares(world: World, settings: dict[str, Any], claim: dict[str, Any], switched: int | None) -> bool:
    alpha, policy = Fraction(settings["alpha"]), settings["policy"]
    early = alpha * Fraction(settings["nominal_share"])
    if policy == "eager":
        name, shares, scored = "fallback", {"fallback": alpha}, 0
    elif policy in MIXED:
        name, shares, scored = "mixture", {"mixture": alpha}, 0
    else:
        name, shares = "nominal" if switched is None else "fallback", {"nominal": early, "fallback": alpha - early}
        scored = 0 if world.hidden else switched or 0
    stated = {key: Fraction(share) for key, share in claim["shares"].items()}
    return (stated, claim["share"], claim["scored_from"]) == (shares, name, scored) and alpha <= world.alpha


def bank_of(world: World, claim: dict[str, Any]) -> dict[int, Fraction]:
    if claim["bank"] == "all states":
        size = 1 << len(world.model["bits"])
        return dict.fromkeys(range(size), Fraction(1, size))
    return {s: Fraction(w) for s, w in claim["bank"]}


def has_right_bank(world: World, first: dict[str, Any], claim: dict[str, Any], stages: list[dict[str, Any]]) -> bool:
    settings, committed = first["settings"], first["bank"]
    if claim["bank"] == "all states" and not (world.plant and world.task["hypotheses"] is None):
        return False
    bank = bank_of(world, claim)
    kept = Fraction(settings["nominal_share"]) if settings["policy"] in MIXED else Fraction(0)
    nominal = settings["nominal"]
    if sum(bank.values()) > 1 or (settings["policy"] != "eager" and nominal is None):
        return False
    if not stages:
        return settings["policy"] != "eager" and claim["bank"] == [[nominal, str(kept or 1)]]
    if sha256(canonical(claim["bank"])).hexdigest() != stages[-1]["bank_sha256"] or committed is None:
        return False
    if settings["policy"] == "eager" and stages[0]["after"] > 0:
        return False
    if claim["bank"] == "all states" and (kept or committed.get("kind") != "hypotheses"):
        return False
    if kept and bank.get(nominal, Fraction(0)) < kept:
        return False
    if committed.get("kind") != "hypotheses":
        return True
    listed: Any = world.task["hypotheses"]
    if world.plant:
        listed = listed or range(1 << len(world.model["bits"]))
    else:
        listed = range(len(listed)) if world.hidden else {s for s, _ in listed}
    return bank == {s: (1 - kept) / len(listed) + (kept if s == nominal else 0) for s in listed}


def switches_in_time(world: World, first: dict[str, Any], steps: Steps, switched: int | None) -> bool:
    settings = first["settings"]
    if settings["policy"] == "eager":
        return True
    last = len(steps) if switched is None else switched
    due = False
    for i in range(last + 1):
        least = trigger(world, settings["nominal"], steps[:i])
        if least == "not allowed":
            return False
        due = is_due(first, i, least)
        if due and i < last:
            return False
    if switched is None or due:
        return True
    return (settings["policy"] in MIXED or world.hidden) and (bool(settings["limits"]) or not world.everywhere())


def is_due(first: dict[str, Any], i: int, least: Any) -> bool:
    settings = first["settings"]
    if first["bank"] is not None and i >= settings.get("nominal_budget", i + 1):
        return True
    if least is None:
        return True
    exceeds = settings["policy"] != "staged" and least > 1 + Fraction(settings["threshold"])
    return exceeds or least >= 1 / Fraction(settings["rejection"])


def trigger(world: World, nominal: int, steps: Steps) -> Any:
    """The least T over the cases of the doubts; None where it is infinite."""
    found: list[Fraction] = []
    for ran in cases_of(steps):
        ratios: list[Fraction] | None = []
        place = world.candidate(nominal)
        for (a, y, _), done in zip(steps, ran, strict=True):
            if not world.allows(place, a):
                return "not allowed"
            if not done:
                continue
            if y is not None and ratios is not None:
                whole = sum(place.values())
                k = sum((w * p for s, w in place.items() for _, z, p in world.law(s, a) or [] if z == y), Fraction(0))
                ratios = [*ratios, whole / (world.num_readings(a) * k)] if k else None
            led = {(world.law(s, a) or [])[0][0]: SURE for s in place}
            place = world.move(place, a, y) if world.hidden else led
        if ratios is not None:
            products = []
            for j in (1, 2, 4, 8, 16):
                product_of = SURE
                for ratio in ratios:
                    product_of *= 1 - Fraction(j, 16) + Fraction(j, 16) * ratio
                products.append(product_of)
            found.append(sum(products, Fraction(0)) / 5)
    return min(found, default=None)


# The evidence.


def cases_of(steps: Steps) -> Iterator[list[bool]]:
    """Which actions ran."""
    for ran in product((True, False), repeat=sum(not certain for _, _, certain in steps)):
        left = iter(ran)
        yield [certain or next(left) for _, _, certain in steps]


def likelihoods(world: World, belief: Belief, steps: Steps, ran: list[bool], scored_from: int) -> list[Belief]:
    """The weights before the first step and after each."""
    found = [belief]
    for i, (a, y, _) in enumerate(steps):
        moved = world.move(found[-1], a, y if i >= scored_from else None)
        if not ran[i]:  # where it is not allowed, it is lost all the same
            moved = {s: w for s, w in found[-1].items() if world.law(s, a) is not None}
        found.append(moved)
    return found


def sums(
    world: World, bank: dict[int, Fraction], steps: Steps, scored_from: int, ran_weight: Fraction
) -> list[Fraction]:
    total = [Fraction(0)] * (len(steps) + 1)
    for number, w in bank.items():
        for ran in cases_of(steps):
            share = w
            for (_, _, certain), done in zip(steps, ran, strict=True):
                share *= SURE if certain else ran_weight if done else 1 - ran_weight
            beliefs = likelihoods(world, world.candidate(number), steps, ran, scored_from)
            total = [x + share * sum(b.values()) for x, b in zip(total, beliefs, strict=True)]
    return total


def is_answered(world: World, settings: dict[str, Any], claim: dict[str, Any], switched: int | None) -> bool:
    steps, start = claim["transcript"], claim["scored_from"]
    share, ran_weight = Fraction(claim["shares"][claim["share"]]), Fraction(settings["doubts"][1])
    total = sums(world, bank_of(world, claim), steps, start, ran_weight)
    early_share = Fraction(settings["alpha"]) * Fraction(settings["nominal_share"])
    early_total = sums(world, {settings["nominal"]: SURE}, steps, 0, ran_weight) if start else []
    if total[-1] == 0:
        return False
    left: set[str] = set()
    for belief, label in world.hypotheses():
        for ran in cases_of(steps):
            beliefs = likelihoods(world, belief, steps, ran, start)
            early = likelihoods(world, belief, steps, ran, 0) if start else []
            beaten = early_beaten = False
            for i, (a, _, _) in enumerate(steps):
                beaten = beaten or sum(beliefs[i].values()) <= share * total[i]
                if i < start:
                    early_beaten = early_beaten or sum(early[i].values()) <= early_share * early_total[i]
                if not beaten and not world.allows(beliefs[i], a):
                    return False
                if world.plant and ran[i] and not (beaten if i >= start else early_beaten):
                    (s,) = beliefs[i]
                    if s not in world.task["never"] and world.command(s, a)[0] in world.task["never"]:
                        return False
            beaten = beaten or sum(beliefs[-1].values()) <= share * total[-1]
            if not beaten:
                left |= {label(s) for s in beliefs[-1]} or {label(0)}
    return left == {claim["label"]}
