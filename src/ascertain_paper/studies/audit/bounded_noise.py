"""Noise declared as a law or as a bound: what remains of the guarantee when errors are more frequent, or aim.

`flip` says that a reading is wrong with probability f and that all wrong ones are equally likely; `at_most` says that
it is wrong with probability at most f, whatever was read before and wherever the error goes. With two readings both
weigh evidence alike. With more they do not, and here is a dial of eleven positions, each of which shows itself, told
either way. The nominal is the only candidate. A position z is beaten when the nominal was read m more times than z, m
being the least number that reaches 1/alpha by the observer's own weighing. Under an actual rate g of errors, of which a
share goes to the nominal's reading with probability e and z's own is read with probability 1 - g, the lead is a random
walk, and z is ever beaten with probability (e/(1-g))^m exactly: e is g/10 where errors spread evenly and g where they
aim, which is the most that noise of rate g given the past can do. A sensor that lies all the way, once in fifty runs,
is wrong once in fifty readings too, and beats z once in fifty runs: the rate must hold given the past.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ascertain.evidence.worlds import MachineWorld
from ascertain.model import Machine, Model
from ascertain.model.build import machine_from_transitions
from ascertain.model.noisy import with_bound, with_flip
from ascertain.report.tables import Cell, Table
from ascertain.task.bank import nominal_bank
from ascertain_paper.studies.audit.parts import Part
from ascertain_paper.testbed.settings import Settings

POSITIONS = 11
"""Of the dial: the even law then weighs a reading ten times as much as the bound does, which is easily seen."""


def make_dial(positions: int) -> Machine:
    """A dial that stays where it is; looking at it shows the position."""
    return machine_from_transitions([(f"p{i}", "look", f"r{i}", f"p{i}") for i in range(positions)])


def count_lead(model: Model, alpha: Fraction) -> int:
    """How many more readings of the nominal than of another position beat that one, by the observer's own weighing."""
    world, lead = MachineWorld(model, nominal_bank(0), alpha), 0
    while world.verdict() is None:
        world.observe(0, 0)
        lead += 1
    return lead


def beaten_chance(aimed: Fraction, actual: Fraction, lead: int) -> Fraction:
    """How probable it is that the truth is ever beaten: its lead walks down at rate `aimed`, up at 1 - `actual`."""
    return min(Fraction(1), aimed / (1 - actual)) ** lead


def bounded_part(frozen: Settings, actual: Sequence[Fraction]) -> Part:
    """The table of wrong noise once more, told as a law and as a bound, with errors that spread and errors that aim."""
    declared, alpha = frozen.stream_flip, frozen.staged_risk
    two = count_lead(with_flip(make_dial(2), declared), alpha)
    assert two == count_lead(with_bound(make_dial(2), declared), alpha), "with two readings both weigh alike"
    many = make_dial(POSITIONS)
    leads = {
        "flip": count_lead(with_flip(many, declared), alpha),
        "at_most": count_lead(with_bound(many, declared), alpha),
    }
    body: list[tuple[Cell, ...]] = []
    rows: list[dict[str, Any]] = []
    alarms: list[str] = []
    for g in actual:
        spread = {"even": g / (POSITIONS - 1), "aimed": g}
        found = {(told, how): beaten_chance(e, g, m) for told, m in leads.items() for how, e in spread.items()}
        alike = beaten_chance(g, g, two)
        body.append((str(g), *(float(chance / alpha) for chance in (alike, *found.values()))))
        named = {f"{told}, {how}": str(chance) for (told, how), chance in found.items()}
        rows.append({"question": "noise as a bound", "actual": str(g), "two readings": str(alike), **named})
        kept = {key: chance for key, chance in found.items() if key != ("flip", "aimed")}
        alarms += [
            f"errors of {g}, {how}, told {told} = {declared}: the truth is beaten more often than alpha allows"
            for (told, how), chance in kept.items()
            if g <= declared and chance > alpha
        ]
    stuck = float(declared / alpha)
    body.append((f"{declared} of the runs, all the way", *(stuck,) * 5))
    table = Table(
        "noise-bound",
        f"The truth is beaten, in multiples of alpha, when {declared} is declared",
        ("actual errors", "two readings, either", *(f"{POSITIONS} readings, {told}, {how}" for told, how in
         (("flip", "even"), ("flip", "aimed"), ("at_most", "even"), ("at_most", "aimed")))),
        tuple(body),
        f"Exact. A dial of {POSITIONS} positions (of two in the second column), the nominal as the only candidate; "
        "errors spread evenly over the other readings, or all aim at the nominal's. So many readings without an error "
        f"settle it: {two} of two, {leads['flip']} told flip, {leads['at_most']} told at_most. Above 1 the guarantee "
        "is lost. The last row is a sensor that lies in one run of fifty from the first reading to the last: the "
        "declared rate in the mean, but not given the past.",
    )  # fmt: skip
    aimed = float(beaten_chance(declared, declared, leads["flip"]) / alpha)
    finding = (
        f"Told as a law, {declared} is broken by errors of exactly that rate that aim ({aimed:.0f} times alpha with "
        f"{POSITIONS} readings); told as a bound it holds, for one more reading. Neither helps against a higher rate, "
        "and neither against errors that depend on each other beyond the declared rate given the past."
    )
    return table, (), rows, [finding], alarms
