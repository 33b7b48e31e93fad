"""One policy out of a mixture by its history: an opening, and after each of its ends a plan of its own.

A mixture draws its plan at random before anything is read. A policy draws nothing, but readings are noisy, and what was
read first can take the place of the draw: one plan after these readings, another one after those. So

- *dive*: an opening is made longer where plans are still mixed (`openings.py`). Where they agree on what to do at an
  end, that is decided; where they do not, those decisions that most are for are tried, and the one is taken after which
  the best mixture is cheapest. It ends when plans are mixed only at ends that are rarely met;
- *spread out*: ends that are met often, where one plan is left, are decided as it would, so that there are more;
- *choose* one plan for each end: the one with the largest share, and then, end by end, the change that most lowers
  the smooth maximum of the costs and what is above the risks (`rounding.py`), until none does.

The policy remembers its history as far as the opening goes, and then the plan that it follows and that one's memory: a
ledger with one option at each node. It is evaluated like every other policy (`remembering.set_clock`). Ledgers forget a
little of each likelihood, so what is foreseen of a risk is less than evaluation finds; several margins are tried.
"""

from __future__ import annotations

from typing import final

import numpy as np

from ascertain.planning.belief_graph import Ledgers
from ascertain.planning.branch_and_bound import IDLE, OPEN, SURE, Bounded, Mixed, Opening, Openings
from ascertain.planning.column_generation import Columns, Mixture
from ascertain.planning.controller import Remembering, Risk, set_clock
from ascertain.planning.information_state import NOWHERE, FloatArray
from ascertain.types import LongArray

LONGEST = 1500
MARGINS = (0.999, 0.995, 0.99, 0.987, 0.983, 0.98, 0.97, 0.95)
"""Parts of alpha that may be used up, as far as foreseen."""
CAREFUL = (0.7, 1.5, 3.0, 10.0)
"""How much dearer risks are for plans that are added for the choice: what is just above a risk needs a way out."""
ROOMS = (0.998, 0.97)
"""Parts of the risks that the mixtures of a dive may use up."""
CHANGES = 400
CLEAR = 0.95
"""Where so large a share of the plans is for one decision no other is tried."""


@final
class Following:
    """The search for one policy; each hypothesis has its own label and its name."""

    def __init__(self, columns: Columns, mixture: Mixture, *, ends: int, rounds: int, rare: float = 1e-3) -> None:
        assert len(columns.members) == len(columns.party)
        self.columns, self.pool = columns, Openings(columns, mixture)
        self.most, self.rounds, self.rare = ends, rounds, rare
        self.prices = mixture.prices

    def make(self) -> tuple[Remembering, Risk] | None:
        """The best policy found that keeps to the risks, if any; a dive that leaves too little room is made anew."""
        for room in ROOMS:
            self.pool.room = room
            found = self.attempt()
            if found is not None:
                return found
        return None

    def attempt(self) -> tuple[Remembering, Risk] | None:
        opening, plan_of = self.spread_out(*self.dive())
        for factor in CAREFUL:
            self.pool.add(self.columns.appraise(self.prices.dearer(factor)).choice)
        best: tuple[Remembering, Risk] | None = None
        for margin in MARGINS:
            chosen = self.choose(opening, plan_of, margin)
            ledgers, choice = self.write_out(opening, dict(zip(opening.ends, chosen, strict=True)))
            found = set_clock(ledgers, choice, self.columns.alpha, self.columns.beta, LONGEST)
            if found is not None and (best is None or found[1].worst[2] < best[1].worst[2]):
                best = found
        return best

    def dive(self) -> tuple[Opening, Mixed]:
        """An opening after which plans are hardly mixed, and how they are."""
        opening, mixed = Opening(), self.pool.bound(Opening(), self.rounds, self.prices).mixed
        while len(mixed.ends) < self.most:
            mixed = self.pool.forget(mixed)
            agreed, split = self.look(opening, mixed)
            if agreed:
                for t, decision in agreed:
                    opening = opening.decide(self.columns, t, decision)
                mixed = self.pool.mix(opening)
            elif split is not None:
                opening = self.decide(opening, *split)
                mixed = self.pool.mix(opening)
            else:
                break
        return opening, self.pool.forget(mixed)

    def look(self, opening: Opening, mixed: Mixed) -> tuple[list[tuple[int, int]], tuple[int, dict[int, float]] | None]:
        """Of the ends where plans are mixed: those where all would ask the same; and one where they disagree most.

        Of the former only those that are met about as often as any: what is decided there may settle the others.
        """
        agreed: list[tuple[float, int, int]] = []
        split: tuple[float, int, dict[int, float]] | None = None
        top = 0.0
        for i, t in enumerate(mixed.ends):
            often = opening.often(self.columns, t)
            if mixed.is_settled(i) or often < self.rare:
                continue
            opinions = mixed.opinions(opening, self.pool.choices, i)
            decision = max(opinions, key=lambda d: opinions[d])
            apart = (1 - opinions[decision]) * often
            if opinions[decision] <= SURE:
                top = max(top, often)
                split = (apart, t, opinions) if split is None or apart > split[0] else split
            elif decision >= 0:
                top = max(top, often)
                agreed.append((often, t, decision))
        first = [(t, decision) for often, t, decision in agreed if often >= top / 2]
        return first, None if split is None else split[1:]

    def decide(self, opening: Opening, t: int, opinions: dict[int, float]) -> Opening:
        """The decision after which the best mixture is cheapest, of the three that most plans are for."""
        pool = self.pool
        ranked = sorted(opinions, key=lambda d: -opinions[d])
        likely = [d for d in ranked if d >= 0 or pool.may_stop(opening, t, d)]
        likely = likely or [d for d in pool.list_decisions(opening, t) if d != IDLE] or ranked
        likely = pool.represent(opening, likely) if pool.symmetric else likely
        tried: list[tuple[Bounded, Opening]] = []
        for decision in likely[: 1 if opinions.get(likely[0], 0.0) > CLEAR else 3]:
            longer = opening.decide(self.columns, t, decision)
            tried.append((pool.bound(longer, self.rounds, self.prices), longer))
        found, longer = min(tried, key=lambda one: one[0].mixed.value)
        self.prices = found.prices
        return longer

    def spread_out(self, opening: Opening, mixed: Mixed) -> tuple[Opening, dict[int, int]]:
        """Ends that are met often decided as their plan would; and the plan of each end."""
        plan_of = {t: int(k) for t, k in zip(mixed.ends, mixed.share.argmax(axis=1).tolist(), strict=True)}
        queue = list(plan_of)
        for t in queue:
            decision = int(self.pool.choices[plan_of[t]][opening.memory[t]])
            if decision < 0 or len(plan_of) >= 2 * self.most or opening.often(self.columns, t) < 3 * self.rare:
                continue
            opening = opening.decide(self.columns, t, decision)
            plan = plan_of.pop(t)
            new = [u for u in opening.after[t] if u != NOWHERE]
            plan_of.update(dict.fromkeys(new, plan))
            queue += new
        return opening, plan_of

    def choose(self, opening: Opening, plan_of: dict[int, int], margin: float) -> list[int]:
        """A plan for each end, by single changes."""
        rounding, n = self.pool.rounding, len(self.columns.members)
        if not plan_of:
            return []
        rounding.room[:n] = margin
        achieved = self.pool.follow(opening)
        rows = np.arange(len(achieved))
        chosen = np.array([plan_of[t] for t in opening.ends])
        total: FloatArray = self.pool.paid(opening) + achieved[rows, chosen].sum(axis=0)
        now = float(rounding.judge(total[None])[0])
        for _ in range(CHANGES):
            other = total - achieved[rows, chosen][:, None] + achieved
            value: FloatArray = rounding.judge(other.reshape(-1, 3 * n)).reshape(len(rows), -1)
            i, k = divmod(int(value.argmin()), len(self.pool.choices))
            if value[i, k] >= now * (1 - 1e-9):
                break
            total, now, chosen[i] = other[i, k], float(value[i, k]), k
        return chosen.tolist()

    def write_out(self, opening: Opening, plan_of: dict[int, int]) -> tuple[Ledgers, LongArray]:
        """The policy as ledgers with one option: histories of the opening, then (plan, memory) as they are met."""
        return _Writing(self.columns.ledgers, opening, plan_of, self.pool.choices).write()


