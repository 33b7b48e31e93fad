"""Plants at the other end of lines: programs and sockets, with everything that can go wrong there."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import sys
import threading
from collections.abc import Callable, Generator
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.errors import PlantFault
from ascertain.model.boolean import BooleanPlant
from ascertain.model.named import register
from ascertain.plant.channel import Channel, open_program, open_socket
from ascertain.plant.faults import (
    ActionFault,
    Contradicted,
    Garbled,
    HungUp,
    InDoubt,
    Late,
    Missing,
    Refused,
    Restarted,
)
from ascertain.plant.line_plant import MAX_DROPPED, LinePlant
from ascertain.plant.lines import MAX_LINE, read_greeting, read_name, write_name
from ascertain.plant.simulated import SimulatedPlant
from ascertain.problem.plants import open_plant
from ascertain.problem.problem import read_problem
from tests.calls import free_port
from tests.conftest import ROOT
from tests.scripted import ScriptedServer

LAMP = ROOT / "examples" / "plants"


def program(source: str, tmp_path: Path, **options: object) -> LinePlant:
    """A plant that is this Python program; `say` writes a line at once, `hear` reads one."""
    head = "import sys, time, os\nsay = lambda x: print(x, flush=True)\nhear = lambda: sys.stdin.readline().strip()\n"
    path = tmp_path / "program.py"
    path.write_text(head + source)
    return LinePlant(lambda: open_program(f"{sys.executable} {path}"), **{"timeout": 20.0, **options})  # type: ignore[arg-type]


class FakeChannel:
    """Answers whatever `reply` returns for a line."""

    def __init__(self, reply: Callable[[str], list[bytes]]) -> None:
        self.reply, self.out, self.sent = reply, [], []  # type: ignore[var-annotated]

    def write(self, line: str, deadline: float) -> None:
        self.sent.append(line)
        self.out += self.reply(line)

    def read(self, deadline: float) -> bytes:
        if not self.out:
            raise Late("nothing")
        return self.out.pop(0)

    def close(self) -> None:
        pass


def fake(*answers: bytes, greeting: bytes = b"plant fake") -> tuple[LinePlant, FakeChannel]:
    """A plant that gives the lines of one answer after the other, whatever it is sent."""
    rest = list(answers)
    channel = FakeChannel(lambda line: [greeting] if line.startswith("hello") else rest.pop(0).split(b"\n"))
    return LinePlant(lambda: channel), channel


# ----------------------------------------------------------------------------------------------------- the lines


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_every_name_survives_the_line(name: str) -> None:
    written = write_name(name)
    assert read_name(written) == name
    assert written.isprintable() and written == written.strip() and written
    assert written[0] not in "!?~"
    plant, _ = fake(f"1 {written}".encode() + b"\r", greeting=b"plant " + written.replace(" ", "%20").encode())
    assert plant.name == name
    assert plant.send("a") == name


def test_simple_names_are_written_as_they_are() -> None:
    assert write_name("look at the gauge, 100 µm!") == "look at the gauge, 100 µm!"
    assert [write_name(x) for x in ("", " a ", "!a", "50%", "a\nb")] == ["%", "%20a%20", "%21a", "50%25", "a%0Ab"]


def test_a_name_that_is_no_text_or_too_long_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    plant, channel = fake(b"1 ok")
    with pytest.raises(PlantFault, match="no Unicode text"):
        plant.send("\ud800")
    real = program("hear(); say('plant p'); hear()", tmp_path)
    with contextlib.closing(real), pytest.raises(PlantFault, match="at most 4096 can be sent"):
        real.send("x" * 5000)
    assert len(channel.sent) == 1


@pytest.mark.parametrize("line", ["", "plant", "hello", "plant a b", "plant a last=x", "plant a last=-1", "plant %g"])
def test_a_greeting_that_is_none_is_refused(line: str) -> None:
    with pytest.raises(Garbled):
        read_greeting(line)


def test_a_greeting_says_name_safety_and_last_number() -> None:
    greeting = read_greeting("plant the%20lamp last=7 retry-safe")
    assert (greeting.name, greeting.retry_safe, greeting.last) == ("the lamp", True, 7)


def test_answers_carry_the_number_they_were_given() -> None:
    plant, channel = fake(b"1 ok", b"2 ok")
    assert [plant.send("a b"), plant.send("c")] == ["ok", "ok"]
    assert channel.sent == ["hello ascertain 1 0", "1 a b", "2 c"]


def test_late_and_duplicate_answers_are_dropped_by_their_number() -> None:
    plant, _ = fake(b"1 one", b"1 one\n1 one\n2 two", b"")
    assert [plant.send("a"), plant.send("b")] == ["one", "two"]
    assert plant.dropped == 2


def test_an_answer_that_comes_after_its_time_is_not_taken_for_the_next() -> None:
    model = register(2, Fraction(0))
    server = ScriptedServer(SimulatedPlant(model, 1), 0, 4, 1.0, ("delay",))
    plant = LinePlant(server.connect)
    with pytest.raises(Late):
        plant.send("read0")
    server.rate = 0.0
    assert (plant.send("read1"), plant.dropped, server.acted) == ("0", 1, ["read0", "read1"])


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (b"\xff\xfe", Garbled),
        (b"hello", Garbled),
        (b"1", Garbled),
        (b"-1 ok", Garbled),
        (b"9 ok", Garbled),
        (b"1 o%k", Garbled),
        (b"1 %ff", Garbled),
        (b"1 a\x07b", Garbled),
        ("\uff11 ok".encode(), Garbled),
        (b"1234567890123456789 ok", Garbled),
        (b"1 !busy", Refused),
        (b"1 ?", Missing),
        (b"1 ~lost", InDoubt),
    ],
)
def test_an_answer_that_is_no_reading_is_the_fault_that_it_is(answer: bytes, fault: type[ActionFault]) -> None:
    plant, _ = fake(answer)
    with pytest.raises(fault) as caught:
        plant.send("a")
    assert caught.value.exit_code == 4


def test_two_different_readings_for_one_number_are_not_believed() -> None:
    plant, _ = fake(b"1 one", b"1 other\n2 two")
    plant.send("a")
    with pytest.raises(Contradicted, match="number 1 with 'one' and now with 'other'"):
        plant.send("b")


def test_a_plant_that_answers_old_numbers_for_ever_is_not_waited_for() -> None:
    plant, _ = fake(b"1 x", b"\n".join([b"1 x"] * (MAX_DROPPED + 5)))
    plant.send("a")
    with pytest.raises(Garbled, match="none to 2"):
        plant.send("b")


def test_a_retry_safe_plant_is_sent_the_same_number_and_acts_once() -> None:
    model = register(2, Fraction(0))
    server = ScriptedServer(SimulatedPlant(model, 1), 0, 4, retry_safe=True)
    plant = LinePlant(server.connect)
    first = plant.send(model.actions[0])
    assert [plant.repeat(model.actions[0]) for _ in range(3)] == [first] * 3
    assert server.acted == [model.actions[0]]


def asked_once() -> tuple[BooleanPlant, ScriptedServer, LinePlant]:
    """A plant that can be called again, its server, and its model; the first action is done."""
    model = register(2, Fraction(0))
    server = ScriptedServer(SimulatedPlant(model, 1), 0, 4, retry_safe=True, says_last=True)
    plant = LinePlant(server.connect)
    plant.send(model.actions[0])
    return model, server, plant


@pytest.mark.parametrize("when", ["hang up before", "hang up after"])
def test_after_a_hang_up_a_plant_that_knows_its_last_number_is_called_again(when: str) -> None:
    model, server, plant = asked_once()
    server.rate, server.faults = 1.0, (when,)
    with pytest.raises(HungUp):
        plant.send(model.actions[1])
    server.rate = 0.0
    assert plant.repeat(model.actions[1]) == SimulatedPlant(model, 1).send(model.actions[1])
    assert server.acted == [model.actions[0], model.actions[1]]


def test_a_restarted_plant_is_recognised() -> None:
    model, server, plant = asked_once()
    server.rate, server.faults = 1.0, ("restart",)
    with pytest.raises(HungUp):
        plant.send(model.actions[1])
    with pytest.raises(Restarted, match="number 0 of this run was its last, and 1 was expected"):
        plant.repeat(model.actions[1])


def test_another_plant_in_its_place_is_recognised() -> None:
    model, server, plant = asked_once()
    server.rate, server.faults = 1.0, ("hang up after",)
    with pytest.raises(HungUp):
        plant.send(model.actions[1])
    server.name = "changeling"
    with pytest.raises(Restarted, match="was 'scripted' and is now 'changeling'"):
        plant.repeat(model.actions[1])


@pytest.mark.parametrize("says_last", [False, True])
def test_without_a_sign_that_it_is_where_it_was_a_plant_is_not_called_again(says_last: bool) -> None:
    model = register(2, Fraction(0))
    server = ScriptedServer(SimulatedPlant(model, 1), 0, 4, 1.0, ("restart",), retry_safe=True, says_last=says_last)
    plant = LinePlant(server.connect)
    for ask in (plant.send, plant.repeat):
        with pytest.raises(HungUp):
            ask(model.actions[0])


def test_a_run_is_taken_up_only_by_the_plant_that_has_done_it() -> None:
    for last, sent, confirmed, right in [(2, 2, None, True), (3, 2, None, True), (1, 2, None, False), (1, 2, 1, True)]:
        plant, channel = fake(b"3 ok", greeting=f"plant p retry-safe last={last}".encode())
        if right:
            plant.resume(["a"] * sent, confirmed)
            assert plant.send("b") == "ok"
            assert channel.sent[-1] == "3 b"
        else:
            with pytest.raises(Restarted):
                plant.resume(["a"] * sent, confirmed)


def test_a_new_run_is_not_begun_on_a_plant_that_has_done_some_of_it() -> None:
    plant, _ = fake(b"1 ok", greeting=b"plant p last=4")
    with pytest.raises(Restarted, match="has done 4 actions of this run"):
        plant.send("a")


# ------------------------------------------------------------------------------------------------------ programs


@pytest.mark.parametrize("command", [f"{sys.executable} {LAMP / 'lamp.py'}", f"sh {LAMP / 'lamp.sh'}"])
def test_the_example_plants_speak_the_protocol(command: str) -> None:
    with contextlib.closing(LinePlant(lambda: open_program(command), timeout=20)) as plant:
        assert plant.name == "lamp"
        word = ["look", "press the switch", "look", "press the switch", "look"]
        assert [plant.send(a) for a in word] == ["lit", "click", "dark", "click", "lit"]
        if plant.retry_safe:
            assert plant.repeat("look") == "lit"
        with pytest.raises(Refused, match="there is no such action"):
            plant.send("sing")


def test_a_program_that_stops_midway_is_a_hang_up(tmp_path: Path) -> None:
    plant = program("hear(); say('plant p'); hear(); say('1 ok'); hear(); os._exit(3)", tmp_path)
    assert plant.send("a") == "ok"
    with pytest.raises(HungUp, match="hung up"):
        plant.send("b")
    with pytest.raises(HungUp):
        plant.send("c")
    plant.close()


def test_a_program_that_says_nothing_is_late_and_is_stopped(tmp_path: Path) -> None:
    source = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    source += f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); hear(); say('plant p'); time.sleep(600)"
    plant = program(source, tmp_path)
    plant._timeout = 0.05
    with pytest.raises(Late, match="did not answer in time"):
        plant.send("a")
    plant.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_program_that_does_not_greet_is_refused_in_time(tmp_path: Path) -> None:
    with pytest.raises(Late, match="the plant was greeted, but"):
        program("time.sleep(600)", tmp_path, timeout=0.1)
    with pytest.raises(Garbled, match="'plant NAME' was expected"):
        program("say('welcome to the machine')", tmp_path)
    with pytest.raises(HungUp, match="the plant was greeted, but"):
        program("pass", tmp_path)


def test_a_program_that_cannot_be_started_is_one_sentence() -> None:
    for command in ("/no/such/program", "", "'", "a\0b"):
        with pytest.raises(PlantFault):
            open_program(command)


def test_lines_that_are_too_long_are_passed_over_whole(tmp_path: Path) -> None:
    source = f"""
