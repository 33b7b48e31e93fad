"""The page with NiceGUI's simulated user: what each tab does, and that nothing of a run is lost."""

from __future__ import annotations

import asyncio
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ascertain.pipeline.journal import read_journal
from tests.calls import answer
from tests.studios import make_folder, simulate, until

pytest.importorskip("nicegui", reason="the extra studio is not installed")

from nicegui import ui

# NiceGUI's simulation reads coroutines that it does not wait for, and its dependencies warn of one another.
pytestmark = pytest.mark.filterwarnings("default")


def press(user: Any, name: str) -> None:
    user.find(kind=ui.button, content=name).click()


def value(user: Any, marker: str) -> Any:
    return min(user.find(marker=marker).elements, key=lambda element: element.id)


def sees(user: Any, text: str) -> bool:
    try:
        return bool(user.find(text).elements)
    except AssertionError:
        return False


def drawn(user: Any) -> list[list[float]]:
    """What the picture of both sides shows."""
    try:
        [chart] = user.find(marker="around-chart").elements
    except AssertionError:
        return []
    return [line["data"] for line in chart.options["series"]]


def test_a_scenario_that_fails_is_a_failure_and_no_hang(tmp_path: Path) -> None:
    async def scenario(user: Any, studio: Any) -> None:
        await user.should_not_see("ascertain studio")

    with pytest.raises(AssertionError):
        simulate(make_folder(tmp_path), scenario)


