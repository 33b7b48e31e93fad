"""Plants behind OPC UA: a real server on the loopback, which is also killed, slowed and made to answer nonsense."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ascertain.errors import PlantFault, TaskError
from ascertain.plant.faults import Garbled, HungUp, InDoubt, Late, Refused
from ascertain.plant.wiring.plant import open_wiring
from tests.lamps import RelayedLamp, check_refused, fixtures_of, observe_lamp

pytest.importorskip("asyncua")

WIRING = """
[plant]
kind = "opcua"
address = "opc.tcp://127.0.0.1:{port}"
identity = {{ read = "ns=2;s=serial" }}
timeout = {timeout}
{plant}
[[action]]
name = "look"
read = "ns=2;s=lux"
bands = {{ dark = "< 10", lit = ">= 10" }}
[[action]]
name = "press the switch"
steps = [{{ write = "ns=2;s=press", value = true, type = "Boolean" }}]
else = "click"
{more}
"""
NOISE = {
    "another protocol": b"HTTP/1.1 200 OK\r\n\r\n",
    "a message of another type": b"HEL" + b"F" + (28).to_bytes(4, "little") + bytes(20),
    "a message that has no end": b"MSGF" + (2**31).to_bytes(4, "little") + bytes(20),
    "a message of zeros": b"MSGF" + (64).to_bytes(4, "little") + bytes(56),
}


class Server(RelayedLamp):
    """The lamp, running; reached through a relay, or directly."""

    program = "opcua_plant.py"

    def wiring(self, plant: str = "", more: str = "", timeout: float = 5.0, direct: bool = False) -> Path:
        path = self.state.with_suffix(".toml")
        port = self.port if direct else self.relay.port
        path.write_text(WIRING.format(port=port, plant=plant, more=more, timeout=timeout))
        return path


running, server = fixtures_of(Server)


def read(node: str, **words: str) -> str:
    more = "".join(f', {key} = "{value}"' for key, value in words.items())
    return f'[[action]]\nname = "{node}"\nread = {{ read = "ns=2;s={node}"{more} }}\n'


def test_a_wired_lamp_is_observed(server: Server) -> None:
    server.check_observed()


@pytest.mark.parametrize(
    ("mode", "more", "fault", "again"),
    [
        ("slow", {"seconds": 1.5}, Late, True),
        ("drop", {}, HungUp, False),
        ("lose", {}, HungUp, False),
        *(("noise", {"data": data}, Garbled, False) for data in NOISE.values()),
    ],
)
def test_faults_of_a_read(server: Server, mode: str, more: Any, fault: type[PlantFault], again: bool) -> None:
    server.check_read(mode, more, fault, again)


@pytest.mark.parametrize(
    ("mode", "more", "fault", "ran"),
    [
        ("slow", {"seconds": 1.5}, InDoubt, True),
        ("drop", {}, HungUp, False),
        ("lose", {}, HungUp, True),
        ("noise", {"data": NOISE["a message of zeros"]}, Garbled, True),
    ],
)
def test_faults_of_a_write(server: Server, mode: str, more: Any, fault: type[PlantFault], ran: bool) -> None:
    server.check_write(mode, more, fault, ran)


def test_what_the_server_says_decides_whether_a_write_was_done(server: Server) -> None:
    nodes = {
        "serial": '"x"',
        "breaks": "true",
        "forgets": "true",
        "nowhere": "1",
        "Int16": '"x"',
        "array": "1",
        "empty": "1",
    }
    more = "".join(
        f'[[action]]\nname = "{node}"\nsteps = [{{ write = "ns=2;s={node}", value = {value} }}]\nelse = "done"\n'
        for node, value in nodes.items()
    )
    more += (
        '[[action]]\nname = "typed"\nsteps = [{ write = "ns=2;s=Int16", value = 1, type = "Float" }]\nelse = "done"\n'
    )
    with server.open("reconnect = true", more) as plant:
        for action, fault, said in (
            ("serial", Refused, "BadUserAccessDenied"),
            ("nowhere", Refused, "the node holds nothing, status BadNodeIdUnknown"),
            ("typed", Refused, "BadTypeMismatch"),
            ("Int16", Refused, "the node is of the type Int16, and 'x' is not"),
            ("array", Refused, "the node holds an array"),
            ("empty", Refused, "the node holds nothing, status Good; give the step the type"),
            ("breaks", InDoubt, "BadDeviceFailure"),
            ("forgets", HungUp, "BadSessionIdInvalid"),
        ):
            with pytest.raises(fault, match=said):
                plant.send(action)
            assert plant.may_repeat(action) == (fault is not InDoubt)
        assert plant.send("look") == "lit"  # connected again


def test_users_have_passwords(server: Server) -> None:
    more = '[[action]]\nname = "fix"\nsteps = [{ write = "ns=2;s=fixed", value = "x" }]\nread = "ns=2;s=fixed"\n'
    with server.open('user = "ann"\npassword = "secret"', more, direct=True) as plant:
        assert plant.send("fix") == "x"
    with server.open(more=more, direct=True) as plant, pytest.raises(Refused, match="BadUserAccessDenied"):
        plant.send("fix")
    with pytest.raises(PlantFault, match="refuses the connection"):
        open_wiring(server.wiring('user = "ann"\npassword = "guessed"', direct=True))


SECURITY = (
    'security = { policy = "Basic256Sha256", mode = "SignAndEncrypt", '
    'certificate = "client.der", key = "client.pem", server_certificate = "server.der" }'
)


def test_messages_are_signed_and_encrypted(server: Server) -> None:
    server.relay.passed = b""
    with server.open(SECURITY) as plant:
        assert plant.send("look") == "lit" and b"lamp 7" not in server.relay.passed
    with server.open():
        assert b"lamp 7" in server.relay.passed
    other = SECURITY.replace("server.der", "client.der")
    with pytest.raises(PlantFault, match="cannot be reached"):  # another server than the one that is trusted
        open_wiring(server.wiring(other, timeout=2.0))
    with pytest.raises(TaskError, match=r"server_certificate 'none\.der': there is no such file"):
        open_wiring(server.wiring(SECURITY.replace("server.der", "none.der")))
    with pytest.raises(TaskError, match="mode 'Encrypt' is not understood; write Sign or SignAndEncrypt"):
        open_wiring(server.wiring(SECURITY.replace("SignAndEncrypt", "Encrypt")))


def test_values_of_all_kinds_are_written_and_read(server: Server) -> None:
    values = {"Int16": ("-5", "-5"), "Float": ("2", "2"), "Byte": ("255", "255"), "String": ('"x y"', "x y")}
    more = "".join(
        f'{read(node)}steps = [{{ write = "ns=2;s={node}", value = {value} }}]\n' for node, (value, _) in values.items()
    )
    more += "".join(map(read, ("said", "empty", "array", "broken", "stale", "nowhere")))
    more += read("broken", take="status").replace('name = "broken"', 'name = "status"')
    more += '[[action]]\nname = "started"\nread = "i=2257"\nmatch = { today = "^20[0-9-]+T" }\n'
    with server.open(more=more, direct=True) as plant:
        for node, (_, shown) in values.items():
            assert plant.send(node) == shown
        assert [plant.send(action) for action in ("said", "empty", "status", "started")] == [
            "guten Tag",
            "null",
            "BadSensorFailure",
            "today",
        ]
        for action, fault, said in (
            ("array", Garbled, "no text, number or truth value"),
            ("broken", Garbled, "the status BadSensorFailure"),
            ("stale", Garbled, "the status UncertainLastUsableValue"),
            ("nowhere", Refused, "BadNodeIdUnknown"),
        ):
            with pytest.raises(fault, match=said):
                plant.send(action)


@pytest.mark.parametrize(("what", "after"), [("another protocol", 0), *(("a message of zeros", i) for i in (1, 2, 3))])
def test_nonsense_while_connecting_is_one_sentence(server: Server, what: str, after: int) -> None:
    server.relay.trouble("noise", data=NOISE[what], after=after)
    with pytest.raises(PlantFault, match=r"cannot be reached: opc.tcp://127.0.0.1:\d+ (did not|does not|refuses)"):
        open_wiring(server.wiring(timeout=0.5))


def test_the_type_of_a_node_is_asked_for_before_anything_is_written(server: Server) -> None:
    more = '[[action]]\nname = "toggle"\nsteps = [{ write = "ns=2;s=press", value = true }]\nelse = "done"\n'
    with server.open("reconnect = true", more, timeout=1.0) as plant:
        server.relay.trouble("slow", seconds=1.5)
        with pytest.raises(HungUp, match="the type of the node was asked for first"):
            plant.send("toggle")
        assert server.state.read_text() == "lit" and plant.may_repeat("toggle")
        assert plant.repeat("toggle") == "done"
        assert server.state.read_text() == "dark"


def test_a_late_answer_is_not_taken_for_the_next_one(server: Server) -> None:
    server.check_late()


def test_an_action_of_several_writes_that_breaks_is_half_done(server: Server) -> None:
    server.check_half_done('{ write = "ns=2;s=press", value = true, type = "Boolean" }')


def test_a_run_with_mended_faults_answers(server: Server) -> None:
    # Connecting takes four requests and the identity one: the run begins after that.
    server.relay.trouble("slow", seconds=1.5, after=6)
    facts = observe_lamp(server.wiring(timeout=1.0))
    assert facts["label"] == "lit" and [fault["kind"] for fault in facts["faults"]] == ["late"]
    server.relay.trouble("noise", data=NOISE["a message of zeros"], after=8)
    garbled = observe_lamp(server.wiring(), code=4)
    assert garbled["faults"][-1]["kind"] == "garbled" and garbled["plant_failed"]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("opc.tcp://127", "http://127", "[plant] address: 'http://127.0.0.1:1' is not a URL such as opc.tcp://"),
        ("127.0.0.1:1", "127.0.0.1", "[plant] address: 'opc.tcp://127.0.0.1' is not a URL such as opc.tcp://"),
        ("opc.tcp://127", "opc.tcp://a:b@127", "[plant] address: it stands in journals and certificates"),
        ("timeout = 1", 'password = "x"', "[plant] password: a user is needed"),
        ("ns=2;s=lux", "ns=2;lux", "[[action]] 'look' read: read 'ns=2;lux' is not a node id such as"),
        ("value = true, ", "", "[[action]] 'press the switch' step 1 value is needed"),
        ('"Boolean"', '"Bool"', "[[action]] 'press the switch' step 1: type: 'Bool' cannot be written; did you mean"),
        ("value = true", "value = 1", "[[action]] 'press the switch' step 1: value: 1 is no Boolean"),
        (
            'value = true, type = "Boolean"',
            'value = 300, type = "Byte"',
            "[[action]] 'press the switch' step 1: value: 300",
        ),
        ('"ns=2;s=serial"', '"ns=2;s=serial", take = "all"', "[plant] identity: take: 'all' is not understood; write"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    good = WIRING.format(port=1, plant="", more="", timeout=1)
    check_refused(tmp_path / "w.toml", good.replace(old, new), sentence)


def test_a_server_that_is_killed_and_comes_back(server: Server) -> None:  # the last one: it ends with another server
    with server.open("reconnect = true", direct=True) as plant:
        assert plant.send("look") == "lit"
        server.check_killed(plant, direct=True)
        server.start()
        server.check_replaced(plant)
