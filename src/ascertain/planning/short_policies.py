"""Short policies: the best one of a few actions, by an integer program over all histories of that length.

The other searches of this folder look for policies that forget their history but for an information state, and that
settle what they are asked with little risk left over. At large risks neither is of much use: a policy of two or three
actions may be the best, and which of two histories with the same likelihoods ends in an abstention makes the difference
between keeping to the risks and not. In particular an action that tells nothing is a coin, which such a policy may
need: after one reading it answers, after another one it does not.

So all *histories* up to some length are listed, without merging any. Let x[t, d] be 1 where history t is met and
decision d is taken there, p_h(t) the product of the probabilities that t is read under hypothesis h. Then

    sum over d of x[t, d] = 1 at the start, and x[t', a] at the history t that continues t' by action a and a reading,

and what a policy costs, errs and abstains under h is linear in x, with coefficients p_h(t). The program that minimises
the largest cost within the risks has a policy of at most so many actions as its solution, the best one of them; it is
solved in floats, and the policy is then evaluated in rationals, so that one that meets a risk exactly is not lost. It
proves no lower bound: longer policies may be cheaper.

Throughout: t is a history, h a hypothesis, a an action, y a reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast, final

import numpy as np

from ascertain.errors import LimitError
from ascertain.planning.factors import Risk
from ascertain.planning.limits import DEFAULT_LIMITS, SearchLimits
from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action

ABSTAIN = -1
"""The decision to abstain; answers are -2 - label, and actions what they are."""
MARGINS = (0.0, 1e-5)
"""Parts of the risks that are kept back: none, then more than the tolerance of the solver, if it broke a risk."""
MAX_WORK = 100_000
"""Nodes of the solver's own search times histories: a second or two, by when it has mostly proved its best policy."""


@final
@dataclass(frozen=True)
class ShortPolicy:
    """A policy that keeps to the risks, and what it achieves, exactly."""

    policy: Automaton
    cost: Fraction
    risk: Risk
    """Probabilities of a wrong answer and of an abstention under the worst hypothesis."""


@final
@dataclass(frozen=True, eq=False)
class _History:
    """Where each hypothesis would be, and how probable the readings are under it, which is 0 where it is excluded."""

    state: tuple[int, ...]
    chance: tuple[Fraction, ...]
    after: dict[Action, dict[int, int]]
    """`after[a][y]`; empty where nothing is asked."""


def find_short_policy(
    task: Task, alpha: Fraction, beta: Fraction, limits: SearchLimits = DEFAULT_LIMITS, enough: Fraction = Fraction(0)
) -> ShortPolicy | None:
    """The cheapest policy of few actions, if one keeps to the risks; one that costs at most `enough` will do.

    Longer policies are looked for as long as there are no more than `limits.max_histories` histories. LimitError where
    even those of one action are too many.
    """
    search = _Search(task, alpha, beta, limits)
    best: ShortPolicy | None = None
    while search.lengthen() and not limits.is_over:
        found = search.solve() if search.may_be_enough() else None
        if best is not None and (found is None or found.cost >= best.cost):
            break  # one action more was of no use
        best = found
        if best is not None and best.cost <= max(enough, min(task.cost)):
            break  # nobody who asks at all asks for less
    return best


