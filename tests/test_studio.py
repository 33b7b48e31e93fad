"""The page without a browser: who may talk to it, which files it touches, and what its parts do."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.drawing.flowchart import draw_flowchart
from ascertain.errors import AscertainError, FileError, TaskError
from ascertain.model.files.text import parse_toml
from ascertain.pipeline.inspect import inspect
from ascertain.pipeline.moments import Moment, Proposal
from ascertain.pipeline.observe import observe
from ascertain.pipeline.replay import replay
from ascertain.problem.edit import find_line, named_files, save_problem, set_key
from ascertain.problem.problem import read_any_problem
from tests.calls import call
from tests.conftest import LAMP, ROOT
from tests.studios import make_folder, served
from tests.test_extras import run_without

pytest.importorskip("nicegui", reason="the extra studio is not installed")

from ascertain.studio.folder import Folder
from ascertain.studio.guard import MAX_BODY, Guard
from ascertain.studio.live import escape_reading
from ascertain.studio.tree import Tree

LEAK = ROOT / "examples" / "valve" / "leak.toml"


# who may talk to it


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = make_folder(tmp_path_factory.mktemp("served"))
    before = sorted(os.listdir(folder))
    with served(folder) as url:
        yield url
    assert sorted(os.listdir(folder)) == before, "the page wrote something, and no run was begun"


@dataclass(frozen=True)
class Answered:
    status: int
    headers: Message
    body: bytes


def ask(url: str, path: str = "/", method: str = "GET", **headers: str) -> Answered:
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)) as connection:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.putrequest(method, path, skip_host="Host" in named)
        for name, value in named.items():
            connection.putheader(name, value)
        connection.endheaders()
        with connection.getresponse() as response:
            return Answered(response.status, response.headers, response.read())


def cookie_of(url: str) -> str:
    response = ask(url, f"/?{urlsplit(url).query}")
    assert (response.status, response.headers["Location"]) == (303, "/")
    cookie = response.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    return cookie.partition(";")[0]


def test_the_page_is_for_whoever_has_the_token(address: str) -> None:
    assert address.startswith("http://127.0.0.1:")
    for path in ("/", "/?token=", "/?token=guess", "/_nicegui/3.18.0/static/nicegui.js", "/_nicegui_ws/socket.io/"):
        assert ask(address, path).status == 403
    assert ask(address, "/", Cookie=f"ascertain-{urlsplit(address).port}=guess").status == 403
    assert ask(address, f"/?{urlsplit(address).query}", Cookie=cookie_of(address)).status == 303  # never left there
    response = ask(address, "/", Cookie=cookie_of(address))
    assert response.status == 200 and b"token=" not in response.body
    assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]


def test_other_sites_and_other_names_of_this_machine_are_refused(address: str) -> None:
    cookie = cookie_of(address)
    port = urlsplit(address).port
    assert ask(address, "/", Cookie=cookie, Host=f"localhost:{port}").status == 200
    for headers in (
        {"Host": "evil.example"},
        {"Host": f"evil.example:{port}"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": f"http://localhost:{port}"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ):
        assert ask(address, "/", Cookie=cookie, **headers).status == 403, headers
        assert ask(address, f"/?{urlsplit(address).query}", **headers).status == 403, headers


def test_a_websocket_needs_the_cookie_and_the_pages_own_origin(address: str) -> None:
    parts, cookie = urlsplit(address), cookie_of(address)
    place = f"{parts.hostname}:{parts.port}"

    def shake(*headers: str) -> str:
        with socket.create_connection((parts.hostname, parts.port), timeout=60) as line:
            words = [
                "GET /_nicegui_ws/socket.io/?EIO=4&transport=websocket HTTP/1.1",
                f"Host: {place}",
                "Upgrade: websocket",
                "Connection: Upgrade",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Version: 13",
                *headers,
            ]
            line.sendall("\r\n".join([*words, "", ""]).encode())
            return line.recv(100).split(b"\r\n")[0].decode()

    assert " 101 " in shake(f"Cookie: {cookie}", f"Origin: http://{place}")
    assert " 403 " in shake(f"Cookie: {cookie}")
    assert " 403 " in shake(f"Cookie: {cookie}", "Origin: http://evil.example")
    assert " 403 " in shake(f"Origin: http://{place}")
    assert " 403 " in shake(f"Origin: http://{place}", f"Cookie: ascertain-{parts.port}=guess")


def test_too_much_at_once_is_refused_before_it_is_read(address: str) -> None:
    response = ask(
        address, "/_nicegui/client/x/upload/1", "POST", Cookie=cookie_of(address), Content_Length=str(MAX_BODY + 1)
    )
    assert response.status == 403 and b"64 MB" in response.body


def test_a_body_is_counted_as_it_comes_whatever_its_length_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ascertain.studio.guard.MAX_BODY", 10)
    heard: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive())["type"] == "http.request" and message["more_body"]:
            heard.append(message["body"])

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"1234", "more_body": True}

    async def send(_: Any) -> None:
        raise AssertionError("nobody answers")

    headers = [(b"host", b"127.0.0.1:9"), (b"cookie", b"ascertain-9=secret"), (b"transfer-encoding", b"chunked")]
    scope = {"type": "http", "headers": headers, "query_string": b""}
    asyncio.run(Guard(app, "secret", ["127.0.0.1"], 9)(scope, receive, send))
    assert heard == [b"1234", b"1234"]


def test_another_interface_is_warned_of(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ascertain", "studio", "--host", "0.0.0.0", "--json"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, text=True, stdout=pipe, stderr=pipe) as process:
        assert process.stderr is not None and process.stdout is not None
        warned = process.stderr.readline()
        said = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
        process.terminate()
        process.wait(timeout=60)
    assert warned.startswith("note: whoever can reach this machine") and said["local"] is False


def test_what_cannot_be_served_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "other.toml").write_text(LAMP.read_text())
    (tmp_path / "here" / "model.dot").write_text("digraph {}")
    (tmp_path / "here" / "binary.toml").write_bytes(b"\xff\xfe\x00")
    monkeypatch.chdir(tmp_path / "here")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for words, said in (
            ([str(tmp_path / "other.toml")], "is not in the folder that the page was started in"),
            (["nowhere.toml"], "there is no such file"),
            (["model.dot"], "model.dot: a problem file (.toml) of at most a megabyte is needed"),
            (["binary.toml"], "binary.toml: the file cannot be read as text"),
            (["--port", str(taken.getsockname()[1])], "the page cannot be served there"),
        ):
            done = call("studio", *words, code=2)
            assert not done.stdout and said in done.stderr, done.stderr


def test_the_verb_names_its_extra_and_nothing_else_needs_it() -> None:
    results, loaded = run_without(["nicegui", "fastapi", "uvicorn"], [["studio"], ["inspect", LEAK]])
    assert (results[0][0], results[1][0], loaded) == (2, 0, [])
    assert results[0][2] == "ascertain: nicegui is not installed; install it with: pip install 'ascertain[studio]'\n"


# which files it touches


def test_files_outside_the_folder_are_not_to_be_had(tmp_path: Path) -> None:
    outside, inside = tmp_path / "secret.toml", tmp_path / "in"
    outside.write_text(LAMP.read_text())
    inside.mkdir()
    (inside / "link.toml").symlink_to(outside)
    folder = Folder(make_folder(inside))
    assert folder.list_problems() == ["lamp.toml", "leak.toml", "serviced.toml"]
    for name in ("../secret.toml", str(outside), "link.toml", "x/../../secret.toml", ".", "", "a\0b"):
        with pytest.raises(FileError):
            folder.read_problem(name)
    for text in ('model = "../secret.toml"', f'model = "{outside}"', 'models = ["valve.dot", "/etc/passwd"]'):
        with pytest.raises(FileError, match="is not in the folder"):
            folder.check_text("leak.toml", text)
    for text in ('[task]\nhypotheses = { log = "../x.csv" }', '[operation]\nlog = "/etc/passwd"\ncalibration = "a"'):
        with pytest.raises(FileError, match="is not in the folder"):
            folder.check_text("leak.toml", text)
    folder.check_text("leak.toml", LEAK.read_text())


@pytest.mark.parametrize(
    "plant",
    ["exec:sh -c id", "python:os:system", "tcp://127.0.0.1:9", "run.toml", "lines.toml", "kind.toml", "replay:../x"],
)
def test_programs_need_to_be_allowed_at_the_start(tmp_path: Path, plant: str) -> None:
    (tmp_path / "run.toml").write_text('[plant]\nkind = "pyth\\u006fn"\naddress = "os:system"\n')
    (tmp_path / "lines.toml").write_text('plant = { kind = "lines", address = "exec:id" }\n')
    (tmp_path / "kind.toml").write_text('[plant]\n"kind" = "somebody-elses"\n')
    (tmp_path / "good.toml").write_text('[plant]\nkind = "opcua"\naddress = "opc.tcp://127.0.0.1:1"\n')
    folder = Folder(tmp_path)
    with pytest.raises(AscertainError):
        folder.check_plant(plant)
    assert folder.list_wirings() == ["good.toml"]
    assert folder.check_plant("good.toml") == str(tmp_path.resolve() / "good.toml")
    assert folder.check_plant("simulated:7") == "simulated:7" and folder.check_plant("manual:") == "manual:"
    if not plant.startswith("replay"):
        assert Folder(tmp_path, allow_exec=True).check_plant(plant)


def test_only_a_problem_is_saved_over_a_file(tmp_path: Path) -> None:
    place = make_folder(tmp_path) / "leak.toml"
    before = place.read_text()
    for text in ("", "[", '[plant]\nkind = "python"\naddress = "os:system"\n', before + "\nkind = 1\n"):
        with pytest.raises(AscertainError):
            save_problem(place, text)
    assert place.read_text() == before
    save_problem(place, set_key(before, "cost", "wait", 12))
    assert read_any_problem(place).question.cost[2] == 12


# its parts

KEYS = st.sampled_from(["wait", "default", 'press the "x"', "a=b", "[x]", "ü"])
VALUES = st.one_of(st.integers(0, 99), st.text(max_size=8), st.lists(st.text(max_size=4), max_size=3), st.none())


@settings(max_examples=50)
@given(section=st.sampled_from(["task", "cost", "risk", "safety"]), key=KEYS, value=VALUES)
def test_an_edit_changes_one_key_and_nothing_else(section: str, key: str, value: int | str | list[str] | None) -> None:
    text = LEAK.read_text()
    before = parse_toml(text, "")
    try:
        edited = set_key(text, section, key, value)
    except (TaskError, FileError):  # refused, and then nothing has changed
        return
    after = parse_toml(edited, "")
    expected = {**before.get(section, {}), key: value}
    if value is None:
        del expected[key]
    assert after.pop(section, {}) == expected
    before.pop(section, None)
    assert after == before
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        line for line in edited.splitlines() if line.startswith("#")
    ]


def test_an_edit_of_what_stands_on_several_lines_is_refused() -> None:
    with pytest.raises(TaskError, match="edit it in the text"):
        set_key('model = "a.dot"\n[task]\nactions = [\n  "a",\n]\n', "task", "actions", ["b"])


def test_an_error_is_found_at_its_line(tmp_path: Path) -> None:
    place = make_folder(tmp_path) / "leak.toml"
    text = place.read_text()
    for wrong, line in (
        (text.replace("wait = 10", "wait = -1"), 11),
        (text.replace("wait = 10", "wayt = 10"), 11),
        (text.replace('label = { pattern = "^', 'labl = { pattern = "^'), 7),
        (text.replace("[safety]", "[safety"), 13),
        (text.replace('["flash"]', '["flush"]'), 14),
    ):
        with pytest.raises(AscertainError) as refused:
            read_any_problem(place, wrong)
        assert find_line(wrong, str(refused.value)) == line, str(refused.value)
    assert named_files(text) == ["valve.dot"] and find_line(text, "something else") is None


def test_a_flowchart_holds_names_that_cannot_be_markup() -> None:
    drawn = draw_flowchart(['<script>"x"', "b]", "c"], {(0, 1): ["a / <b>"], (1, 1): ["stay"], (2, 0): []}, [0, 1, 1])
    assert drawn is not None and "<script" not in drawn and "<b>" not in drawn
    assert 's0("#60;script#62;#34;x#34;")' in drawn and "b#93; · alike 1<br>stay" in drawn
    assert "class s1,s2 alike0" in drawn
    assert draw_flowchart(["x"] * 41, {(0, 0): ["a"]}, [0] * 41) is None
    chart = inspect(read_any_problem(LEAK)).flowchart
    assert chart is not None and chart.count("alike") >= 16


def test_a_proposal_says_why_and_a_stop_is_recorded(tmp_path: Path) -> None:
    seen: list[Proposal] = []
    moments: list[Moment] = []

    def propose(proposal: Proposal) -> bool:
        seen.append(proposal)
        return True

    journal = tmp_path / "a.journal"
    stopped = observe(
        LAMP, "simulated:1:lit", journal=journal, propose=propose, stopped=lambda: len(seen) > 2, watch=moments.append
    )
    assert [proposal.action for proposal in seen] == ["look"] * 3 and seen[0].readings == ("dark", "lit")
    assert "the rule separating takes it: 1 of 1 rivals may read differently from" in seen[0].why
    assert (stopped.facts()["cause"], stopped.facts()["reason"]) == ("person", "a person has stopped the run")
    assert stopped.facts()["actions"] == 2 and len(moments) == 3
    again = observe(LAMP, journal=journal, resume=True)
    assert again.facts()["reason"] == "a person has stopped the run"
    planned = observe(LEAK, "simulated:1", propose=propose)
    assert planned.is_certified and "cheapest experiment that the solver found" in seen[-1].why
    refused = observe(LEAK, "simulated:1", propose=lambda _: False)
    assert refused.facts()["reason"] == "the action 'vent' was not approved"


def test_a_replay_tells_what_was_known_after_each_step(tmp_path: Path) -> None:
    journal = tmp_path / "a.journal"
    moments: list[Moment] = []
    observe(LAMP, "simulated:1", journal=journal, watch=moments.append)
    told = replay(journal, LAMP)
    assert told.without is None and [moment.view for moment in moments[1:]] == list(told.views)
    step, view = told.at(0)
    assert step.action == "look" and view == moments[1].view
    assert replay(journal).without == "no problem was named"
    other = replay(journal, LEAK)
    assert other.views == () and other.without is not None and len(other.recorded.steps) == len(told.views)


@settings(max_examples=30)
@given(st.lists(st.integers(0, 10**6), max_size=400))
def test_a_tree_is_drawn_as_far_as_one_can_see(draws: list[int]) -> None:
    nodes = [(-1, "", "root", "ask", "", "", False, 0)]
    nodes += [(draw % (n + 1), "y", f"a{n}", "ask", "", "1", False, n + 1) for n, draw in enumerate(draws)]
    tree = Tree(nodes)
    assert tree.below[0] == len(nodes)
    for root in {0, len(nodes) // 2, len(nodes) - 1}:
        part, left_out = tree.part(root, most=50)
        assert part.lines <= 50 and part.lines + sum(left_out.values()) == tree.below[root]
        assert tree.path(root)[0] == 0 and tree.path(root)[-1] == root
    assert all(f"a{n}" in tree.say(tree.find(f"a{n}")[0]) for n in range(min(3, len(draws))))


@pytest.mark.parametrize(
    ("reading", "typed"), [("low", "low"), ("?", "%3F"), ("", "%"), ("~x", "%7E%78"), (" a", "%20%61")]
)
def test_a_button_types_its_reading(reading: str, typed: str) -> None:
    from ascertain.plant.manual import ManualPlant

    sent = escape_reading(reading)
    assert sent == typed
    plant = ManualPlant({"look": [reading, "other"]}, lambda _: sent)
    assert plant.send("look") == reading
