"""Wiring files: what they say, what values read as, what faults mean, and adapters of other packages."""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.errors import AscertainError, FileError, PlantFault, TaskError
from ascertain.plant import PLANTS, find_adapter, find_kind
from ascertain.plant.faults import (
    ActionFault,
    Garbled,
    HalfDone,
    HungUp,
    InDoubt,
    Late,
    NotSent,
    Refused,
    Restarted,
)
from ascertain.plant.wiring.adapter import AbstractAdapter, AdapterSettings, Step, StepForm
from ascertain.plant.wiring.decoding import as_text, read_decoder
from ascertain.plant.wiring.file import WiredAction, Wiring, read_wiring
from ascertain.plant.wiring.plant import WiredPlant, open_wiring
from ascertain.problem.starter import write_starter
from tests.calls import call, free_port, install, run_installed
from tests.conftest import LAMP
from tests.reference.wiring import holds, what_ran

BENCH = """
class Bench:
    identity = "bench 4"
    lit = True
    def send(self, action):
        if action == "press the switch":
            self.lit = not self.lit
            return "click"
        return "lit" if self.lit else "dark"

def look(action):
    return "lit" if action == "look" else "click"
"""


# ------------------------------------------------------------------------------------------------------ decoding

NUMBERS = st.fractions(-3, 3, max_denominator=4)
SIDES = st.tuples(st.sampled_from(["<", "<=", ">", ">=", "="]), NUMBERS)


@given(st.lists(SIDES, min_size=1, max_size=3), st.lists(SIDES, min_size=1, max_size=3), st.lists(NUMBERS, max_size=30))
def test_bands_are_the_points_that_their_signs_say(one: list[Any], two: list[Any], points: list[Fraction]) -> None:
    points = [*points, *(end + d for _, end in [*one, *two] for d in (-9, Fraction(-1, 99), 0, Fraction(1, 99), 9))]
    inside = [[all(holds(sign, x, end) for sign, end in band) for x in points] for band in (one, two)]
    bands = {name: ", ".join(f"{s} {end}" for s, end in band) for name, band in (("one", one), ("two", two))}
    overlap = any(a and b for a, b in zip(*inside, strict=True))
    try:
        decoder = read_decoder({"bands": bands, "else": "none"}, "w")
    except TaskError as error:
        assert ("overlap" in str(error) and overlap) or "no number is in the band" in str(error)
        if "no number" in str(error):
            assert not any(inside[0]) or not any(inside[1])
        return
    assert not overlap and any(inside[0]) and any(inside[1])
    for x, in_one, in_two in zip(points, *inside, strict=True):
        expected = "one" if in_one else "two" if in_two else "none"
        assert next((r for r, interval in decoder.bands if x in interval), "none") == expected
        if x.denominator in (1, 2, 4):
            assert decoder.decode(float(x)) == decoder.decode(str(float(x))) == expected


def test_a_band_with_dots_includes_its_low_end_alone() -> None:
    decoder = read_decoder({"bands": {"low": "< 0.3", "middle": "0.3 .. 3", "high": ">= 3"}}, "w")
    told = {
        0.29: "low",
        0.3: "middle",
        "0.3": "middle",
        2.999: "middle",
        3: "high",
        "+3.0E+00": "high",
        math.inf: "high",
    }
    assert {value: decoder.decode(value) for value in told} == told
    for value in (math.nan, "nan", "warm", "", True, None, [1], "1" * 70000):
        with pytest.raises(Garbled):
            decoder.decode(value)
    total = read_decoder({"bands": {"any": [">= 0", "< 0"]}, "else": "odd"}, "w")
    assert (total.decode(math.nan), total.decode(-math.inf), total.decode(1)) == ("odd", "any", "any")
    with pytest.raises(Garbled):
        total.decode("warm")  # else is for numbers that are in no band, not for what is no number


