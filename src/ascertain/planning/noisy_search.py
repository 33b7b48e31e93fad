"""Both sides of a task with noise: all methods, one after the other, by what they give for their time.

`two_sided.py` says which methods there are and what each is called.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

import numpy as np

from ascertain.bounds.information import PairwiseBound, bound_by_information
from ascertain.bounds.program import ProgramBound, bound_by_program
from ascertain.errors import LimitError
from ascertain.interruption import whole_loading
from ascertain.planning.composition import Split, compose, skeleton
from ascertain.planning.factors import PricedChoice, Risk
from ascertain.planning.information_state import Slots, smallest_slots
from ascertain.planning.interpolation import bound_by_interpolation
from ascertain.planning.lagrangian import ABSTAIN_PRICE_RATIO, PricedPolicy, search_prices
from ascertain.planning.limits import SearchLimits
from ascertain.planning.minimax import (
    GOOD_RATIO,
    TIGHT_RATIO,
    bound_by_column_generation,
    find_minimax_policy,
    find_pruned_minimax_policy,
)
from ascertain.planning.multipliers import Branching, Multipliers
from ascertain.planning.ranked_openings import bound_by_ranked_openings
from ascertain.planning.short_policies import find_short_policy
from ascertain.search.exact import solve
from ascertain.search.solution import Bounded, Solved
from ascertain.task.task import Task
from ascertain.types import FloatArray

BoundProgress: TypeAlias = Callable[[Fraction, Fraction | None], None]
"""Called with the lower and the upper bound so far; None where no policy is known yet."""
MAX_NAMED = 4
"""With more hypotheses than this, ranked or nameless slots are enough: named ones have too many information states."""

_SPLITS: tuple[tuple[str, Split], ...] = (("uniform tree", "uniform"), ("tree", "best"))
"""The trees by the names of the output, the quicker one first."""
FEW_NODES = 15_000
"""Information states of the graph that a first policy is made from: about a second."""
LEAST_NODES = 1_000
"""Information states of the graph that a policy is made from when time is up: some tenths of a second."""
QUICK_RATIO = Fraction(125, 100)
"""Above so many times the lower bound a first policy is looked for on a pruned graph, before all else."""


class _Enough(Exception):
    """Both sides are as close as they have to be."""


@final
class NoisySearch:
    """All methods on one task, the best of each side kept; none takes down another."""

    def __init__(
        self,
        task: Task,
        alpha: Fraction,
        beta: Fraction,
        limits: SearchLimits,
        tell: Callable[[str], None] | None,
        progress: BoundProgress | None,
    ) -> None:
        self.task, self.alpha, self.beta, self.limits = task, alpha, beta, limits
        self.tell, self.progress, self.doing = tell, progress, ""
        self.known: tuple[Fraction, Fraction | None] = Fraction(0), None
        """Both sides as they were last told."""
        self.lower: dict[str, Fraction | None] = {}
        self.upper: dict[str, Fraction | None] = {}
        self.policies: dict[str, PricedChoice] = {}
        self.remarks: list[str] = []
        self.slots: Slots = smallest_slots(task)
        self.solved = False
        """Whether the smallest belief graph, without names, was searched."""
        self.multipliers: Multipliers | None = None
        self.branching: Branching | None = None
        self.too_large = False
        """Whether the belief graph with named slots is."""
        self.pairwise: PairwiseBound | None = None
        self.program: ProgramBound | None = None
        self.stopped_by: Literal["time", "interrupt"] | None = None
        """Why it ended before all methods were done, if it did."""

    @whole_loading()
    def run(self) -> None:
        """Look for both sides until they are close enough, the time is over, all was tried, or somebody interrupts."""
        try:
            with suppress(_Enough):
                self.try_all()
                self.stopped_by = "time" if self.limits.is_over else None
        except KeyboardInterrupt:
            self.stopped_by = "interrupt"

    def try_all(self) -> None:
        with self.isolated("pairwise"):
            self.pairwise = bound_by_information(self.task, self.alpha, self.beta)
            self.lower["pairwise"] = self.pairwise.value
        self.say("solving the program of expected visits, for the lower bound")
        with self.isolated("program"):
            most, seconds, known = self.limits.program_nodes, self.limits.seconds, self.pairwise
            self.program = bound_by_program(
                self.task, self.alpha, self.beta, max_nodes=most, time_limit=seconds, pairwise=known
            )
            self.lower["program"] = self.program.value
        if self.is_infinite:
            return
        # By what they give for their time: a few tenths of a second, up to seconds, and as long as it takes.
        self.try_short()
        self.try_smallest_prices()
        self.try_trees()
        self.try_pruned_prices()
        self.try_prices()
        self.try_minimax()
        self.try_at_last()

    @contextmanager
    def isolated(self, name: str) -> Generator[None]:
        """What a method found before it met a limit is kept, and which limit it was is remarked."""
        try:
            yield
        except LimitError as reason:
            self.remarks.append(f"{name}: {reason}")

    def say(self, doing: str | None = None) -> None:
        """Tell how far both sides are, and what is being done now; without it, that one of them may have changed."""
        now = self.best_lower, None if self.best is None else self.best[0]
        if self.progress is not None and now != self.known:
            self.progress(*now)
        if self.tell is not None and (doing is not None or now != self.known):
            self.doing = doing or self.doing
            upper = "?" if now[1] is None else f"{float(now[1]):.3f}"
            self.tell(f"{float(now[0]):.3f} <= cost <= {upper}: {self.doing}")
        self.known = now
        if self.is_within(self.limits.enough):
            raise _Enough

    @property
    def best(self) -> PricedChoice | None:
        return min(self.policies.values(), key=lambda one: one[0], default=None)

    @property
    def best_lower(self) -> Fraction:
        return max((value for value in self.lower.values() if value is not None), default=Fraction(0))

    @property
    def is_infinite(self) -> bool:
        """Whether the program has shown that no policy keeps to the risk."""
        return self.program is not None and self.program.value is None and not self.program.vacuous

    def offer(self, name: str, cost: Fraction, policy: Any, risk: Risk) -> None:
        known = self.policies.get(name)
        if known is None or cost < known[0]:
            self.upper[name], self.policies[name] = cost, (cost, policy, risk)
        self.say()

    def take(self, name: str, found: PricedPolicy) -> None:
        """Offer what a search has found, and note what its prices prove."""
        if found.best is not None:
            self.offer(name, found.best.cost, found.best.policy, found.best.risk.worst[:2])
        self.note_prices(found)

    def note_prices(self, found: PricedPolicy) -> None:
        known = self.lower.get("prices")
        if found.lower is not None and (known is None or found.lower > known):
            self.lower["prices"], self.multipliers = found.lower, found.multipliers
            self.say()

    def is_within(self, ratio: Fraction) -> bool:
        """Whether the best policy so far costs at most so many times the best lower bound so far."""
        return self.best is not None and self.best[0] <= ratio * self.best_lower

    def try_trees(self) -> None:
        """The paper's construction, and the same with the split optimised."""
        if self.is_within(GOOD_RATIO):
            return
        self.say("composing trees of tests")
        self.upper |= {name: None for name, _ in _SPLITS}
        with self.isolated("tree"):
            solution = solve(skeleton(self.task), time_limit=self.limits.seconds, prove="never", least_mean=False)
            if not isinstance(solution, Solved | Bounded) or solution.policy is None:
                return
            for name, split in _SPLITS:
                tree = compose(self.task, solution.policy, self.alpha, self.beta, self.limits, (split,))[split]
                if tree is not None:
                    self.offer(name, tree.cost, tree, (tree.wrong, tree.abstain))
                # Optimising the split takes ten times as long and saves a few hundredths, so that it may be left out.
                if tree is None or (self.best is not None and tree.cost > QUICK_RATIO * self.best[0]):
                    break

    def try_prices(self) -> None:
        """Price searches: on the smallest graph, with named slots, and pruned by expected visits if that is large."""
        if self.solved and self.task.num_hypotheses > MAX_NAMED:
            return
        self.too_large = not self.search("driven", "named")
        if self.too_large and not self.is_within(GOOD_RATIO):
            self.search("chernoff", "named", self.preference())

    def try_smallest_prices(self) -> None:
        """A price search on the smallest graph, where that has no names."""
        if self.slots != "named":
            self.solved = self.search(self.slots, self.slots) or self.slots == "ranked"

    def try_pruned_prices(self) -> None:
        """A first policy from a graph that is pruned to be small, by expected visits and without them."""
        few = replace(self.limits, max_nodes=min(FEW_NODES, self.limits.max_nodes))
        for name, preference in (("chernoff", self.preference()), ("driven", None)):
            if not self.is_within(QUICK_RATIO):
                self.search(name, "named", preference, few)

    def try_at_last(self) -> None:
        """Where time was up before anything was found: a search so small that it need not be timed."""
        if self.best is None and self.limits.is_over:
            least = replace(self.limits, until=math.inf, max_nodes=min(LEAST_NODES, self.limits.max_nodes))
            for slots in dict.fromkeys((self.slots, "named")):
                if self.best is None:
                    self.search("driven" if slots == "named" else slots, slots, limits=least)

    def search(
        self, name: str, slots: Slots, preference: FloatArray | None = None, limits: SearchLimits | None = None
    ) -> bool:
        """Offer the policy of a price search; whether the graph had all actions."""
        self.say(f"searching for a policy ({name})")
        self.upper.setdefault(name, None)
        with self.isolated(name):
            found = search_prices(
                self.task,
                self.alpha,
                self.beta,
                limits=limits or self.limits,
                preference=preference,
                slots=slots,
                report=lambda found: self.take(name, found),
            )
            return found.lower is not None
        return False

    def try_short(self) -> None:
        """Policies of a few actions, which are the best at large risks."""
        self.say("looking for a policy of a few actions")
        self.upper["short"] = None
        with self.isolated("short"):
            found = find_short_policy(self.task, self.alpha, self.beta, self.limits, TIGHT_RATIO * self.best_lower)
            if found is not None:
                self.offer("short", found.cost, found.policy, found.risk)

    def preference(self) -> FloatArray:
        """Expected visits of the program's solutions, each in parts of its largest."""
        table = np.zeros((self.task.num_hypotheses, self.task.model.num_actions))
        for h, visits in self.program.visits.items() if self.program is not None else ():
            if h < len(table) and float(visits.max(initial=0.0)) > 0:
                table[h] = visits / visits.max()
        return table

    def try_minimax(self) -> None:
        """The bound of column generation, and a minimax policy where the graph with named slots is small enough."""
        asked, limits = (self.task, self.alpha, self.beta), self.limits
        self.say("looking for a minimax policy")
        self.upper["balanced"] = None
        if self.slots != "named" or not self.too_large:
            with self.isolated("prices"):
                self.note_prices(bound_by_column_generation(*asked, limits))
        if self.too_large:
            if not self.is_within(GOOD_RATIO):
                with self.isolated("balanced"):
                    self.take("balanced", find_pruned_minimax_policy(*asked, limits, self.preference()))
            self.try_lower("interpolation", GOOD_RATIO, "on a grid", lambda: bound_by_interpolation(*asked, limits))
        elif not self.is_within(TIGHT_RATIO):
            with self.isolated("balanced"):
                found = find_minimax_policy(*asked, limits)
                self.take("balanced", found)
                self.lower["openings"], self.branching = found.branched, found.branching
                self.say()
        if self.slots == "ranked" and "openings" not in self.lower and self.best is not None:
            price = ABSTAIN_PRICE_RATIO * float(self.best[0])
            found_by = "from how policies begin"
            self.try_lower("openings", TIGHT_RATIO, found_by, lambda: bound_by_ranked_openings(*asked, price, limits))

    def try_lower(self, name: str, ratio: Fraction, doing: str, find: Callable[[], Fraction]) -> None:
        """A lower bound that comes without a policy, unless both sides are as close as this already."""
        if not self.is_within(ratio):
            self.say(f"looking for a lower bound {doing}")
            with self.isolated(name):
                self.lower[name] = find()
                self.say()
