"""Operations to try compilers on: small ones of every kind, and larger ones drawn at random."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from ascertain.bank.candidates import Compiled
from ascertain.bank.operation import Operation
from ascertain.kernels.model.boolean_code import NUM_SOURCES, OPERATIONS
from ascertain.model import Model
from ascertain.model.boolean import REVERSIBLE, BooleanPlant, Command, Gate
from ascertain_paper.testbed.testbed import load_testbed
from tests.reference.models import enumerate_machine

from .strategies import models, names


@st.composite
def gates(draw: st.DrawFn, num_bits: int) -> Gate:
    op = draw(st.sampled_from([op for op, n in zip(OPERATIONS, NUM_SOURCES, strict=True) if n < num_bits]))
    target = draw(st.integers(0, num_bits - 1))
    allowed = [bit for bit in range(num_bits) if op not in REVERSIBLE or bit != target]
    count = NUM_SOURCES[OPERATIONS.index(op)]
    return Gate(op, target, tuple(draw(st.sampled_from(allowed)) for _ in range(count)))


@st.composite
def plants(draw: st.DrawFn) -> BooleanPlant:
    num_bits = draw(st.integers(1, 5))
    commands = tuple(
        Command(name, tuple(draw(st.lists(gates(num_bits), max_size=3))), draw(st.integers(0, num_bits - 1)))
        for name in names("c", draw(st.integers(1, 4)))
    )
    return BooleanPlant(names("b", num_bits), commands)


@st.composite
def windows(draw: st.DrawFn, most: int) -> tuple[int, int]:
    low = draw(st.integers(0, most))
    return low, low + draw(st.integers(0, most))


@st.composite
def operations(draw: st.DrawFn, max_length: int = 6) -> Operation:
    model: Model | BooleanPlant = draw(st.one_of(plants(), models()))
    num_states = 1 << model.num_bits if isinstance(model, BooleanPlant) else model.num_states
    num_commands, length = len(model.actions), draw(st.integers(1, max_length))
    commands = st.integers(0, num_commands - 1)
    words = st.lists(commands, max_size=2).map(tuple)

    def column(entry: st.SearchStrategy[int]) -> np.ndarray:
        return np.array(draw(st.lists(entry, min_size=length, max_size=length)), dtype=np.int32)

    return Operation(
        model=model,
        start=draw(st.integers(0, num_states - 1)),
        sent=column(commands),
        readings=column(st.integers(-1, len(model.readings) - 1)),
        trusted=column(st.integers(0, 1)).astype(np.bool_),
        alternatives=tuple(tuple(draw(st.lists(words, max_size=3, unique=True))) for _ in range(num_commands)),
        max_replaced=draw(st.integers(0, min(3, length))),
        replacement_window=draw(windows(3)),
        flip_window=draw(windows(5)),
    )


def as_map(compiled: Compiled) -> dict[int, tuple[int, int, int]]:
    scores = [(a, b, c) for a, b, c in compiled.score.tolist()]
    return dict(zip(compiled.endpoint.tolist(), scores, strict=True))


def same(a: Compiled, b: Compiled) -> bool:
    return np.array_equal(a.endpoint, b.endpoint) and np.array_equal(a.score, b.score)


def random_operation(seed: int) -> Operation:
    rng = np.random.default_rng(seed)
    num_bits, num_commands, length = (int(rng.integers(low, high)) for low, high in ((3, 7), (3, 6), (6, 16)))

    def gate() -> Gate:
        op = str(rng.choice(OPERATIONS))
        target, *sources = rng.permutation(num_bits)[: 1 + NUM_SOURCES[OPERATIONS.index(op)]].tolist()
        return Gate(op, target, tuple(sources))

    commands = tuple(
        Command(name, tuple(gate() for _ in range(rng.integers(1, 4))), int(rng.integers(num_bits)))
        for name in names("c", num_commands)
    )
    plant = BooleanPlant(names("b", num_bits), commands)
    lists = [[tuple(rng.integers(num_commands, size=n).tolist()) for n in (0, 1, 1, 2)] for _ in commands]
    low = int(rng.integers(0, 5))
    return Operation(
        model=enumerate_machine(plant) if seed % 3 == 0 else plant,
        start=int(rng.integers(1 << num_bits)),
        sent=rng.integers(num_commands, size=length).astype(np.int32),
        readings=rng.integers(-1, 2, size=length).astype(np.int32),
        trusted=rng.random(length) < 0.3,
        alternatives=tuple(tuple(dict.fromkeys(words)) for words in lists),
        max_replaced=int(rng.integers(1, 4)),
        replacement_window=(count := int(rng.integers(0, 2)), count),
        flip_window=(low, low + int(rng.integers(0, 3))),
    )


def logged_operation(number: int) -> Operation:
    """The log of one operation of the small testbed."""
    bed = load_testbed("small")
    return bed.logged(bed.draw(list(bed.slots())[number]))
