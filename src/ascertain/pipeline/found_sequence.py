"""What a search for a sequence found, for every kind of sequence alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeAlias, final

from ascertain.certificate.write import write_certificate
from ascertain.drawing.shown import Shown
from ascertain.drawing.tree import write_tree
from ascertain.errors import CertificateError, FileError, LimitError
from ascertain.pipeline.settle import Settled
from ascertain.sequences.incomplete import Incomplete
from ascertain.sequences.separating_tree import SeparatingTree
from ascertain.task.canonical import fraction_text
from ascertain.task.task import Task
from ascertain.writing import write_whole
from ascertain_check import Verdict

SequenceKind: TypeAlias = Literal[
    "adaptive-distinguishing",
    "preset-distinguishing",
    "adaptive-homing",
    "preset-homing",
    "synchronizing",
    "uio",
    "characterising-set",
    "identifiers",
    "splitting-tree",
    "incomplete",
]
"""What can be sought; `docs/sequences.md` defines each."""
Status: TypeAlias = Literal["found", "none", "undecided"]
"""What became of it."""

DRAWN = ("adaptive-distinguishing", "adaptive-homing", "splitting-tree", "incomplete")
"""Kinds whose results are trees."""
MOST_DRAWN = 500
"""Leaves of a tree that is drawn: a picture of more cannot be read."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class FoundSequence(Shown):
    """What was sought and found: words, a policy or a tree; or why there is none, or how far the search came."""

    kind: SequenceKind
    task: Task
    """The question that the kind asks."""
    status: Status
    """"none" is proved; "undecided": a limit was met before anything was found, or before absence was proved."""
    lower: Fraction | None = None
    """No answer costs less; None stands for infinity. Of several words it is the sum."""
    upper: Fraction | None = None
    """What the answer costs; None where there is none."""
    words: tuple[tuple[str, ...], ...] = ()
    of: Mapping[str, tuple[int, ...]] | None = None
    """For each state the places of its words, where words belong to states."""
    reason: str | None = None
    """Why there is none, or which states are equivalent."""
    stopped_by: str | None = None
    """The limit that was met."""
    settled: Settled | None = None
    """The policy, of adaptive kinds."""
    tree: SeparatingTree | None = None
    incomplete: Incomplete | None = None
    certificate: dict[str, Any] | None = field(default=None, repr=False)
    verdict: Verdict | None = None

    def shown(self) -> Mapping[str, object]:
        return {"kind": self.kind, "status": self.status, "cost": self.upper, "words": len(self.words) or None}

    def __str__(self) -> str:
        return repr(self) if self.settled is None else f"{self!r}\n{self.settled.policy}"

    @property
    def is_optimal(self) -> bool:
        """Whether nothing cheaper does it; of an incomplete identification, whether nothing is larger or cheaper."""
        whole = self.incomplete is None or self.incomplete.is_cheapest
        return self.status == "found" and whole and self.lower == self.upper

    @property
    def exit_code(self) -> int:
        """Of the verb: 0 found, 1 there is none, 3 undecided, 130 interrupted."""
        return 130 if self.stopped_by == "interrupt" else {"found": 0, "none": 1, "undecided": 3}[self.status]

    def facts(self) -> dict[str, Any]:
        """The result as plain data, which is what `sequence --json` prints."""
        sets, tree = self.incomplete, self.tree
        return {
            "kind": self.kind,
            "status": self.status,
            "optimal": self.is_optimal,
            "lower": fraction_text(self.lower),
            "upper": fraction_text(self.upper),
            "words": [list(word) for word in self.words],
            "of": None if self.of is None else {state: list(places) for state, places in self.of.items()},
            "reason": self.reason,
            "stopped_by": self.stopped_by,
            "policy": None if self.settled is None else self.settled.facts()["policy"],
            "tree": None if tree is None else {"classes": tree.num_classes, "nodes": len(tree.child)},
            "incomplete": None
            if sets is None
            else {
                "labels": sets.name(sets.labels),
                "most": sets.most,
                "cheapest": sets.is_cheapest,
                "cores": [sets.name(core) for core in sets.cores],
            },
            "certificate": None if self.verdict is None else str(self.verdict),
        }

    def draw(self, path: str | Path, title: str = "") -> None:
        """Draw the policy or the tree (.html, .svg, .dot, .txt); words have no picture."""
        if self.settled is not None:
            self.settled.draw(path, title or self.kind)
        elif self.tree is None:
            raise FileError(f"{path}: {self.kind} is no tree; write the words with --out FILE.json")
        elif self.tree.num_classes > MOST_DRAWN:
            raise LimitError(f"{path}: the tree has {self.tree.num_classes} leaves; up to {MOST_DRAWN} are drawn")
        else:
            write_tree(path, self.tree.outline(), title or self.kind)

    def write(self, path: str | Path) -> None:
        """Write the result as JSON; with a tree, all of it."""
        tree = {} if self.tree is None else {"tree": self.tree.data()}
        write_whole(path, json.dumps({**self.facts(), **tree}, ensure_ascii=False).encode())

    def write_certificate(self, path: str | Path) -> tuple[Path, Path]:
        """Write NAME.json and NAME.task.json; returns both paths."""
        if self.certificate is None:
            raise CertificateError(f"{path}: {self.kind}: there is nothing here that the checker can replay")
        return write_certificate(path, self.task, self.certificate["claims"])
