"""The testbed: plants, operations and streams drawn from frozen settings, the same wherever and in whatever order."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from importlib.resources import files
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.errors import FileError, LimitError
from ascertain.kernels.model.boolean_code import OPERATIONS
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.model.named import register, shift_register
from ascertain_paper.testbed.draws import Draws, draw_words, happens, scale_below
from ascertain_paper.testbed.operations import BATCH, Slot, draw_candidates, replay
from ascertain_paper.testbed.settings import load_settings, parse_settings, read_settings
from ascertain_paper.testbed.testbed import Testbed, load_testbed, make_testbed
from tests.reference.models import enumerate_machine

from .reference import boolean as twin
from .strategies import names

EXPECTED_HASH = "8b5e2bdd138079abbb11226357bdf6ce8ab27a157765ebee6174dfd4772c4c3d"
EXPECTED_PLANTS = "180034713b43b1bbfa67c184d05c5278889470aed02c3e68b09e82d4c6b66519"
EXPECTED_OPERATIONS = "9fa7fdedc87fdc0763a951ecfce20c67691841371fff8d1489b6ce684914d8d9"
EXPECTED_STREAM = "2502d2a826c9adc905b36c2b9670b6cd81e912daeab039d6a9ae1f3e26fed62c"


@pytest.fixture(scope="module")
def bed() -> Testbed:
    return load_testbed("small")


@pytest.fixture(scope="module")
def full() -> Testbed:
    return load_testbed()


# ---- draws ----


@given(st.text(max_size=5), st.integers(1, 10**6))
def test_draws_are_named_and_stay_in_range(name: str, bound: int) -> None:
    first, second = Draws(name), Draws(name)
    values = [first.below(bound) for _ in range(5)]
    assert values == [second.below(bound) for _ in range(5)]
    assert all(0 <= value < bound for value in values)
    scaled = scale_below(draw_words(name, (20,)), bound)
    assert all(0 <= value < bound for value in scaled.tolist())


def test_a_sample_has_no_item_twice_and_weights_of_zero_are_never_drawn() -> None:
    draws = Draws("sample")
    assert sorted(draws.sample(range(10), 10)) == list(range(10))
    assert {draws.weighted({"a": 0, "b": 2, "c": 1}) for _ in range(50)} == {"b", "c"}


def test_events_happen_about_as_often_as_they_should() -> None:
    words = draw_words("events", (100_000,))
    assert abs(happens(words, Fraction(1, 50)).mean() - 0.02) < 5 * (0.02 * 0.98 / 100_000) ** 0.5
    assert not happens(words, Fraction(0)).any()
    counts = np.bincount(scale_below(words, 7), minlength=7)
    assert abs(counts - 100_000 / 7).max() < 5 * (100_000 / 7) ** 0.5


# ---- settings ----


def test_the_hash_is_that_of_the_file_that_is_shipped() -> None:
    data = files("ascertain_paper.testbed").joinpath("testbed.toml").read_bytes()
    assert load_settings("testbed").hash == sha256(data.replace(b"\r\n", b"\n")).hexdigest()


def test_the_settings_are_those_of_the_design(full: Testbed) -> None:
    settings = full.settings
    assert (settings.num_bits, settings.num_actuating, settings.num_probing) == (24, 64, 32)
    assert (settings.log_length, settings.num_alternatives, settings.max_replaced) == (192, 16, 2)
    assert (settings.log_flip, settings.stream_flip, settings.stream_length) == (Fraction(1, 10), Fraction(1, 50), 600)
    assert [family.active for family in settings.families] == [1, 1, 3, 1, 1, 3]
    assert len(settings.strata) == 20
    paths = sum(comb(settings.log_length, k) * settings.num_alternatives**k for k in range(3))
    assert paths == 4_697_089


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("bits = 10", "bits = 65", "bits must be at least 3 and at most 64"),
        ("bits = 10", "", "'bits' is missing"),
        ("bits = 10", "bits = 11", "commands"),
        ("last = [1, 12]", "last = [1, 25]", "'one early' needs the last one within 1 .. 24"),
        ("last = [1, 12]", "last = [1, 1]", "'two early' needs room"),
        ("alternatives = 4", "alternatives = 16", "fewer than the commands"),
        ("gates = [1, 3]", "gates = [3, 1]", "two numbers"),
        ("active = 2", "active = 4", "a quota within"),
        ("copy = 10", "cnot = 10", "'cnot' = 10 is not a weight"),
        ("commands = 12", "commands = 9", "at least as many"),
        ("[[plant]]", "[[[", "not the settings"),
        ('name = "small"', 'name = "small"\ndrawn_as = "8b5e"', "drawn_as must be the SHA-256"),
        ("replaced = 2", "replaced = 2\nactive_distance = 0", "active_distance must be 1 to the number of bits"),
        ("replaced = 2", "replaced = 2\nactive_distance = 11", "active_distance must be 1 to the number of bits"),
    ],
)
def test_settings_that_cannot_be_are_refused(old: str, new: str, words: str) -> None:
    text = load_settings("small").text
    assert old in text
    if (old, new) == ("bits = 10", "bits = 11"):
        text = text.replace("commands = 12", "commands = 10")
    with pytest.raises(FileError, match=words):
        parse_settings(text.replace(old, new), "small.toml")


def test_settings_are_read_from_a_file(tmp_path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(load_settings("small").text)
    assert read_settings(path) == load_settings("small")
    with pytest.raises(FileError, match="cannot be read"):
        read_settings(tmp_path / "missing.toml")


def test_the_tuned_settings_change_the_sensor_and_how_far_active_operations_end_and_nothing_else(full: Testbed) -> None:
    frozen, tuned = full.settings, load_settings("tuned")
    assert (tuned.draws, tuned.stream_flip, tuned.active_distance) == (frozen.hash, Fraction(1, 100), 10)
    changed = {"name": "testbed", "text": frozen.text, "stream_flip": Fraction(1, 50), "active_distance": 1}
    assert replace(tuned, **changed, drawn_as="") == frozen
    bed = load_testbed("tuned")
    for plant, other in zip(full.plants, bed.plants, strict=True):
        assert replace(other.plant, flip=frozen.stream_flip) == plant.plant and other.alternatives == plant.alternatives
    active, rejected = 0, 0
    for slot in full.slots():
        before, after = full.draw(slot), bed.draw(slot)
        apart = (after.true_endpoint ^ after.nominal_endpoint).bit_count()
        assert apart >= 10 if slot.active else apart == 0
        assert after.rejections >= before.rejections
        active, rejected = active + slot.active, rejected + after.rejections - before.rejections
        old, new = full.stream(before), bed.stream(after)
        assert np.array_equal(old.schedule, new.schedule)
        assert not (new.noise & ~old.noise).any() and new.noise.sum() < old.noise.sum()
        if not slot.active:
            assert (after.start, after.replacements) == (before.start, before.replacements)
            assert np.array_equal(before.readings, after.readings)
    assert active == 20 and rejected > 0


# ---- plants ----


@pytest.mark.parametrize("name", ["small", "testbed"])
def test_actuating_commands_overwrite_and_probing_ones_are_reversible(name: str) -> None:
    testbed = load_testbed(name)
    for drawn in testbed.plants:
        plant, settings = drawn.plant, testbed.settings
        assert [*drawn.actuating, *drawn.probing] == list(range(plant.num_actions))
        for c in drawn.actuating:
            low, high = settings.actuating_gates
            assert low <= len(plant.commands[c].gates) <= high
            assert {gate.op for gate in plant.commands[c].gates} <= set(settings.plants[drawn.number].actuating)
        assert all(plant.commands[c].is_reversible for c in drawn.probing)
        assert all(len(plant.commands[c].gates) == settings.probing_gates for c in drawn.probing)
        assert {plant.commands[c].tap for c in drawn.probing} == set(range(plant.num_bits))
        assert plant.flip == settings.stream_flip


def test_about_a_quarter_of_the_actuating_gates_set_or_clear(full: Testbed) -> None:
    for drawn in full.plants:
        ops = [gate.op for c in drawn.actuating for gate in drawn.plant.commands[c].gates]
        assert 0.15 < sum(op in {"set", "clear"} for op in ops) / len(ops) < 0.35
        assert set(ops) <= set(OPERATIONS) - {"not", "cnot", "toffoli"}


def test_a_command_has_its_number_of_alternatives_and_is_none_of_them(bed: Testbed) -> None:
    for drawn in bed.plants:
        assert len(drawn.alternatives) == len(drawn.actuating)
        for c, words in enumerate(drawn.alternatives):
            assert len(set(words)) == bed.settings.num_alternatives
            assert all(len(word) == 1 and word[0] in drawn.actuating and word != (c,) for word in words)


def test_another_seed_makes_another_plant() -> None:
    text = load_settings("small").text
    first, other = (
        make_testbed(parse_settings(t, "t")).plants[0].plant for t in (text, text.replace("= 1\n", "= 7\n", 1))
    )
    assert first != other


# ---- operations ----


def test_what_is_drawn_is_the_same_on_every_platform(full: Testbed) -> None:
    """The figures of docs/testbed.md rest on these draws: a change here is a change of the testbed."""
    assert full.settings.hash == EXPECTED_HASH
    text = repr([(d.plant.commands, d.alternatives) for d in full.plants])
    assert sha256(text.encode()).hexdigest() == EXPECTED_PLANTS
    operations = [full.draw(slot) for slot in full.slots() if slot.number == 0]
    digest = sha256()
    for op in operations:
        digest.update(repr((op.name, op.start, op.sent.tolist(), op.readings.tolist(), op.replacements)).encode())
    assert digest.hexdigest() == EXPECTED_OPERATIONS
    stream = full.stream(operations[0])
    assert sha256(repr((stream.schedule.tolist(), stream.noise.tolist())).encode()).hexdigest() == EXPECTED_STREAM


def test_the_operations_fill_their_quotas(bed: Testbed, full: Testbed) -> None:
    for testbed, count, active in ((bed, 36, 16), (full, 72, 20)):
        slots = list(testbed.slots())
        assert len(slots) == count
        assert sum(slot.active for slot in slots) == active
    for slot in bed.slots():
        assert bed.draw(slot).active == slot.active


def test_an_operation_is_what_its_replacements_say(bed: Testbed) -> None:
    for slot in bed.slots():
        op, drawn, settings = bed.draw(slot), bed.plants[slot.plant], bed.settings
        family = settings.families[slot.family]
        positions = [i for i, _ in op.replacements]
        assert len(positions) == family.replacements
        assert all(a < b for a, b in pairwise(positions))
        assert family.last[0] - 1 <= positions[-1] <= family.last[1] - 1
        done = op.sent.tolist()
        for i, word in op.replacements:
            assert word in op.alternatives[done[i]]
            done[i] = word[0]
        assert twin.run(drawn.plant, op.start, done)[0] == op.true_endpoint
        assert twin.run(drawn.plant, op.start, op.sent.tolist())[0] == op.nominal_endpoint
        assert op.drawn_as == settings.hash
        state = op.start
        for i, (sent, instead) in enumerate(zip(op.sent.tolist(), done, strict=True)):
            state, _ = twin.run(drawn.plant, state, [instead])
            if op.trusted[i]:
                assert op.readings[i] == state >> drawn.plant.commands[sent].tap & 1
        assert np.flatnonzero(op.trusted).tolist() == list(range(3, settings.log_length, 4))


def test_what_an_observer_may_see_is_read_only(bed: Testbed) -> None:
    op = bed.draw(next(bed.slots()))
    stream = bed.stream(op)
    for array in (op.sent, op.readings, op.trusted, stream.schedule, stream.noise):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_an_operation_does_not_depend_on_what_was_drawn_before_it(bed: Testbed) -> None:
    slots = list(bed.slots())
    forwards = {slot: bed.draw(slot) for slot in slots}
    again = load_testbed("small")
    for slot in reversed(slots):
        one, two = forwards[slot], again.draw(slot)
        assert (one.start, one.replacements, one.rejections) == (two.start, two.replacements, two.rejections)
        assert np.array_equal(one.readings, two.readings)


def test_the_first_fitting_candidate_is_taken_and_the_others_are_counted(bed: Testbed) -> None:
    slot = Slot("prospective", 0, 0, 0, active=True)
    op = bed.draw(slot)
    before, found = 0, False
    for batch in range(op.rejections // BATCH + 1):
        name = f"{bed.settings.hash}, {slot.name}, batch {batch}"
        for row, active in enumerate(draw_candidates(bed.settings, bed.plants[0], 0, name).distance.tolist()):
            if active:
                found = True
                assert BATCH * batch + row == op.rejections
                break
            before += 1
    assert found
    assert before == op.rejections


def test_candidates_are_active_exactly_when_their_runs_end_apart(bed: Testbed) -> None:
    for family in range(len(bed.settings.families)):
        drawn = bed.plants[1]
        batch = draw_candidates(bed.settings, drawn, family, f"candidates {family}", count=20)
        for r in range(20):
            sent = batch.sent[r].tolist()
            swaps = [
                (i, drawn.alternatives[sent[i]][k]) for i, k in zip(batch.position[r], batch.choice[r], strict=True)
            ]
            nominal, _ = drawn.plant.run(int(batch.start[r]), sent)
            truth, _ = replay(drawn.plant, int(batch.start[r]), sent, swaps)
            assert int(batch.distance[r]) == (truth ^ nominal).bit_count()


def test_positions_cover_their_family_and_starts_use_every_bit(bed: Testbed) -> None:
    batch = draw_candidates(bed.settings, bed.plants[0], 3, "cover", count=2000)
    low, high = bed.settings.families[3].last
    assert set(batch.position[:, 1].tolist()) == set(range(max(low, 2) - 1, high))
    assert set(batch.position[:, 0].tolist()) == set(range(high - 1))
    assert int(np.bitwise_or.reduce(batch.start)) == 2**10 - 1
    assert int(batch.start.max()) < 2**10


def test_a_quota_that_nothing_can_fill_is_said_so(monkeypatch) -> None:
    settings = load_settings("small")
    drawn = load_testbed("small").plants[0]
    still = replace(
        drawn,
        plant=BooleanPlant(names("b", 10), tuple(Command(c.name, (), c.tap) for c in drawn.plant.commands)),
    )
    monkeypatch.setattr("ascertain_paper.testbed.operations.MAX_CANDIDATES", 2 * BATCH)
    with pytest.raises(LimitError, match="none of 128 candidates"):
        Testbed(settings, (still,)).draw(Slot("prospective", 0, 0, 0, active=True))


def test_a_replaced_command_is_read_by_its_own_tap_after_the_whole_word() -> None:
    plant = BooleanPlant(
        ("a", "b"),
        (Command("set a", (Gate("set", 0),), 0), Command("set b", (Gate("set", 1),), 1), Command("look", (), 1)),
    )
    assert replay(plant, 0, [0, 2], []) == (0b01, [1, 0])
    assert replay(plant, 0, [0, 2], [(0, (1,))]) == (0b10, [0, 1])
    assert replay(plant, 0, [0, 2], [(0, ())]) == (0b00, [0, 0])
    assert replay(plant, 0, [0, 2], [(0, (1, 0))]) == (0b11, [1, 1])


def test_blocks_hold_one_active_operation_for_each_stratum_and_differ(bed: Testbed) -> None:
    first, second = ([bed.draw(s) for s in bed.block_slots("calibration", b)] for b in (0, 1))
    assert len(first) == len(bed.settings.strata) == 16
    assert all(op.active for op in first)
    starts = [[op.start for op in ops] for ops in (first, second)]
    assert starts[0] != starts[1]


def test_activity_is_measured_as_often_as_it_is_drawn(bed: Testbed) -> None:
    share = bed.measure_activity(0, 2, 100)
    assert 128 % share.denominator == 0
    assert 0 < share < 1


def test_a_fair_share_of_disturbed_operations_is_active(full: Testbed) -> None:
    for plant in range(2):
        rates = [full.measure_activity(plant, family, BATCH) for family in range(6)]
        assert 0.13 < float(sum(rates) / 6) < 0.28
        assert max(rates[0], rates[1]) < rates[2]


# ---- streams ----


def test_every_block_of_a_stream_taps_each_bit_once(full: Testbed) -> None:
    op = full.draw(Slot("prospective", 1, 2, 0, active=True))
    stream, plant = full.stream(op), full.plants[1].plant
    assert stream.schedule.size == 600
    for at in range(0, 600, 24):
        assert {plant.commands[c].tap for c in stream.schedule[at : at + 24].tolist()} == set(range(24))
    assert 0 < stream.noise.sum() < 40


def test_readings_are_taps_with_the_noise_of_their_position_whatever_is_done(bed: Testbed) -> None:
    op = bed.draw(next(bed.slots()))
    drawn, stream = bed.plants[op.slot.plant], bed.stream(op)
    after, readings = stream.read(drawn, op.true_endpoint)
    end, taps = twin.run(drawn.plant, op.true_endpoint, stream.schedule.tolist())
    assert after == end
    assert np.array_equal(readings ^ stream.noise, np.array(taps))
    other = np.full(30, drawn.probing[0], dtype=np.int32)
    _, elsewhere = stream.read(drawn, op.true_endpoint, other)
    _, plain = twin.run(drawn.plant, op.true_endpoint, other.tolist())
    assert np.array_equal(elsewhere ^ np.array(plain), stream.noise[:30])


def test_streams_of_different_operations_differ_and_repeat_themselves(bed: Testbed) -> None:
    one, two = (bed.draw(slot) for slot in list(bed.slots())[:2])
    assert np.array_equal(bed.stream(one).schedule, bed.stream(one).schedule)
    assert np.array_equal(bed.stream(one).noise, bed.stream(one).noise)
    assert not np.array_equal(bed.stream(one).schedule, bed.stream(two).schedule)


def test_a_small_plant_agrees_with_its_machine_along_a_log(bed: Testbed) -> None:
    op = bed.draw(next(bed.slots()))
    machine = enumerate_machine(bed.plants[0].plant)
    state = op.start
    for command in op.sent.tolist():
        state = int(machine.successor[state, command])
    assert state == op.nominal_endpoint


# ---- named models ----


@given(st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, 2**n - 1))))
def test_a_shift_register_shows_its_state_bit_by_bit_and_ends_empty(register_and_state: tuple[int, int]) -> None:
    num_bits, state = register_and_state
    machine, at, read = shift_register(num_bits), state, []
    for _ in range(num_bits):
        read.append(bool(machine.output[at, 0]))
        at = int(machine.successor[at, 0])
    assert twin.gather(read) == state
    assert at == 0


def test_a_register_is_read_bit_by_bit_and_never_changes() -> None:
    plant = register(5, Fraction(1, 10))
    assert plant.run(0b10110, range(5)) == (0b10110, [0, 1, 1, 0, 1])
    assert plant.flip == Fraction(1, 10)
