"""Hidden models in Cassandra's `.POMDP` format: T, the law of the next state, and O, that of the reading there.

    discount: 0.95                     read and not used, as are values and R, the rewards
    values: reward
    states: left right                 names, or how many there are
    actions: 2
    observations: hear-left hear-right
    start: 0.5 0.5                     a belief | uniform | one state | start include: S ... | start exclude: S ...
    T: 0 identity                      T: action         and a matrix, identity or uniform
    T: 1 : left 0.5 0.5                T: action : state and a row, uniform or reset (to the start)
    O: * : left : hear-left 0.85       O: action : next state : reading and one number; * stands for all
    R: * : * : * : * -1

The joint law is P(t, y | s, a) = T(t | s, a) O(y | t, a). Words may stand on any line, "#" begins a comment, later
lines write over earlier ones, and what no line says is 0. States, actions and readings are given by name or by number
from 0; where a listed name is a number itself, numbers are names. Numbers are exact as they are written, and 1/3 is
read too. A row of T or O must sum to one exactly; a row that is off by rounding is refused, unless the caller asks for
it to be renormalised, and then a *note* says so. A row of O may be left out where its action never leads.

A model can be written as T and O when, for each action a and each state t, the reading has one law O(. | t, a)
whichever state t is entered from. Where it has several, the model with its readings kept in its states has one
(`keep_readings`), and JSON takes every hidden model. Numbers are written exactly: as decimals where they are short,
else as fractions such as 1/3, which this package reads and others may not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NoReturn, final

from ascertain.errors import FileError, LimitError
from ascertain.model.files import Format, Option, Read
from ascertain.model.files.json_text import named
from ascertain.model.files.pomdp_rows import InexactRows, LawRow, settle_row, show_sum, write_decimal
from ascertain.model.files.pomdp_syntax import MAX_KEPT, RESERVED, PomdpParser
from ascertain.model.hidden import HiddenModel, JointLaw, make_belief
from ascertain.types import Action, State

MAX_ENTRIES = 4_000_000
"""Entries of the joint law, equal rows counted once: some hundred megabytes."""
MAX_UNWRITTEN = 250_000
"""Of these, beyond two for each character of the text: a short file may multiply a few long rows."""


def parse_pomdp(text: str, where: str, inexact: InexactRows = "refused") -> Read:
    """The model in the text of a Cassandra file, with notes; `where` begins every error message."""
    said = PomdpParser(text, where)
    said.read()
    for what in ("states", "actions", "observations"):
        if what not in said.names:
            raise FileError(f"{where}: {what} are missing; they are listed like '{what}: NAME NAME ...'")
    changed = _settle(said, inexact)
    model = HiddenModel(
        states=said.names["states"],
        actions=said.names["actions"],
        readings=said.names["observations"],
        joint=_Joining(said).join(),
        initial=() if said.start is None else (make_belief(said.start),),
    )
    return Read(model, (*changed, *_remarks(said)))


def _settle(said: PomdpParser, inexact: InexactRows) -> list[str]:
    """Every row of T and O, and the start, sums to one; what was changed for that."""
    states, actions = said.names["states"], said.names["actions"]
    changed: list[tuple[str, int, Fraction]] = []
    if said.start is not None:
        error = settle_row(said.start, lambda: f"{said.where}:{said.start_line}: start: the belief", inexact)
        changed.append(("start", int(error != 0), error))
    for rows in (said.transition, said.observation):
        number, worst = rows.settle(lambda a, s: f"the row of action {actions[a]!r} and state {states[s]!r}", inexact)
        changed.append((rows.letter, number, worst))
    return [
        f"{what}: {number} rows did not sum to 1, by up to {show_sum(worst)}, and WERE RENORMALISED: the model is not "
        "exactly the one in the file"
        for what, number, worst in changed
        if number
    ]


def _remarks(said: PomdpParser) -> Iterable[str]:
    if said.num_rewards:
        yield f"R: {said.num_rewards} rewards are not used: they bear on what to do, not on what can be told"
    if said.seen & {"discount", "values"}:
        yield "discount and values are not used"
    if said.start is None:
        yield "no start is given: the belief that the plant begins with is unknown"


@final
class _Joining:
    """The joint laws while they are made; what the same rows of T and O give is joined once, and shared."""

    def __init__(self, said: PomdpParser) -> None:
        self.said = said
        self.limit = min(MAX_ENTRIES, MAX_UNWRITTEN + 2 * said.size_of_text)
        self.num_entries = 0
        self.known: dict[tuple[int, int], JointLaw] = {}
        """By action and long row of T."""
        self.joined: dict[tuple[int, ...], JointLaw] = {}
        """By row of T and the rows of O of its states, which many actions share."""
        self.columns: dict[int, list[tuple[int, Fraction]]] = {}
        """By row: its entries in ascending order."""
        self.products: dict[tuple[int, int], Fraction] = {}
        """By the numbers themselves, which the rows keep: hashing fractions takes longer than multiplying them."""

    def join(self) -> tuple[tuple[JointLaw, ...], ...]:
        num_states, num_actions = self.said.size("states"), self.said.size("actions")
        return tuple(tuple(self.law(a, s) for a in range(num_actions)) for s in range(num_states))

    def law(self, a: int, s: int) -> JointLaw:
        row = self.said.transition.rows.get((a, s))
        if row is None:
            self.lack("T", a, s)
        if len(row) == 1:  # quicker to look at than to remember
            return self.join_row(a, row)
        law = self.known.get((a, id(row)))
        if law is None:
            law = self.known[a, id(row)] = self.join_row(a, row)
        return law

    def join_row(self, a: int, row: LawRow) -> JointLaw:
        rows = self.said.observation.rows
        given = [rows.get((a, t)) or self.lack("O", a, t) for t in row]
        key = (id(row), *map(id, given))
        law = self.joined.get(key)
        if law is None:
            self.count(sum(map(len, given)))
            law = self.joined[key] = self.multiply_rows(row, given)
        return law

    def multiply_rows(self, row: LawRow, given: list[LawRow]) -> JointLaw:
        multiply = self.multiply
        if len(given) == 1:
            [(t, p)] = row.items()
            return tuple([(t, y, multiply(p, q)) for y, q in self.sorted(given[0])])
        readings = dict(zip(row, given, strict=True))
        return tuple([(t, y, multiply(p, q)) for t, p in self.sorted(row) for y, q in self.sorted(readings[t])])

    def count(self, entries: int) -> None:
        self.num_entries += entries
        if self.num_entries > self.limit:
            raise LimitError(
                f"{self.said.where}: the joint law has more than {self.limit} entries, the most for a file of this size"
            )

    def sorted(self, row: LawRow) -> list[tuple[int, Fraction]]:
        if len(row) == 1:
            return list(row.items())
        found = self.columns.get(id(row))
        if found is None:
            found = self.columns[id(row)] = sorted(row.items())
        return found

    def multiply(self, p: Fraction, q: Fraction) -> Fraction:
        """Laws repeat a few numbers, so that a product is mostly known."""
        found = self.products.get((id(p), id(q)))
        if found is None:
            found = p * q
            if len(self.products) < MAX_KEPT:
                self.products[id(p), id(q)] = found
        return found

    def lack(self, letter: str, a: int, s: int) -> NoReturn:
        actions, states = self.said.names["actions"], self.said.names["states"]
        raise FileError(
            f"{self.said.where}: {letter} says nothing about action {actions[a]!r} and state {states[s]!r}; a row that "
            "sums to 1 is needed"
        )


# ---------------------------------------------------------------------------------------------------------- writing

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z", re.ASCII)
"""Names that every reader of the format takes."""


def write_pomdp(model: HiddenModel) -> str:
    """The text of a Cassandra file. Names that it cannot have are numbered, and listed as comments."""
    if len(model.initial) > 1:
        raise FileError(f"a .POMDP file has one start; the model has {len(model.initial)} initial beliefs")
    sorts = {"states": model.states, "actions": model.actions, "observations": model.readings}
    words = {what: _words(names) for what, names in sorts.items()}
    legend = [
        f"# {what[:-1]} {i} {name!r}"
        for what, names in sorts.items()
        if words[what] != names
        for i, name in enumerate(names)
    ]
    head = ["discount: 1.0", "values: reward"]
    head += [f"{what}: {len(used) if used[0] == '0' else ' '.join(used)}" for what, used in words.items()]
    head += [f"start: {_row(dict(belief), model.num_states)}" for belief in model.initial]
    table = _tables(model, words["states"], words["actions"])
    return "\n".join([*legend, *head, *table, "R: * : * : * : * 0", ""])


def _tables(model: HiddenModel, states: tuple[str, ...], actions: tuple[str, ...]) -> Iterator[str]:
    for a in range(model.num_actions):
        seen: dict[State, LawRow] = {}
        for s in range(model.num_states):
            yield f"T: {actions[a]} : {states[s]}"
            yield _row(_factor(model, s, a, seen), model.num_states)
        for t in range(model.num_states):
            yield f"O: {actions[a]} : {states[t]}"
            yield _row(seen[t], len(model.readings)) if t in seen else "uniform"


def _factor(model: HiddenModel, s: State, a: Action, seen: dict[State, LawRow]) -> LawRow:
    """T(. | s, a); what is read in the states entered goes into `seen`, and must agree with what is there."""
    if not model.joint[s][a]:
        raise FileError(
            f"action {named(model.actions[a])} is not defined in state {named(model.states[s])}, and a .POMDP file "
            "defines all; complete the model first, or write it as .json"
        )
    transition: LawRow = {}
    for t, _, p in model.joint[s][a]:
        transition[t] = transition.get(t, Fraction(0)) + p
    read: dict[State, LawRow] = {t: {} for t in transition}
    for t, y, p in model.joint[s][a]:
        read[t][y] = p / transition[t]
    for t, row in read.items():
        if seen.setdefault(t, row) != row:
            raise FileError(
                f"what action {named(model.actions[a])} reads in {named(model.states[t])} depends on where it came "
                "from, which a .POMDP file cannot say; write it as .json, or keep_readings first"
            )
    return transition


def _words(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names themselves where the format allows them, else their numbers."""
    plain = all(_PLAIN.match(name) and name not in RESERVED for name in names)
    return names if plain else tuple(map(str, range(len(names))))


def _row(row: LawRow, width: int) -> str:
    """Numbers as decimals of at most nine digits, or as fractions."""
    numbers = [row.get(c, Fraction(0)) for c in range(width)]
    return " ".join(write_decimal(p, 9) or str(p) for p in numbers)


_INEXACT_ROWS = Option(
    "inexact_rows",
    "inexact_rows is for .POMDP files; the rows of other models sum to one",
    ("refused", "renormalised"),
)
"""What a problem says about rows that were rounded; the first word is the safe one, as nothing is changed."""
POMDP = Format(
    "Cassandra's POMDP",
    (".pomdp",),
    lambda text, where, options: parse_pomdp(text, where, options["inexact_rows"]),
    write_pomdp,
    (HiddenModel,),
    (_INEXACT_ROWS,),
)
"""Hidden models whose readings depend on the state entered alone."""
