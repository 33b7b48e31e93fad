"""Atomic fallback: any interleaving of reads and compile steps against the atomic one, path by path."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.errors import TaskError
from tests.reference.schedule import Compile, Deed, Read, Record, Use, make_atomic

COSTS = (Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5))


class Policy:
    """A random policy: what it does next is drawn, once, for each history of readings and each place after it.

    It may compile at any time, in any order, and do the same microstep again; it uses the bank only when finished.
    """

    def __init__(self, seed: int, num_microsteps: int) -> None:
        self.seed, self.num_microsteps = seed, num_microsteps

    def run(self, readings: tuple[int, ...]) -> Record:
        """What it does on a path of readings; it stops when the path ends, or before."""
        deeds: list[Deed] = []
        seen: list[int] = []
        done: set[int] = set()
        for place in range(60):
            random = Random(f"{self.seed} {seen} {place}")
            wish = random.randrange(10)
            if wish < 4 and self.num_microsteps:
                microstep = random.randrange(self.num_microsteps)
                done.add(microstep)
                deeds.append(Compile(microstep, random.choice(COSTS)))
            elif wish < 6 and len(done) == self.num_microsteps:
                deeds.append(Use())
            elif wish == 9 or len(seen) == len(readings):
                break
            else:
                deeds.append(Read(random.randrange(3), readings[len(seen)], random.choice(COSTS)))
                seen.append(readings[len(seen)])
        return Record(tuple(deeds), self.num_microsteps)


policies = st.builds(Policy, st.integers(0, 10**6), st.integers(0, 4))


@given(policies, st.lists(st.integers(0, 1), max_size=8).map(tuple))
def test_the_atomic_schedule_reads_and_decides_alike_and_costs_no_more_on_every_path(
    policy: Policy, readings: tuple[int, ...]
) -> None:
    record = policy.run(readings)
    atomic = make_atomic(record)
    assert atomic.cost <= record.cost
    assert atomic.reads == record.reads
    assert atomic.uses == record.uses
    assert atomic.is_atomic
    assert make_atomic(atomic) == atomic


@given(policies)
def test_the_atomic_schedules_of_all_paths_are_those_of_one_policy(policy: Policy) -> None:
    """What it does before a reading does not depend on that reading: it does not look ahead."""
    known: dict[tuple[int | None, ...], tuple[object, ...]] = {}
    for readings in product((0, 1), repeat=4):
        atomic = make_atomic(policy.run(readings))
        seen: list[int | None] = []
        between: list[object] = []
        for deed in (*atomic.deeds, None):
            if isinstance(deed, Read):
                between.append((deed.action, deed.cost))
                assert known.setdefault(tuple(seen), tuple(between)) == tuple(between)
                seen.append(deed.reading)
                between = []
            else:
                between.append(deed)
        assert known.setdefault(tuple(seen), tuple(between)) == tuple(between)


def test_work_that_is_never_used_is_dropped_and_repeated_work_is_kept_once() -> None:
    read, first, second = Read(0, 1), Compile(0, Fraction(3)), Compile(1, Fraction(2))
    unused = Record((first, read, second, read), 2)
    assert make_atomic(unused).deeds == (read, read)
    cheaper = Compile(0, Fraction(1))
    used = Record((first, read, cheaper, second, read, Use(), read, second), 2)
    atomic = make_atomic(used)
    assert atomic.deeds == (read, read, cheaper, second, Use(), read)
    assert (used.cost, atomic.cost) == (11, 6)


def test_a_caller_that_takes_shells_one_at_a_time_is_told_that_the_theorem_is_not_about_it() -> None:
    with pytest.raises(TaskError, match=r"after 1 of 2 microsteps; .* shells one at a time"):
        Record((Compile(0), Use(), Compile(1)), 2)


@pytest.mark.parametrize(
    "deed", [Compile(2), Compile(-1), Compile(0, Fraction(-1)), Read(0, None, Fraction(-1))], ids=repr
)
def test_microsteps_that_there_are_not_and_negative_costs_are_refused(deed: Deed) -> None:
    with pytest.raises(TaskError, match="cost"):
        Record((deed,), 2)


def test_interleaved_records_are_not_atomic() -> None:
    read, step, use = Read(0, 1), Compile(0), Use()
    assert not Record((step, read, use), 1).is_atomic
    assert not Record((step,), 1).is_atomic
    assert not Record((step, step, use), 1).is_atomic
    assert not Record((step, use, read, step), 1).is_atomic
    assert Record((read, step, use, read, use), 1).is_atomic
    assert Record((read, use), 0).is_atomic