hear(); say('plant p'); hear()
say('1 ' + 'x' * {20 * MAX_LINE}); say('1 ok'); hear(); say('2 ' + 'y' * {MAX_LINE - 2}); hear()
say('3 ' + 'z' * {MAX_LINE - 1}); say('3 ok')
"""
    with contextlib.closing(program(source, tmp_path)) as plant:
        with pytest.raises(Garbled, match="more than 4096 bytes"):
            plant.send("a")
        assert plant.send("b") == "y" * (MAX_LINE - 2)
        with pytest.raises(Garbled, match="more than 4096 bytes"):
            plant.send("c")


def test_whatever_bytes_come_a_plant_gives_a_reading_or_a_fault() -> None:
    chance, seen = random.Random(5), set()
    for _ in range(1500):
        tokens = [b"1 ", b"2 ", b"3", b" ", b"%", b"!", b"?", b"~", b"ok", b"\n", b"\n", b"\r", b"\xff", b"\0"]
        noise = b"".join(chance.choice(tokens) for _ in range(chance.randrange(40)))
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.sendall(b"plant p\n" + noise)
            theirs.shutdown(socket.SHUT_WR)
            descriptor = ours.fileno()
            plant = LinePlant(partial(Channel, descriptor, descriptor, lambda: None), timeout=5)
            for _ in range(5):
                try:
                    seen.add(type(plant.send("a")))
                except ActionFault as fault:
                    seen.add(type(fault))
    assert seen >= {str, Garbled, HungUp, Refused, Missing, InDoubt}


# ----------------------------------------------------------------------------------------------------------- TCP


@contextlib.contextmanager
def serving(serve: Callable[[socket.socket], None]) -> Generator[str]:
    """The address of a server that handles each connection with `serve`, until the block ends."""
    listener = socket.create_server(("127.0.0.1", 0))

    def loop() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, contextlib.suppress(OSError):
                    serve(connection)

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def lamp_over(connection: socket.socket) -> None:
    lit = True
    for line in connection.makefile("r"):
        number, _, action = line.strip().partition(" ")
        if number == "hello":
            connection.sendall(b"plant lamp\n")
            continue
        lit = lit != (action == "press the switch")
        connection.sendall(f"{number} {'click' if action != 'look' else 'lit' if lit else 'dark'}\n".encode())


def test_a_plant_over_tcp_answers() -> None:
    with serving(lamp_over) as address:
        plant = open_plant(address, read_problem(LAMP / "lamp.toml"), timeout=20)
        assert [plant.send("look"), plant.send("press the switch"), plant.send("look")] == ["lit", "click", "dark"]
        plant.close()


def test_a_server_that_hangs_is_late_and_one_that_closes_is_a_hang_up() -> None:
    def greet(connection: socket.socket) -> None:
        stream = connection.makefile("r")
        stream.readline()
        connection.sendall(b"plant p\n")
        if "stay" in stream.readline():
            stream.readline()

    with serving(greet) as address:
        problem = read_problem(LAMP / "lamp.toml")
        plant = open_plant(address, problem, timeout=20)
        plant._timeout = 0.05  # type: ignore[attr-defined]
        with pytest.raises(Late):
            plant.send("stay")
        plant.close()
        plant = open_plant(address, problem, timeout=20)
        with pytest.raises(HungUp):
            plant.send("go")
        plant.close()


def test_a_server_that_does_not_exist_is_one_sentence() -> None:
    with pytest.raises(PlantFault, match="cannot be reached: connection refused"):
        open_socket("127.0.0.1", free_port(), 5)
    with pytest.raises(PlantFault, match="cannot be reached"):
        open_socket("no such host", 1, 5)


def test_a_program_that_does_not_say_what_it_did_last_cannot_take_up_a_run() -> None:
    def begun(greeting: bytes) -> LinePlant:
        return LinePlant(lambda: FakeChannel(lambda line: [greeting]), begins=True)

    begun(b"plant p").resume([])
    begun(b"plant p last=1").resume(["a"])
    with pytest.raises(Restarted, match="started anew and does not say what it did last"):
        begun(b"plant p").resume(["a"])
    fake()[0].resume(["a"])


def test_an_action_in_doubt_keeps_its_number() -> None:
    plant, channel = fake(b"3 x")
    plant.resume(["a"])
    plant.skip("b")
    assert plant.send("c") == "x"
    assert channel.sent[-1] == "3 c"