def test_maps_know_texts_numbers_and_truth_values() -> None:
    decoder = read_decoder(
        {"map": {"0": "shut", "1.50": "half", "true": "yes", "null": "nothing", "OPEN": "open"}}, "w"
    )
    told = {0: "shut", "0": "shut", 1.5: "half", "1.50": "half", "OPEN": "open"}
    assert {value: decoder.decode(value) for value in told} == told
    assert (decoder.decode(True), decoder.decode(None), decoder.decode("null")) == ("yes", "nothing", "nothing")
    for value in (1, "1.5", False, "open", math.nan):
        with pytest.raises(Garbled, match="fits nothing"):
            decoder.decode(value)


def test_patterns_are_tried_in_the_order_of_the_file_and_within_a_time() -> None:
    decoder = read_decoder({"match": {"busy": "BUSY", "ok": "^READY"}, "else": "odd"}, "w")
    assert [decoder.decode(text) for text in ("READY", "READY BUSY", "gone", 3)] == ["ok", "busy", "odd", "odd"]
    hostile = read_decoder({"match": {"x": "^(a|aa|a*)*(a|b)*c$"}}, "w")
    with pytest.raises(Garbled):  # too long, or not found: never for ever
        hostile.decode("a" * 5000 + "!")
    with pytest.raises(Garbled, match="no text"):
        decoder.decode("x" * 70000)


def test_without_a_table_the_text_itself_is_read() -> None:
    texts = {3: "3", 2.0: "2", 0.1: "0.1", "x y": "x y", -0.0: "0"}
    assert {value: as_text(value) for value in texts} == texts
    assert [as_text(value) for value in (True, False, None)] == ["true", "false", "null"]
    for value in (math.nan, math.inf, {}, b"x", 10**400):
        with pytest.raises(Garbled):
            as_text(value)


# ------------------------------------------------------------------------------------------------------ the file

