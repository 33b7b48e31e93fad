"""A world filtered as the definition says: a dictionary of every hypothesis and its likelihood, an exact rational."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from ascertain.model.abstract import AbstractDeterministic
from ascertain.task.bank import Bank

Case = tuple[int, tuple[bool, ...]]


class NaiveWorld:
    """Hypothesis h began in `states[h]`; every case of every doubted action is an entry of its own."""

    def __init__(
        self,
        model: AbstractDeterministic,
        states: list[int],
        bank: Bank,
        alpha: Fraction,
        ran: Fraction = Fraction(1, 2),
    ) -> None:
        self.model, self.alpha, self.ran = model, alpha, ran
        self.state: dict[Case, int] = {(h, ()): z for h, z in enumerate(states)}
        self.likelihood: dict[Case, Fraction] = dict.fromkeys(self.state, Fraction(1))
        self.beaten: dict[Case, bool] = dict.fromkeys(self.state, False)
        self.bank = [(w, z, Fraction(1)) for w, z in zip(bank.weights, bank.states, strict=True)]
        self.update()

    def observe(self, action: int, reading: int | None) -> None:
        for case in self.state:
            self.likelihood[case] *= self.probability(self.state[case], action, reading)
            self.state[case] = self.move(self.state[case], action)
        self.bank = [(w, self.move(z, action), L * self.probability(z, action, reading)) for w, z, L in self.bank]
        self.update()

    def doubt(self, action: int) -> None:
        for h, ran in list(self.state):
            case, done, left_out = (h, ran), (h, (*ran, True)), (h, (*ran, False))
            state = self.state.pop(case)
            self.state[done], self.state[left_out] = self.move(state, action), state
            self.likelihood[done] = self.likelihood[left_out] = self.likelihood.pop(case)
            self.beaten[done] = self.beaten[left_out] = self.beaten.pop(case)
        self.bank = [
            half
            for w, z, L in self.bank
            for half in ((w * self.ran, self.move(z, action), L), (w * (1 - self.ran), z, L))
        ]

    def probability(self, state: int, action: int, reading: int | None) -> Fraction:
        law: Mapping[int, Fraction] = self.model.reading_law(state, action)
        return Fraction(1) if reading is None else law.get(reading, Fraction(0))

    def move(self, state: int, action: int) -> int:
        return self.model.next_state(state, action)

    @property
    def numerator(self) -> Fraction:
        return sum((w * L for w, _, L in self.bank), Fraction(0))

    def update(self) -> None:
        for case, likelihood in self.likelihood.items():
            self.beaten[case] |= self.numerator > 0 and self.numerator * self.alpha >= likelihood

    def left(self, label_of: Callable[[int, int], int]) -> dict[Case, int]:
        """What is not beaten, and its label: a function of the hypothesis and its current state."""
        return {case: label_of(case[0], self.state[case]) for case in self.state if not self.beaten[case]}
