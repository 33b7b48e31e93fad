"""What a run has cost, on the paper's four axes: interaction, computation, verdicts, and equality of compiled maps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final


@final
@dataclass(frozen=True, kw_only=True)
class Counters:
    """Counts so far. A model step is one candidate through one command; filtering the world is counted apart."""

    actions: int = 0
    readings: int = 0
    """Actions of which something was read."""
    cost: Fraction = Fraction(0)
    """What the actions cost together."""
    compilations: int = 0
    evaluations: int = 0
    """Candidates that the compiler scored."""
    compile_steps: int = 0
    """Model steps of the compiler."""
    propagation_steps: int = 0
    """Model steps that only moved the bank along: before it was scored, and where a reading was missing."""
    verifier_steps: int = 0
    """Model steps that were scored on a reading, of each candidate until it is beaten: from then on it cannot be the
    answer, and what it adds to the evidence, at most alpha of it at that time, may be left out."""
    world_steps: int = 0
    """States of the world through one command each, as this run computed them; a resumed run may need fewer."""
    certified: int = 0
    abstained: int = 0
    map_equal: bool | None = None
    """Whether a second compiler gave the same map; None when none was asked."""

    @property
    def model_steps(self) -> int:
        return self.compile_steps + self.propagation_steps + self.verifier_steps

    def generalised_cost(
        self, *, model_step: Fraction | int = 0, evaluation: Fraction | int = 0, world_step: Fraction | int = 0
    ) -> Fraction:
        """The cost of the actions plus that of computation, at so much for a step of each kind."""
        computed = model_step * self.model_steps + evaluation * self.evaluations + world_step * self.world_steps
        return self.cost + computed