GOOD = """
[plant]
kind = "http"
address = "http://127.0.0.1:1"
[[action]]
name = "look"
read = "/lamp"
bands = { dark = "< 1", lit = ">= 1" }
"""


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("[plant]", "[plnt]", "unknown key 'plnt'; did you mean 'plant'?"),
        ('kind = "http"\n', "", "[plant] kind is needed: text"),
        ('"http"', '"htpt"', "[plant] kind: 'htpt' is not a kind of wired plant; did you mean 'http'?"),
        ('"http"', '"exec"', "[plant] kind: 'exec' is not a kind of wired plant"),
        ("address", "adress", "[plant] unknown key 'adress'; did you mean 'address'?"),
        ("[[action]]", "timeout = 0\n[[action]]", "[plant] timeout: 0 is not understood"),
        ("[[action]]", "timeout = true\n[[action]]", "[plant] timeout must be a whole number or a number, not True"),
        ("[[action]]", "silence = 3\n[[action]]", "[plant] silence must be text, not 3"),
        ("[[action]]", "[action]", "actions are sections [[action]]"),
        ('name = "look"\n', "", "[[action]] number 1: name is needed: text"),
        ("read =", "raed =", "[[action]] 'look': unknown key 'raed'; did you mean 'read'?"),
        ('read = "/lamp"', "", "[[action]] 'look': it does nothing"),
        ('read = "/lamp"', "steps = [{ wait = 1 }]", "[[action]] 'look': nothing is read"),
        ('read = "/lamp"', "steps = [{ wait = -1 }]", "[[action]] 'look' step 1 wait: -1 is not understood"),
        ('read = "/lamp"', 'steps = [{ wait = "x" }]', "[[action]] 'look' step 1 wait: seconds are needed"),
        ('read = "/lamp"', "steps = [{ wait = 1, for = 2 }]", "[[action]] 'look' step 1 unknown key 'for'; nothing"),
        (
            'read = "/lamp"',
            'steps = [{ write = "x" }]',
            "[[action]] 'look' step 1: 'write' is given; a step has one of",
        ),
        ('read = "/lamp"', "steps = [3]", "[[action]] 'look' step 1: a step is a table"),
        ('read = "/lamp"', "read = { wait = 1 }", "[[action]] 'look' read: 'wait' gives no value"),
        ('"< 1"', '"<1, >2"', "[[action]] 'look' bands 'dark': no number is in the band"),
        ('"< 1"', '"<= 1"', "[[action]] 'look' bands: the bands of 'dark' and 'lit' overlap"),
        ('"< 1"', '"below 1"', "[[action]] 'look' bands 'dark': this is not a band; write it like"),
        ('"< 1"', "1", "[[action]] 'look' bands 'dark': a band is a text"),
        ("bands", "bandz", "[[action]] 'look': unknown key 'bandz'; did you mean 'bands'?"),
        ("bands =", 'map = { a = "b" }\nbands =', "[[action]] 'look': bands and map are given"),
        ('{ dark = "< 1", lit = ">= 1" }', "{}", "[[action]] 'look' bands must be a table with something in it"),
        (
            'bands = { dark = "< 1", lit',
            'match = { lit = "(", x',
            "[[action]] 'look' match 'lit': '(' is not a regular",
        ),
        (
            'bands = { dark = "< 1", lit = ">= 1" }',
            'map = { "1" = "a", "1.0" = "b" }',
            "[[action]] 'look' map: '1' and",
        ),
        ("bands =", "else = 3\nbands =", "[[action]] 'look' else must be the name of a reading, not 3"),
        ("bands =", "retry_safe = 1\nbands =", "[[action]] 'look' retry_safe must be true or false, not 1"),
        ("[[action]]", '[[action]]\nname = "look"\nread = "/x"\n[[action]]', "[[action]] 'look' is there twice"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_file_and_field(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    path = tmp_path / "wiring.toml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(AscertainError) as error:
        read_wiring(path)
    assert str(error.value).startswith(f"{path}: {sentence}"), error.value
    assert error.value.exit_code == 2


def test_a_file_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wiring.toml"
    path.write_text(GOOD + "#" * 2**20)
    with pytest.raises(FileError, match="a wiring has at most"):
        read_wiring(path)


@given(st.text(alphabet='[]{}=". \nabckindplt<>0', max_size=80))
def test_whatever_is_written_is_read_or_refused(text: str) -> None:
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"ascertain-wiring-{os.getpid()}.toml"
    path.write_text(GOOD + text)
    try:
        with contextlib.suppress(AscertainError):
            read_wiring(path)
    finally:
        path.unlink()


@pytest.mark.parametrize("kind", [kind.prefix for kind in PLANTS if kind.adapter is not None])
def test_every_kind_has_a_template_that_is_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "wiring.toml"
    assert call("init", "--plant", kind, path).stdout.split(";")[1].strip() == f"next: ascertain wire {path}".strip()
    wiring = read_wiring(path)
    assert wiring.kind == kind and str(path) in path.read_text()
    wiring.adapter(AdapterSettings(wiring.address, wiring.options, tmp_path))
    with pytest.raises(FileError, match="there already"):
        write_starter(path, plant=kind)


def test_a_kind_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    assert "did you mean 'http'?" in call("init", "--plant", "htp", tmp_path / "w.toml", code=2).stderr
    with pytest.raises(TaskError, match=r"ascertain init --plant http wiring\.toml"):
        find_kind("http://127.0.0.1")
    assert find_kind("folder/Wiring.TOML")[0] is PLANTS.find("wiring")
    with pytest.raises(FileError, match="there is no such file"):
        read_wiring(tmp_path / "none.toml")


# ---------------------------------------------------------------------------------------------- what faults mean


class Scripted(AbstractAdapter):
    """Raises what it is told at one step, once, and counts what it did."""

    steps: ClassVar[Mapping[str, StepForm]] = {
        "write": StepForm(changes=True, gives=False),
        "read": StepForm(changes=False, gives=True),
    }
    fault: ClassVar[ActionFault | None] = None
    at: ClassVar[int] = 0
    connections: ClassVar[int] = 0

    def connect(self, timeout: float) -> str | None:
        type(self).connections += 1
        self.done = getattr(self, "done", [])
        return "scripted"

    def close(self) -> None:
        pass

    def do(self, step: Step, timeout: float) -> object:
        if len(self.done) == self.at and self.fault is not None:
            type(self).fault, fault = None, self.fault
            raise fault
        self.done.append(step.told)
        return "value"


def scripted(changes: list[bool], *, fault: ActionFault, at: int, **words: Any) -> WiredPlant:
    Scripted.fault, Scripted.at, Scripted.connections = fault, at, 0
    steps = tuple(Step("write" if c else "read", str(i), {}, c, not c) for i, c in enumerate(changes))
    reads = max((i for i, c in enumerate(changes) if not c), default=None)
    decoder = read_decoder({"else": "done"} if reads is None else {}, "w")
    action = WiredAction("go", steps, reads, decoder, words.pop("retry_safe", False), words.pop("silence", None))
    return WiredPlant(Wiring(Path("w"), "scripted", Scripted, "nowhere", actions={"go": action}, **words))


KINDS = [NotSent, Late, HungUp, InDoubt, Refused, Garbled]


@given(st.lists(st.booleans(), min_size=1, max_size=4), st.data(), st.booleans(), st.booleans())
def test_faults_mean_what_listing_all_that_may_have_happened_says(
    changes: list[bool], data: st.DataObject, reconnect: bool, retry_safe: bool
) -> None:
    at = data.draw(st.integers(0, len(changes) - 1))
    kind = data.draw(st.sampled_from(KINDS))
    plant = scripted(changes, fault=kind("why"), at=at, reconnect=reconnect, retry_safe=retry_safe)
    with pytest.raises(ActionFault) as error:
        plant.send("go")
    heard, not_done = error.value, kind in (NotSent, Refused)
    ran = what_ran(changes, at, not_done)
    if isinstance(heard, HalfDone):
        assert ran == "half"
    elif isinstance(heard, InDoubt | Late):  # a session then follows both cases: it ran as a whole, or not at all
        assert ran != "half"
    else:  # the run ends, unless it is mended
        assert ran != "half" and isinstance(heard, HungUp | Refused | Garbled)
    if ran == "doubt" and kind in (Late, InDoubt):
        assert isinstance(heard, InDoubt)
    again = plant.may_repeat("go")
    if again:
        assert kind is not Garbled and (not changes[at] or not_done or retry_safe)
        assert reconnect or kind not in (NotSent, HungUp)
        plant.repeat("go")
        assert plant._adapter.done == [str(i) for i in range(len(changes))]  # type: ignore[attr-defined]
    elif kind not in (Garbled, NotSent, HungUp):
        assert changes[at] and not not_done and not retry_safe


def test_a_late_answer_is_never_taken_for_the_next_one() -> None:
    plant = scripted([False], fault=Late("why"), at=0)
    with pytest.raises(Late):
        plant.send("go")
    assert (plant.repeat("go"), Scripted.connections) == ("value", 2)
    plant = scripted([False], fault=Late("why"), at=0, silence="-")
    assert (plant.send("go"), plant.send("go"), Scripted.connections) == ("-", "value", 2)
    plant = scripted([True, False], fault=Late("why"), at=0, silence="-")
    with pytest.raises(InDoubt):  # of a write nobody expects an answer that could be missing
        plant.send("go")


def test_what_an_adapter_should_not_raise_ends_the_run() -> None:
    plant = scripted([False], fault=Late("x"), at=0)
    Scripted.fault = ZeroDivisionError("by zero")  # type: ignore[assignment]
    with pytest.raises(PlantFault, match="'go', read 0: ZeroDivisionError: by zero"):
        plant.send("go")
    assert not plant.may_repeat("go")
    with pytest.raises(PlantFault):
        scripted([False], fault=Restarted("it is new"), at=0).send("go")


def test_a_run_that_broke_off_is_asked_again_only_where_that_is_safe() -> None:
    assert scripted([False, False], fault=Late(""), at=9).may_repeat("go")
    assert not scripted([True, False], fault=Late(""), at=9).may_repeat("go")
    assert scripted([True, True], fault=Late(""), at=9, retry_safe=True).may_repeat("go")


# ------------------------------------------------------------------------------------------------ lines and Python


def lamp_wiring(folder: Path, name: str = "lamp.sh") -> Path:
    program = "sh" if name.endswith("sh") else sys.executable
    path = folder / "wiring.toml"
    path.write_text(f"""
[plant]
kind = "lines"
address = "exec:{program} {LAMP.parent / name}"
[[action]]
name = "look"
map = {{ lit = "lit", dark = "dark" }}
[[action]]
name = "press the switch"
steps = [{{ query = "press the switch" }}]
""")
    return path


def test_a_program_that_speaks_lines_can_be_wired(tmp_path: Path) -> None:
    path = lamp_wiring(tmp_path)
    facts = json.loads(call("observe", LAMP, "--plant", path, "--json").stdout)
    assert (facts["label"], facts["plant"]) == ("lit", "lamp")
    assert "press the switch -> click" in call("wire", path, "--try", "press the switch").stdout
    with contextlib.closing(open_wiring(path)) as plant:
        assert (plant.identity, plant.may_repeat("look")) == ("lamp", False)
        with pytest.raises(Restarted, match="cannot be known to be where it was"):
            plant.resume(["look"])
    with contextlib.closing(open_wiring(lamp_wiring(tmp_path, "lamp.py"))) as plant:
        assert plant.may_repeat("look") and plant.send("look") == plant.repeat("look") == "lit"
    path.write_text(path.read_text().replace("lamp.py", "none.py"))
    assert call("wire", path, code=4).stderr.startswith(f"ascertain: {path}: the plant at exec:")
    path.write_text(f'[plant]\nkind = "lines"\naddress = "tcp://127.0.0.1:{free_port()}"\n')
    assert call("wire", path, code=4).stderr.count("cannot be reached") == 1
    path = lamp_wiring(tmp_path)
    path.write_text(path.read_text().replace("[{ query", "[{ wait = 1 }, { query"))
    assert "is one step; 2 are given" in call("wire", path, code=2).stderr
    path.write_text('[plant]\nkind = "lines"\naddress = "udp://x"\n')
    assert "[plant] address: 'udp://x' is not understood" in call("wire", path, code=2).stderr


def test_a_python_object_is_a_plant_by_name_and_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "wired_bench.py").write_text(BENCH)
    path = tmp_path / "wiring.toml"
    path.write_text('[plant]\nkind = "python"\naddress = "wired_bench:Bench"\n')
    facts = json.loads(call("observe", LAMP, "--plant", path, "--identity", "bench 4", "--json").stdout)
    assert facts["label"] == "lit"  # found beside the file
    monkeypatch.chdir(tmp_path)
    assert json.loads(call("observe", LAMP, "--plant", "python:wired_bench:look", "--json").stdout)["label"] == "lit"
    shown = call("wire", path, "--try", "press the switch").stdout
    assert "actions go by their names" in shown and "press the switch -> click" in shown
    for address, sentence in {
        "wired_bench:Bnech": "[plant] address: wired_bench:Bnech cannot be found",
        "no_such_bench:x": "No module named 'no_such_bench'",
        "bench": "'bench' is not MODULE:NAME",
        "wired_bench:Bench.identity": "can neither be called nor has it a method send",
    }.items():
        assert sentence in call("observe", LAMP, "--plant", f"python:{address}", code=2).stderr


ODD = """
import asyncio, time
calls = []
class Slow:
    async def identity(self):
        return "slow"
    async def send(self, action):
        calls.append(action)
        if action == "sleep":
            await asyncio.sleep(1.0)
        if action == "nap":
            time.sleep(1.0)
        if action in ("late", "gone", "broken"):
            raise {"late": TimeoutError, "gone": ConnectionError, "broken": KeyError}[action](action)
        return len(calls)
    async def close(self):
        calls.append("closed")
"""


def test_async_objects_late_calls_and_what_they_raise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "wired_odd.py").write_text(ODD)
    path = tmp_path / "wiring.toml"
    path.write_text('[plant]\nkind = "python"\naddress = "wired_odd:Slow"\ntimeout = 0.8\n')
    with contextlib.closing(open_wiring(path)) as plant:
        assert (plant.identity, plant.send("look")) == ("slow", "1")
        for action in ("sleep", "nap"):
            with pytest.raises(InDoubt, match="in time"):
                plant.send(action)
            assert not plant.may_repeat(action)
            assert plant.send("look") in ("3", "5")  # the call that was late came first, and its answer is dropped
        with pytest.raises(InDoubt):
            plant.send("late")
        with pytest.raises(PlantFault, match="KeyError: 'broken'"):
            plant.send("broken")
    import wired_odd  # type: ignore[import-not-found]

    assert wired_odd.calls[-1] == "closed"
    with contextlib.closing(open_wiring(path)) as plant, pytest.raises(HungUp):
        plant.send("gone")
    with contextlib.closing(open_wiring(path)) as plant, pytest.raises(Restarted):
        plant.resume(["look"])


