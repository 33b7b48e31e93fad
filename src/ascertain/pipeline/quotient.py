"""Quotient: which states no experiment tells apart, and what tells the others apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from ascertain.model.files import write_model
from ascertain.problem.problem import Problem, find_question
from ascertain.quotients.abstract import AbstractQuotient
from ascertain.quotients.hidden import HiddenQuotient
from ascertain.quotients.quotient import take_quotient
from ascertain.task.question import AbstractQuestion

MAX_WORDS = 200
"""Separating words are listed for all pairs of at most this many classes: there are 19,900 of them then."""
MAX_HIDDEN_WORDS = 100
"""The same on a hidden model, where each word is a search of its own."""


@final
@dataclass(frozen=True, eq=False)
class Reduced:
    """A question with the states and the hypotheses merged that no experiment tells apart."""

    quotient: AbstractQuotient

    @property
    def dimension(self) -> int | None:
        """Of a hidden model, how many dimensions the probabilities of its words span."""
        return self.quotient.span.dimension if isinstance(self.quotient, HiddenQuotient) else None

    @property
    def classes(self) -> list[tuple[str, list[str]]]:
        """For each class of hypotheses its label and the names of its members."""
        reduced = self.quotient.reduced
        labels = [reduced.labels[int(k)] for k in reduced.label]
        return list(zip(labels, self.quotient.class_names, strict=True))

    @property
    def obstructed(self) -> tuple[int, int] | None:
        """Two classes of hypotheses, of different labels, that no experiment tells apart; None where there are none."""
        for one, others in self.quotient.obstructed():
            first, second = sorted(int(h) for h in (others[:2] if one is None else (one, others[0])))
            return first, second
        return None

    def facts(self) -> dict[str, Any]:
        """The result as plain data, which is what `quotient --json` prints; words are listed unless they are many."""
        quotient, task = self.quotient, self.quotient.task
        few = quotient.num_classes <= (MAX_WORDS if self.dimension is None else MAX_HIDDEN_WORDS)
        return {
            "certified": quotient.certified,
            "states": task.model.num_states,
            **({} if self.dimension is None else {"dimension": self.dimension}),
            "state_classes": quotient.num_classes,
            "hypotheses": task.num_hypotheses,
            "classes": [{"label": label, "members": members} for label, members in self.classes],
            "obstructed": self.obstructed is not None,
            "block": quotient.block.tolist(),
            "separating": [{"pair": list(pair), "word": word} for pair, word in quotient.named_words()]
            if few
            else None,
        }

    def write_model(self, path: str | Path) -> None:
        """Write the reduced model in the format that the suffix says."""
        write_model(self.quotient.reduced.model, path)


def reduce_question(question: AbstractQuestion | Problem | str | Path) -> Reduced:
    """Merge what no experiment tells apart, in a question about a machine or a hidden model, or in a problem's."""
    asked, _ = find_question(question, lambda problem: problem.listed_question)
    return Reduced(take_quotient(asked))