class _Search:
    """All histories up to some length, and the program over them."""

    def __init__(self, task: Task, alpha: Fraction, beta: Fraction, limits: SearchLimits) -> None:
        self.task, self.alpha, self.beta, self.limits = task, alpha, beta, limits
        self.laws = [dict(law) for law in task.model.laws]
        start: tuple[int, ...] = tuple(task.state.tolist())
        self.told = np.zeros((len(start), len(start)))
        """`told[h, g]`: the largest ratio of the probabilities of one history under h and under g."""
        self.history = [_History(start, (Fraction(1),) * len(start), {})]
        self.frontier = [0]

    def lengthen(self) -> bool:
        """Add the histories that are one action longer; False when there are none, or too many."""
        frontier: list[int] = []
        for t in self.frontier:
            for a in self.list_useful(self.history[t]):
                after = self.history[t].after.setdefault(a, {})
                for y, longer in self.extend(self.history[t], a).items():
                    after[y] = len(self.history)
                    frontier.append(len(self.history))
                    self.history.append(longer)
                    self.compare(longer)
                    if len(self.history) > self.limits.max_histories:
                        return self.give_up()
        self.frontier = frontier
        return bool(frontier)

    def compare(self, history: _History) -> None:
        chance = np.array([float(p) for p in history.chance])
        with np.errstate(divide="ignore", invalid="ignore"):
            self.told = np.fmax(self.told, chance[:, None] / chance[None, :])

    def may_be_enough(self) -> bool:
        """Whether some history tells every two hypotheses of different labels well enough apart.

        Under h the histories that end with its label have probability 1 - alpha - beta, under a rival alpha at most: so
        one of them has a ratio that is as large. Where the current state is asked for labels may come to agree.
        """
        label = self.task.label
        rivals = (label[:, None] != label[None, :]) & (self.task.about == "start")
        needed = float((1 - self.alpha - self.beta) / self.alpha) * (1 - 1e-9)
        return bool((self.told[rivals] >= needed).all())

    def give_up(self) -> bool:
        if self.frontier == [0]:
            raise LimitError(f"one action leads to more than {self.limits.max_histories} different readings")
        return False

    def right(self, history: _History, h: int) -> int:
        """The answer that is right after a history."""
        of_state = self.task.state_label
        return int(self.task.label[h] if of_state is None else of_state[history.state[h]])

    def list_useful(self, history: _History) -> list[Action]:
        """What may be asked and could be of use: nothing where one label is left. A coin with two sides is of use.

        Every hypothesis that is not excluded must allow the action.
        """
        alive = [h for h, p in enumerate(history.chance) if p]
        if len({self.right(history, h) for h in alive}) == 1:
            return []
        places = sorted({history.state[h] for h in alive})
        after, behaviour = self.task.model.successor[places], self.task.model.behaviour[places]
        useful: list[Action] = []
        for a in self.task.actions:
            laws: list[int] = behaviour[:, a].tolist()
            readings = {y for k in laws if k != UNDEFINED for y in self.laws[k]}
            if bool((after[:, a] != UNDEFINED).all()) and (bool((after[:, a] != places).any()) or len(readings) > 1):
                useful.append(a)
        return useful

    def extend(self, history: _History, a: Action) -> dict[int, _History]:
        """The histories after action a, by reading."""
        model = self.task.model
        alive = [p > 0 for p in history.chance]
        pairs = list(zip(history.state, alive, strict=True))
        state = tuple(int(model.successor[s, a]) if lives else s for s, lives in pairs)
        nothing = dict[int, Fraction]()
        laws = [self.laws[int(model.behaviour[s, a])] if lives else nothing for s, lives in pairs]
        return {
            y: _History(
                state,
                tuple(p * law.get(y, Fraction(0)) for p, law in zip(history.chance, laws, strict=True)),
                {},
            )
            for y in sorted({y for law in laws for y in law})
        }

    def solve(self) -> ShortPolicy | None:
        """The best policy on the histories so far."""
        for margin in MARGINS:
            decision = self.minimise(margin)
            if decision is None:
                return None
            found = self.conclude(decision)
            if found.risk[0] <= self.alpha and found.risk[1] <= self.beta:
                return found
        return None

    def minimise(self, margin: float) -> dict[int, int] | None:
        """The decision at each history that is met, of the best policy; None where the program has no solution."""
        from scipy.optimize import Bounds, LinearConstraint, milp  # pyright: ignore[reportUnknownVariableType]
        from scipy.sparse import csr_array

        met = [(t, d) for t, history in enumerate(self.history) for d in self.list_decisions(history)]
        index = {pair: k for k, pair in enumerate(met)}
        n, size = self.task.num_hypotheses, len(met)
        # One row for each history, then costs, errors and abstentions under each hypothesis; the last unknown is the
        # largest cost. Risks are counted in parts of what is allowed.
        rows, columns, entries = list[int](), list[int](), list[float]()
        first = len(self.history)
        for k, (t, d) in enumerate(met):
            here = [(t, 1.0), *((first + i, float(x)) for i, x in enumerate(self.count(t, d)) if x)]
            here += [(u, -1.0) for u in self.history[t].after.get(d, {}).values()]
            rows += [row for row, _ in here]
            columns += [k] * len(here)
            entries += [x for _, x in here]
        rows += range(first, first + n)
        columns += [size] * n
        entries += [-1.0] * n
        matrix = cast("Any", csr_array)((entries, (rows, columns)), shape=(first + 3 * n, size + 1))
        upper = np.concatenate([[1.0], np.zeros(first - 1), np.zeros(n), np.full(2 * n, 1 - margin)])
        lower = np.concatenate([upper[:first], np.full(3 * n, -np.inf)])
        goal, whole = np.zeros(size + 1), np.ones(size + 1)
        goal[size], whole[size] = 1.0, 0.0
        most = np.ones(size + 1)
        most[size] = np.inf
        found = cast(
            "Any",
            milp(
                goal,
                integrality=whole,
                bounds=cast("Any", Bounds)(np.zeros(size + 1), most),
                constraints=cast("Any", LinearConstraint)(matrix, lower, upper),
                options={
                    "node_limit": max(20, MAX_WORK // first),
                    "time_limit": self.limits.seconds,
                    "mip_rel_gap": 1e-6,
                },
            ),
        )
        if found.x is None:
            return None
        return {t: d for (t, d), k in index.items() if found.x[k] > 0.5}

    def list_decisions(self, history: _History) -> list[int]:
        return [ABSTAIN, *(-2 - label for label in range(len(self.task.labels))), *history.after]

    def count(self, t: int, d: int) -> list[Fraction]:
        """Costs, errors and abstentions of one decision under each hypothesis, the latter in parts of the risks."""
        history, zero = self.history[t], [Fraction(0)] * self.task.num_hypotheses
        if d >= 0:
            return [*(self.task.cost[d] * p for p in history.chance), *zero, *zero]
        if d == ABSTAIN:
            return [*zero, *zero, *(p / self.beta for p in history.chance)]
        missed = (
            p / self.alpha if self.right(history, h) != -2 - d else Fraction(0) for h, p in enumerate(history.chance)
        )
        return [*zero, *missed, *zero]

    def conclude(self, decision: dict[int, int]) -> ShortPolicy:
        n = self.task.num_hypotheses
        total = [Fraction(0)] * (3 * n)
        action, label, children = list[int](), list[int](), list[dict[int, int]]()
        # Histories are numbered after those that they continue, and so are the nodes of the policy.
        queue = [0]
        for t in queue:
            d = decision.get(t, ABSTAIN)
            total = [x + more for x, more in zip(total, self.count(t, d), strict=True)]
            after = self.history[t].after.get(d, {})
            action.append(d if d >= 0 else NOWHERE)
            label.append(-2 - d if d < ABSTAIN else NOWHERE)
            children.append({y: len(queue) + k for k, y in enumerate(after)})
            queue += after.values()
        policy = Automaton(tuple(action), tuple(label), tuple(children))
        risk = max(total[n : 2 * n]) * self.alpha, max(total[2 * n :]) * self.beta
        return ShortPolicy(policy, max(total[:n]), risk)