class _Writing:
    """Nodes are (NOWHERE, history) or (plan, memory), numbered as they are met."""

    def __init__(self, ledgers: Ledgers, opening: Opening, plan_of: dict[int, int], choices: list[LongArray]) -> None:
        self.ledgers, self.opening, self.plan_of, self.choices = ledgers, opening, plan_of, choices
        self.number: dict[tuple[int, int], int] = {}
        self.queue: list[tuple[int, int]] = []

    def write(self) -> tuple[Ledgers, LongArray]:
        ledgers, readings = self.ledgers, self.ledgers.book.num_readings
        self.count(self.place(0))
        memory: list[int] = []
        asked: list[int] = []
        children: list[list[int]] = []
        for plan, where in self.queue:
            v = self.opening.memory[where] if plan == NOWHERE else where
            decision = self.opening.decision[where] if plan == NOWHERE else int(self.choices[plan][v])
            memory.append(v)
            asked.append(decision)
            children.append(self.lead(plan, where, decision) if decision >= 0 else [NOWHERE] * readings)
        node, decided = np.array(memory), np.array(asked, dtype=np.int64)
        option = np.where(decided >= 0, ledgers.option[node, np.maximum(decided, 0)], NOWHERE)
        written = Ledgers(
            ledgers.book,
            ledgers.state[node],
            ledgers.penalty[node],
            option[:, None].astype(np.int32),
            np.array(children, dtype=np.int32)[:, None, :],
            ledgers.shift[node, np.maximum(decided, 0)][:, None],
            None,
            False,
        )
        return written, np.where(decided >= 0, 0, decided)

    def lead(self, plan: int, where: int, decision: int) -> list[int]:
        """The nodes that readings lead to."""
        if plan == NOWHERE:
            return [self.count(self.place(u)) if u != NOWHERE else NOWHERE for u in self.opening.after[where]]
        after: list[int] = self.ledgers.child[where, decision].tolist()
        return [self.count((plan, w)) if w != NOWHERE else NOWHERE for w in after]

    def place(self, t: int) -> tuple[int, int]:
        """What stands for a history: itself, or the memory of the plan that is followed from there on."""
        return (NOWHERE, t) if self.opening.decision[t] != OPEN else (self.plan_of[t], self.opening.memory[t])

    def count(self, key: tuple[int, int]) -> int:
        if key not in self.number:
            self.number[key] = len(self.queue)
            self.queue.append(key)
        return self.number[key]