@pytest.mark.slow
def test_a_question_is_read_edited_and_saved(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    text = (folder / "leak.toml").read_text()

    async def scenario(user: Any, studio: Any) -> None:
        await until(lambda: studio.look.found)
        await user.should_see("Any two hypotheses with different answers can be told apart", retries=50)
        assert "tight-low" in studio.look.found["flowchart"].replace("#45;", "-")
        # an error is told at its line
        studio.edit(text.replace("wait = 10", "wayt = 10"))
        await until(lambda: studio.look.sentence)
        assert studio.look.line == 11
        await user.should_see("Line 11: leak.toml", retries=50)
        studio.drop()
        # a price in the form is a price in the text
        await until(lambda: studio.look.found)
        await user.should_see(marker="price-wait", retries=50)
        box = value(user, "price-wait")
        box.value = "7/2"
        changed = user.find(marker="price-wait")
        changed.elements = {box}  # the other one, of the next tab, still says what the file does
        changed.trigger("change")
        assert 'wait = "7/2"' in studio.text and studio.is_edited
        await until(lambda: studio.look.found and dict(studio.look.found["prices"])["wait"] == "7/2")
        # forbidden actions too; the form of the next tab follows, and what somebody types meanwhile stays
        box.value = "7"
        follower = max(user.find(marker="price-wait").elements, key=lambda element: element.id)
        await until(lambda: follower.value == "7/2")
        assert box.value == "7"
        value(user, "allow-light").value = False
        value(user, "allow-gauge").value = False  # at once, before the text is read again
        assert 'actions = ["vent", "fill", "wait"]' in studio.text
        value(user, "allow-gauge").value = True
        assert 'actions = ["vent", "fill", "wait", "gauge"]' in studio.text
        # what is being typed into the text is not lost when something is changed in the form
        [editor] = user.find(kind=ui.codemirror).elements
        await until(lambda: editor.value == studio.text)
        editor.value = f"# typed\n{editor.value}"
        value(user, "allow-gauge").value = False
        assert studio.text.startswith("# typed\n") and 'actions = ["vent", "fill", "wait"]' in studio.text
        assert editor.value == studio.text  # at once, lest somebody types on in the text before it
        await until(lambda: not studio.look.busy)
        value(user, "allow-gauge").value = True  # what is forbidden can be allowed again
        user.find(marker="save").click()
        await until(lambda: not studio.is_edited)
        assert 'wait = "7/2"' in (folder / "leak.toml").read_text()
        # what is no problem is not saved
        studio.edit("[plant]\nkind = 'python'\n")
        assert "model" in await studio.save() and "kind" not in (folder / "leak.toml").read_text()
        studio.drop()
        # what cannot be answered
        studio.choose("serviced.toml")
        await until(lambda: studio.look.found and studio.look.found["facts"]["obstructed"])
        await user.should_see("No experiment can answer it", retries=50)
        await user.should_see("The finest question", retries=50)

    simulate(folder, scenario)


@pytest.mark.slow
def test_an_experiment_comes_with_the_files_of_the_command_line(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)

    async def scenario(user: Any, studio: Any) -> None:
        user.find("Experiment").click()
        user.find(marker="solve").click()
        await until(lambda: studio.search and studio.search.is_over)
        await user.should_see("The cheapest experiment costs 24 in the worst case", retries=50)
        await user.should_see("no policy settles the question for less than 24")
        written = {file.name: file.read_bytes() for file in studio.search.out.iterdir()}
        place = tmp_path / "cli"
        place.mkdir()
        words = ["solve", folder / "leak.toml", "--certificate", place / "leak-proof.json"]
        cli, *_ = (answer(*words, "--draw", place / f"leak{s}") for s in (".html", ".svg", ".dot"))
        for file in place.iterdir():
            assert written[file.name] == file.read_bytes(), file.name
        page = json.loads(written["leak-solve.json"])
        assert {**page, "stats": 0} == {**cli, "stats": 0}
        await user.should_see(marker="search-tree")
        value(user, "search-tree").value = "leak2"
        await user.should_see("1 found", retries=20)
        # a price that is changed beside it is searched with at once
        box = max(user.find(marker="price-wait").elements, key=lambda element: element.id)
        box.value = "2"
        changed = user.find(marker="price-wait")
        changed.elements = {box}
        changed.trigger("change")
        assert "wait = 2" in studio.text and not studio.search.is_over
        await user.should_see("The cheapest experiment costs 8 in the worst case", retries=100)
        # what is forbidden while that search runs ends it, and begins another one
        studio.edit(studio.text.replace("wait = 2", "wait = 3"))
        studio.solve()
        given_up = studio.search
        max(user.find(marker="allow-light").elements, key=lambda element: element.id).value = False
        assert studio.search is not given_up and studio.search.text == studio.text
        await until(lambda: studio.search.is_over)
        assert studio.search.found["facts"]["upper"] == "10" and given_up.found is None

    simulate(folder, scenario)


@pytest.mark.slow
def test_under_noise_both_sides_are_shown_and_a_search_can_be_stopped(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    text = (folder / "lamp.toml").read_text().replace('alpha = "1/1000000"', 'alpha = "1/1000"\nbeta = "1/100"')
    (folder / "lamp.toml").write_text(text)

    async def scenario(user: Any, studio: Any) -> None:
        user.find("Experiment").click()
        user.find(marker="solve").click()
        await until(lambda: studio.search and studio.search.is_over)
        assert studio.search.found["verb"] == "bounds", studio.search.sentence
        await user.should_see("Expected cost in the worst case: at least", retries=50)
        assert {"lamp-policy.json", "lamp-proof.json"} <= set(studio.search.found["files"])
        assert studio.search.points == []
        # against alpha, as a table and as a picture
        value(user, "around").value = True
        user.find(marker="solve").click()
        await until(lambda: studio.search.is_over)
        points = studio.search.points
        assert [p["alpha"] for p in points] == ["1/10000000", "1/100000", "1/1000", "1/10"]
        assert points[2]["lower"] == pytest.approx(float(Fraction(studio.search.found["facts"]["lower"]["best"])))
        assert all(p["lower"] <= p["upper"] for p in points) and points[0]["lower"] > points[-1]["lower"]
        await until(lambda: len(drawn(user)) == 2 and len(drawn(user)[0]) == 4)
        assert drawn(user) == [[p[key] for p in points] for key in ("lower", "upper")]
        await user.should_see("Both sides against alpha")
        studio.solve(around=True)
        await until(lambda: studio.search.found)
        studio.search.job.stop()
        await until(lambda: studio.search.is_over)
        assert studio.search.sentence == ""
        for stopped, whole in zip(studio.search.points, points, strict=False):  # the last one is the best so far
            assert stopped["alpha"] == whole["alpha"] and stopped["lower"] <= whole["upper"]
        studio.solve()
        studio.search.job.stop()
        await until(lambda: studio.search.is_over)

    simulate(folder, scenario, "lamp.toml")


@pytest.mark.slow
def test_a_run_by_hand_outlives_a_reload_a_second_window_and_a_restart(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    left: list[str] = []

    async def first(user: Any, studio: Any) -> None:
        user.find("Run").click()
        value(user, "kind").value = "manual"
        user.find(marker="start").click()
        await until(lambda: studio.live and studio.live.phase == "asking")
        await user.should_see("Do this now: vent", retries=50)
        await user.should_see("Why: the plan asks for it")
        press(user, "vented")
        await until(lambda: studio.live.phase == "asking" and studio.live.proposal["action"] == "wait")
        await user.open("/")  # a reload, and the same in another window
        await user.should_see("Do this now: wait", retries=50)
        left.append(studio.live.journal)

    async def second(user: Any, studio: Any) -> None:
        assert studio.list_open() == left
        user.find("Run").click()
        await user.should_see(left[0], retries=20)
        press(user, "Go on")
        # Nobody knows whether the action under way was done, so a person is asked about it again.
        for reading in ("waited", "high", "waited", "low"):
            await until(lambda: studio.live and studio.live.phase == "asking")
            assert reading in studio.live.proposal["readings"] or reading == "waited"
            studio.read(reading)
        await until(lambda: studio.live.phase == "ended" and studio.live.job.task.done())
        assert studio.live.result["facts"]["verdict"] in ("certified", "abstained")
        assert studio.list_open() == []

    simulate(folder, first)
    simulate(folder, second)
    told = read_journal(folder / left[0])
    assert [step.action for step in told.steps][:2] == ["vent", "wait"] and told.verdict is not None


def test_each_action_is_approved_once_a_pause_holds_and_a_simulation_says_so(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)

    async def scenario(user: Any, studio: Any) -> None:
        user.find("Run").click()
        value(user, "each").value = True
        user.find(marker="start").click()
        await until(lambda: studio.live and studio.live.phase == "proposed")
        await user.should_see("SIMULATION: no plant is asked", retries=20)
        studio.approve(7)  # of another proposal
        await asyncio.sleep(0.5)
        assert studio.live.phase == "proposed" and len(studio.live.steps) == 1
        await user.should_see(marker="approve", retries=50)
        user.find(marker="approve").click()
        user.find(marker="approve").click()  # a second press is of the same proposal
        await until(lambda: studio.live.phase == "proposed" and len(studio.live.steps) == 2)
        await asyncio.sleep(0.5)
        assert len(studio.live.steps) == 2
        user.find(marker="pause").click()
        studio.ask_each(False)
        await asyncio.sleep(0.5)
        assert len(studio.live.steps) == 2
        await user.should_see("Paused. Nothing is sent until you press Go on.", retries=50)
        user.find(marker="unpause").click()
        await until(lambda: studio.live.phase == "ended" and studio.live.job.task.done())
        facts = studio.live.result["facts"]
        assert (facts["verdict"], facts["right"], facts["certificate"]) == ("certified", True, "VERIFIED")
        await user.should_see("the answer is right (simulated)", retries=50)
        # and it can be replayed, and checked
        user.find("Replay").click()
        await user.should_see(marker="replay", retries=50)
        user.find(marker="replay").click()
        await until(lambda: sees(user, f"Step 1 of {facts['actions']}"))
        await user.should_see("What was done, and what the observer knew after it")
        press(user, "Last")
        await user.should_see(f"Step {facts['actions']} of {facts['actions']}", retries=50)

    simulate(folder, scenario)


async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A plant that says who it is, and then nothing more."""
    await reader.readline()
    writer.write(b"plant mute retry-safe last=0\n")
    await reader.read()
    writer.close()


def test_an_abort_is_honoured_at_once_and_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ascertain.studio.jobs.GRACE", 60.0)  # a busy machine is given time to record it
    folder = make_folder(tmp_path)

    async def scenario(user: Any, studio: Any) -> None:
        studio.start_run("manual:", each=False)
        await until(lambda: studio.live.phase == "asking")
        await studio.abort()
        await until(lambda: studio.live.is_over)
        assert studio.live.result["facts"]["reason"] == "a person has stopped the run"
        assert studio.list_open() == []
        await user.should_see("No answer: a person has stopped the run", retries=50)
        # also while a plant is waited for, which never answers
        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        (folder / "mute.toml").write_text(f'[plant]\nkind = "lines"\naddress = "tcp://127.0.0.1:{port}"\n')
        studio.start_run("mute.toml", each=False, timeout=600)
        await until(lambda: studio.live.phase == "sending")
        await studio.abort()
        await until(lambda: studio.live.is_over)
        assert studio.live.phase == "ended", studio.live.sentence
        assert studio.live.result["facts"]["reason"] == "a person has stopped the run"
        server.close()
        # a process that does not listen is ended, and its run is left open
        studio.start_run("manual:", each=False)
        await until(lambda: studio.live.phase == "asking")
        studio.live.job.kill()
        await until(lambda: studio.live.phase == "broken")
        await user.should_see("Nobody knows whether 'vent' was carried out", retries=50)
        journal, studio.live = studio.live.journal, None
        assert studio.list_open() == [journal]

    simulate(folder, scenario)


@pytest.mark.slow
def test_names_are_text_and_never_markup(tmp_path: Path) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    rows = f"""["{hostile}", "{hostile}", "{hostile}", "b"], ["b", "{hostile}", "c", "b"]"""
    (tmp_path / "hostile.toml").write_text(f"[model]\ntransitions = [{rows}]\n")

    async def scenario(user: Any, studio: Any) -> None:
        await until(lambda: studio.look.found or studio.look.sentence)
        assert studio.look.found, studio.look.sentence
        studio.solve()
        await until(lambda: studio.search.is_over)
        studio.start_run("simulated:1", each=False)
        await until(lambda: studio.live.phase == "ended" and studio.live.job.task.done())
        await user.open("/")
        drawn = [element for element in user.client.elements.values() if isinstance(element, ui.html)]
        assert drawn and not any("<img" in element.content for element in drawn)
        assert any("&lt;img" in element.content for element in drawn)

    simulate(tmp_path, scenario, "hostile.toml")
