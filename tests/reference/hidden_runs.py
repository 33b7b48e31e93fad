"""Whether a run on a hidden model has earned its answer, by summing over every path of states, and cases to ask about.

Nothing here looks at `ascertain_check`, nor at worlds. A likelihood is the sum, over all sequences of states, of the
probability that the plant goes that way and shows what was read: there is no filter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from random import Random

from ascertain.evidence.evidence import Step
from ascertain.model.hidden import HiddenModel, make_belief, make_joint
from ascertain.task.canonical import task_data
from ascertain.task.hidden_task import HiddenTask
from tests.reference.run_checker import World, switches_in_time
from tests.reference.run_claims import Case, Weights, canonical, claim_of

Ran = tuple[bool, ...]
"""Of the doubted actions, in order, which ran."""
HALF, ONE = Fraction(1, 2), Fraction(1)
ALPHAS = (Fraction(0), Fraction(1, 100), Fraction(1, 10), Fraction(1, 3))
POLICIES = ("eager", "staged", "readwise", "reuse")


@dataclass(frozen=True)
class HiddenCase(Case):
    """What is claimed of a run on a hidden model: candidates and the nominal are hypotheses."""

    @property
    def scored_from(self) -> int:
        return 0

    @property
    def listed(self) -> Weights:
        """The bank, which lists hypotheses."""
        assert self.bank is not None
        return self.bank

    @property
    def task(self) -> HiddenTask:
        assert isinstance(self.question, HiddenTask)
        return self.question


def cases_of(steps: tuple[Step, ...]) -> list[Ran]:
    return list(product((True, False), repeat=sum(not step.certain for step in steps)))


def is_in_time(case: HiddenCase) -> bool:
    """Whether the bank was compiled when the settings say."""
    claim, task = claim_of(case), json.loads(canonical(task_data(case.question)))
    return switches_in_time(World(task), claim["records"][0], claim["transcript"], case.switched)


def end_weights(case: HiddenCase, hypothesis: int, num_steps: int, ran: Ran) -> list[Fraction]:
    """For every state the probability of ending there after so many steps and of what was read on the way."""
    model, steps = case.task.model, case.steps[:num_steps]
    found = [Fraction(0)] * model.num_states
    for path in product(range(model.num_states), repeat=num_steps + 1):
        p = dict(case.task.belief[hypothesis]).get(path[0], Fraction(0))
        doubted = iter(ran)
        for step, s, t in zip(steps, path, path[1:], strict=False):
            if not step.certain and not next(doubted):
                p *= int(s == t)
            else:
                law = model.joint[s][step.action]
                p *= sum((q for u, y, q in law if u == t and step.reading in (None, y)), Fraction(0))
            if p == 0:
                break
        found[path[-1]] += p
    return found


def is_earned(case: HiddenCase) -> bool:
    """Whether what is claimed follows from the task, the commitment and the readings."""
    weights = [w for _, w in case.listed]
    if not weights or min(weights) <= 0 or sum(weights) > 1 or case.alpha > case.task.alpha:
        return False
    if sum(not step.certain for step in case.steps) > case.max_doubts or not has_right_bank(case):
        return False
    if not is_in_time(case):
        return False
    left = {(h, ran) for h in range(case.task.num_hypotheses) for ran in cases_of(case.steps)}
    for t in range(1, len(case.steps) + 1):
        if not all(allows(case, h, t - 1, ran) for h, ran in left):
            return False
        total = bank_sum(case, t)
        if total == 0:
            return False
        bar = case.shares[case.share] * total
        left = {(h, ran) for h, ran in left if sum(end_weights(case, h, t, ran)) > bar}
    return {case.task.labels[case.task.label[h]] for h, _ in left} == {case.label}


def has_right_bank(case: HiddenCase) -> bool:
    if case.nominal is None and case.policy != "eager":
        return False
    if case.switched is None or (case.policy == "eager" and case.switched > 0):
        alone = ((case.nominal, case.nominal_share if case.policy == "reuse" else ONE),)
        return case.policy != "eager" and case.bank == alone
    bank, n = dict(case.listed), case.task.num_hypotheses
    kept = {case.nominal: case.nominal_share} if case.policy == "reuse" else {}
    if case.committed is None or any(bank.get(h or 0, Fraction(0)) < w for h, w in kept.items()):
        return False
    rest = (1 - sum(kept.values(), Fraction(0))) / n
    return case.committed != "hypotheses" or bank == {h: rest + kept.get(h, Fraction(0)) for h in range(n)}


def allows(case: HiddenCase, hypothesis: int, num_steps: int, ran: Ran) -> bool:
    """Whether every state that may be the current one defines what is done next."""
    held = [s for s, w in enumerate(end_weights(case, hypothesis, num_steps, ran)) if w]
    return case.task.model.allows(held, case.steps[num_steps].action)


def bank_sum(case: HiddenCase, num_steps: int) -> Fraction:
    """Over candidates and cases of the doubted actions so far, their share times their likelihood."""
    total = Fraction(0)
    for h, w in case.listed:
        for ran in cases_of(case.steps[:num_steps]):
            share = w
            for yes in ran:
                share *= case.ran if yes else 1 - case.ran
            total += share * sum(end_weights(case, h, num_steps, ran))
    return total


def least_share(case: HiddenCase) -> Fraction | None:
    """The least share of alpha at which every case of every rival is beaten at some time; None if there is none."""
    rivals = [h for h in range(case.task.num_hypotheses) if case.task.labels[case.task.label[h]] != case.label]
    totals = [bank_sum(case, t) for t in range(1, len(case.steps) + 1)]
    if not rivals or not totals or min(totals) == 0:
        return None
    ratios = [
        min(sum(end_weights(case, h, t, ran)) / total for t, total in enumerate(totals, start=1))
        for h in rivals
        for ran in cases_of(case.steps)
    ]
    return max(ratios)


def at_the_threshold(case: HiddenCase, factor: Fraction = Fraction(1)) -> HiddenCase | None:
    """The case at the least alpha that will do, times a factor; None where no alpha does."""
    least = least_share(case)
    whole = replace(case, alpha=ONE)
    alpha = None if least is None else factor * least / whole.shares[whole.share]
    if alpha is None or not 0 < alpha < 1:
        return None
    return replace(case, alpha=alpha, question=replace(case.task, alpha=alpha))


# Random cases, most of them nearly true.


def random_law(rng: Random, n: int, num_readings: int) -> tuple[tuple[int, int, Fraction], ...]:
    cells = rng.sample(list(product(range(n), range(num_readings))), rng.randint(1, min(3, n * num_readings)))
    parts = [rng.choice((1, 1, 2, 7)) for _ in cells]
    return make_joint({cell: Fraction(part, sum(parts)) for cell, part in zip(cells, parts, strict=True)})


def random_belief(rng: Random, n: int) -> tuple[tuple[int, Fraction], ...]:
    return make_belief({s: rng.randint(1, 3) for s in rng.sample(range(n), rng.randint(1, n))})


def random_task(rng: Random) -> HiddenTask:
    n, num_actions, num_readings = rng.randint(1, 3), rng.randint(1, 2), rng.randint(1, 3)
    holes = rng.random() < 0.4
    model = HiddenModel(
        states=tuple(f"s{i}" for i in range(n)),
        actions=tuple(f"a{i}" for i in range(num_actions)),
        readings=tuple(f"y{i}" for i in range(num_readings)),
        joint=tuple(
            tuple(
                () if holes and (s, a) != (0, 0) and rng.random() < 0.2 else random_law(rng, n, num_readings)
                for a in range(num_actions)
            )
            for s in range(n)
        ),
    )
    drawn = [(random_belief(rng, n), rng.randrange(2)) for _ in range(rng.randint(1, 3))]
    pairs = list(dict.fromkeys(drawn))
    return HiddenTask(
        model=model,
        belief=tuple(belief for belief, _ in pairs),
        name=tuple(f"h{i}" for i in range(len(pairs))),
        label=tuple(k for _, k in pairs),
        labels=("good", "bad"),
        cost=(ONE,) * num_actions,
        alpha=rng.choice(ALPHAS),
    )


def random_steps(rng: Random, task: HiddenTask, truth: int) -> tuple[Step, ...]:
    """What is done and read when a hypothesis is true, now and then a reading lost or an action doubted."""
    model, steps = task.model, list[Step]()
    state = rng.choice([s for s, _ in task.belief[truth]])
    for _ in range(rng.randint(0, 5)):
        a = rng.randrange(model.num_actions)
        law = model.joint[state][a]
        if not law:
            continue
        t, y, _ = max(law, key=lambda end: (end[2] * rng.choice((1, 1, 1, 9)), end[:2]))
        chance = rng.random()
        if chance < 0.1 and sum(not step.certain for step in steps) < 2:
            steps.append(Step(a, None, certain=False))
            state = rng.choice((state, t))
            continue
        steps.append(Step(a, None if chance < 0.17 else y))
        state = t
    return tuple(steps)


def random_case(rng: Random) -> HiddenCase:
    task = random_task(rng)
    n, truth = task.num_hypotheses, rng.randrange(task.num_hypotheses)
    steps = random_steps(rng, task, truth)
    nominal = truth if rng.random() < 0.6 else rng.randrange(n)
    policy = rng.choice(POLICIES)
    switched = 0 if policy == "eager" else rng.choice((None, len(steps), rng.randint(0, len(steps))))
    share = rng.choice((HALF, Fraction(2, 3)))
    bank, committed = ((nominal, share if policy == "reuse" else ONE),), "by hand"
    if switched is not None:
        chosen = sorted({truth, *rng.sample(range(n), rng.randint(1, n))})
        committed = rng.choice(("by hand", "hypotheses"))
        chosen = list(range(n)) if committed == "hypotheses" else chosen
        mixed = {h: Fraction(1, len(chosen)) for h in chosen}
        if policy == "reuse" and rng.random() < 0.9:
            mixed = {h: (1 - share) * w for h, w in mixed.items()}
            mixed[nominal] = mixed.get(nominal, Fraction(0)) + share
        bank = tuple(sorted(mixed.items()))
    drawn = HiddenCase(
        question=task,
        label=task.labels[task.label[truth]],
        steps=steps,
        bank=bank,
        policy=policy,
        nominal=nominal,
        switched=switched,
        alpha=task.alpha,
        nominal_share=share,
        ran=rng.choice((HALF, Fraction(1, 3), Fraction(2, 3))),
        committed=committed,
    )
    sharp = at_the_threshold(drawn, rng.choice((ONE, Fraction(999, 1000)))) if rng.random() < 0.5 else None
    return sharp or drawn


def spoilt(rng: Random, case: HiddenCase) -> HiddenCase:
    """The case with one thing changed, whose consequences are carried through the whole claim."""
    return rng.choice(list(changes(rng, case)))


def changes(rng: Random, case: HiddenCase) -> Iterator[HiddenCase]:
    steps, bank, model = list(case.steps), list(case.listed), case.task.model
    if steps:
        i = rng.randrange(len(steps))
        step = replace(steps[i], reading=rng.randrange(len(model.readings)), certain=True)
        yield replace(case, steps=(*steps[:i], step, *steps[i + 1 :]))
        fewer = (*steps[:i], *steps[i + 1 :])
        yield replace(case, steps=fewer, switched=case.switched and min(case.switched, len(fewer)))
    h, w = rng.choice(bank)
    other = w * rng.choice((HALF, Fraction(3, 2), Fraction(1, 1000)))
    yield replace(case, bank=tuple((g, other if g == h else v) for g, v in bank))
    yield replace(case, label=rng.choice(case.task.labels))
    yield replace(case, alpha=rng.choice((*ALPHAS, case.alpha * 2)))
    yield replace(case, policy=rng.choice(POLICIES))
    yield replace(case, switched=rng.choice((None, rng.randint(0, len(steps)))))
    yield replace(case, committed=rng.choice((None, "by hand", "hypotheses")))
    yield replace(case, max_doubts=rng.randint(0, 1), ran=rng.choice((HALF, Fraction(9, 10))))
    yield replace(case, nominal=rng.choice((None, *range(case.task.num_hypotheses))))
    if len(steps) < 5:
        place = rng.randint(0, len(steps))
        added = Step(rng.randrange(model.num_actions), None, rng.random() < 0.5)
        yield replace(case, steps=(*steps[:place], added, *steps[place:]))
