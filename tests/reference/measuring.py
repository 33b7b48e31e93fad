"""How often a certified policy is wrong, measured: importance sampling from the rivals, the hypotheses one by one.

A wrong answer under h at alpha = 2.5e-7 is never met by simulating h. Simulate instead the mixture of all hypotheses g
of other labels, and weigh each wrong answer with L_h / (mean of L_g) at the end: the mean of these terms is the
probability of a wrong answer under h, whatever the policy does. Likelihoods are recomputed from the model, and nothing
is taken from the policy but its actions and answers. For a product of tests, one factor is measured at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import Any, final

from ascertain.planning.composition import CertifiedTree
from ascertain.planning.sequential_tests import NOMINAL, LevelwiseTest
from ascertain.planning.two_sided import TwoSidedBounds
from ascertain.policy.policy import Answer, Ask
from ascertain.policy.product import Product
from ascertain.quotients.quotient import take_quotient
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task


@final
@dataclass(frozen=True)
class Measured:
    """An estimate and its standard error: an estimate above the evaluated risk by a few of these says nothing."""

    estimate: float
    error: float

    def __add__(self, other: Measured) -> Measured:
        return Measured(self.estimate + other.estimate, math.hypot(self.error, other.error))


NONE = Measured(0.0, 0.0)


def measure_wrong(question: Task | PlantTask, found: TwoSidedBounds, num_runs: int, seed: int) -> Measured | None:
    """An estimate for the worst hypothesis, or for a tree the largest sum over paths; None where there is no policy.

    The worst is found with few runs each and measured anew with many: the largest of noisy estimates is too large.
    """
    policy, random = found.policy, Random(seed)
    if isinstance(policy, Product):
        return sum((_Runs(f.task, f.policy, random).measure(0, num_runs) for f in policy.factors), NONE)
    if isinstance(policy, LevelwiseTest):
        return _measure_levels(policy, num_runs, random)
    if isinstance(policy, CertifiedTree):
        return _measure_tree(policy, 0, num_runs, random)
    if isinstance(question, Task) and hasattr(policy, "decide"):
        return _Runs(take_quotient(question).reduced, policy, random).measure_worst(num_runs)
    return None


def _measure_tree(tree: CertifiedTree, v: int, num_runs: int, random: Random) -> Measured:
    """The largest sum, over paths from v, of what the tests of its nodes are measured to err."""
    node = tree.node[v]
    own = NONE
    if node.test is not None:
        own = _Runs(node.test.policy.graph.tables.task, node.test.policy, random).measure_worst(num_runs)
    below = [_measure_tree(tree, child, num_runs, random) for child in tree.children[v]]
    return own + max(below, key=lambda one: one.estimate, default=NONE)


class _Runs:
    """Runs of one policy, with the laws of the model at hand as floats."""

    def __init__(self, task: Task, policy: Any, random: Random) -> None:
        self.task, self.policy, self.random = task, policy, random
        self.laws: dict[tuple[int, int], dict[int, float]] = {}

    def law(self, s: int, a: int) -> dict[int, float]:
        if (s, a) not in self.laws:
            self.laws[s, a] = {y: float(p) for y, p in self.task.model.reading_law(s, a).items()}
        return self.laws[s, a]

    def measure_worst(self, num_runs: int) -> Measured:
        """An estimate for the hypothesis that seems worst after a few runs each."""
        first = [self.measure(h, max(num_runs // 10, 2)).estimate for h in range(self.task.num_hypotheses)]
        return self.measure(first.index(max(first)), num_runs)

    def measure(self, h: int, num_runs: int) -> Measured:
        """The mean term of runs from the rivals of h, each rival as often as any other."""
        label: list[int] = self.task.label.tolist()
        rivals = [g for g, other in enumerate(label) if other != label[h]]
        if not rivals:
            return NONE
        return _summarise([self.run(h, rivals, rivals[i % len(rivals)]) for i in range(num_runs)])

    def run(self, h: int, rivals: list[int], source: int) -> float:
        """L_h / (mean of L_g) if the answer is wrong for h, else 0; logarithms, since likelihoods are small."""
        policy, successor = self.policy, self.task.model.successor
        everyone = [h, *rivals]
        where = {g: int(self.task.state[g]) for g in everyone}
        logs = dict.fromkeys(everyone, 0.0)
        memory = policy.start()
        while isinstance(decision := policy.decide(memory), Ask):
            a = decision.action
            law = self.law(where[source], a)
            reading = self.random.choices(list(law), list(law.values()))[0]
            for g in everyone:
                p = self.law(where[g], a).get(reading, 0.0)
                logs[g] = logs[g] + math.log(p) if p else -math.inf
                where[g] = int(successor[where[g], a])
            memory = policy.next(memory, reading)
        if not isinstance(decision, Answer) or decision.label == self.task.label[h]:
            return 0.0
        top = max(logs[g] for g in rivals)
        mixture = top + math.log(math.fsum(math.exp(logs[g] - top) for g in rivals) / len(rivals))
        return math.exp(logs[h] - mixture)


def _measure_levels(policy: LevelwiseTest, num_runs: int, random: Random) -> Measured:
    """One bit is wrong, and all are read as if none were: the weight of saying nominal all the same."""
    flip, bits = float(policy.flip), len(policy.actions)
    terms: list[float] = []
    for _ in range(num_runs):
        wrong_bit, memory, weight = random.randrange(bits), policy.start(), 0.0
        while isinstance(decision := policy.decide(memory), Ask):
            bit = policy.actions.index(decision.action)
            agrees = random.random() >= flip
            if bit == wrong_bit:
                weight += math.log(flip / (1 - flip)) if agrees else math.log((1 - flip) / flip)
            memory = policy.next(memory, policy.nominal[bit] if agrees else 1 - policy.nominal[bit])
        said = isinstance(decision, Answer) and decision.label == NOMINAL
        terms.append(math.exp(weight) if said else 0.0)
    return _summarise(terms)


def _summarise(terms: list[float]) -> Measured:
    mean = math.fsum(terms) / len(terms)
    return Measured(mean, math.sqrt(math.fsum((x - mean) ** 2 for x in terms)) / len(terms))