# --------------------------------------------------------------------------------------------- an installed adapter

PACKAGE = """
from typing import ClassVar
from ascertain.plant import PlantKind
from ascertain.plant.faults import Refused
from ascertain.plant.wiring.adapter import AbstractAdapter, StepForm

class Drawer(AbstractAdapter):
    steps = {"write": StepForm(True, False, keys={"value": (int,)}, needs=("value",)), "read": StepForm(False, True)}
    options = {"size": (int,)}
    def connect(self, timeout):
        self.cells = {"lux": 50}
        return f"drawer of {self.settings.options['size']}"
    def close(self):
        pass
    def do(self, step, timeout):
        if step.verb == "read":
            return self.cells[step.told]
        if step.told not in self.cells and len(self.cells) > self.settings.options["size"]:
            raise Refused("the drawer is full")
        self.cells[step.told] = step.words["value"]

DRAWER = PlantKind("drawer", adapter=Drawer)
"""
DRAWN = """
[plant]
kind = "drawer"
address = "here"
size = 2
[[action]]
name = "look"
read = "lux"
bands = { dark = "< 10", lit = ">= 10" }
[[action]]
name = "press the switch"
steps = [{ write = "switch", value = 1 }]
else = "click"
"""


def test_an_adapter_of_an_installed_package_is_used(tmp_path: Path) -> None:
    install(tmp_path, "drawers", PACKAGE, "[ascertain.plants]\ndrawer = drawers:DRAWER\n")
    (tmp_path / "drawers.toml").write_text(DRAWN)
    (tmp_path / "bad.toml").write_text(DRAWN.replace("value = 1", 'value = "1"'))

    run = partial(run_installed, tmp_path)
    facts = json.loads(run("observe", LAMP, "--plant", "drawers.toml", "--json").stdout)
    assert (facts["label"], facts["plant"]) == ("lit", "drawer of 2")
    assert "write switch, value 1" in run("wire", "drawers.toml").stdout
    run("init", "--plant", "drawer", "new.toml")  # its template stands beside its module
    assert (tmp_path / "new.toml").read_text() == DRAWN
    assert "'press the switch' step 1 value must be a whole number, not '1'" in run("wire", "bad.toml", code=2).stderr


def test_a_package_that_is_missing_is_named_with_its_extra(tmp_path: Path) -> None:
    path = tmp_path / "wiring.toml"
    path.write_text(GOOD)
    code = "import sys; sys.modules['httpx'] = None; from ascertain.__main__ import main; main()"
    words = [sys.executable, "-c", code, "wire", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        2,
        "ascertain: httpx is not installed; install it with: pip install 'ascertain[http]'\n",
    )
    assert find_adapter("http", "w").steps
