"""A fleet on the page: real servers over TCP, a row for each, stopped, gone on with after a restart, and replayed."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ascertain.errors import AscertainError
from tests.conftest import ROOT
from tests.journal_runs import read_records
from tests.studios import make_folder, simulate, until
from tests.test_fleet import ADDRESS, serve
from tests.test_studio_browser import check_looks, keep_picture, window

pytest.importorskip("nicegui", reason="the extra studio is not installed")

from nicegui import ui

from ascertain.studio.folder import Folder

# NiceGUI's simulation reads coroutines that it does not wait for, and its dependencies warn of one another.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Servers that run, the file of them, and the question which they are."""
    for file in (ROOT / "examples" / "servers").glob("*.dot"):
        shutil.copy(file, tmp_path / file.name)
    shutil.copy(ROOT / "examples" / "servers" / "which.toml", tmp_path / "which.toml")
    (tmp_path / "boxes.toml").write_text(f'[plant]\nkind = "lines"\naddress = "{ADDRESS}"\n')
    for hosts in serve(tmp_path / "hosts.csv", 12, share=0.1):
        yield hosts.parent


def check_rows(rows: dict[str, tuple[str, str, str]], hosts: Path) -> None:
    """Each host is called what it is."""
    truth = {row["name"]: row for row in csv.DictReader(hosts.read_text().splitlines())}
    assert set(rows) == set(truth) and {row["kind"] for row in truth.values()} >= {"well", "dead", "mute"}
    for name, row in truth.items():
        state, said, cost = rows[name]
        if row["kind"] in ("dead", "mute"):
            assert state == "plant fault" and "the plant" in said, (row, said)
        elif row["kind"] == "outsider":
            assert state == "none of these"
        else:
            assert state == "certified" and row["truth"] in said.split(" or ") and int(cost) > 0, (row, said)


@pytest.mark.slow
def test_a_fleet_is_started_watched_and_replayed(folder: Path) -> None:
    async def scenario(user: Any, studio: Any) -> None:
        def one(marker: str) -> Any:
            [element] = user.find(marker=marker).elements
            return element

        await until(lambda: studio.look.found)
        user.find("Run").click()
        one("kind").value = "fleet"
        assert one("fleet-plant").value == "boxes.toml"
        user.find(marker="start").click()
        await user.should_see("say which hosts", retries=20)
        one("fleet-hosts").value = "hosts.csv"
        one("fleet-certificates").value = True
        user.find(marker="start").click()
        await until(lambda: studio.fleet and studio.fleet.rows)
        await user.should_see(marker="stop-fleet", retries=20)
        with pytest.raises(AscertainError, match="a run goes on"):
            studio.start_run("simulated:1", each=False)
        await until(lambda: studio.fleet.is_over)
        check_rows(studio.fleet.rows, folder / "hosts.csv")
        await user.should_see("All 12 hosts are done", retries=20)
        await user.should_not_see(marker="stop-fleet")
        [hosts] = user.find(kind=ui.table).elements
        states = {name: state for name, (state, *_) in studio.fleet.rows.items()}
        await until(lambda: {row["host"]: row["state"] for row in hosts.rows} == states)
        answered = next(name for name, (state, *_) in studio.fleet.rows.items() if state == "certified")
        place = folder / studio.fleet.folder
        assert (place / "results.jsonl").is_file() and (place / "certificates" / f"{answered}.json").is_file()
        assert studio.list_open() == []
        # those that could not be reached are tried again, and no other one
        before = {path: read_records(path) for path in place.glob("*.journal")}
        user.find(marker="fleet-again").click()
        await until(lambda: studio.fleet.is_over and studio.fleet.total == 12)
        check_rows(studio.fleet.rows, folder / "hosts.csv")
        assert {path: read_records(path) for path in before if path.stem == answered} == {
            place / f"{answered}.journal": before[place / f"{answered}.journal"]
        }
        # the journal of a host is opened where journals are
        user.find(kind=ui.table).trigger("replay", "../../etc/passwd")
        user.find(kind=ui.table).trigger("replay", answered)
        await user.should_see("What was done, and what the observer knew after it", retries=100)
        assert one("journal").value == studio.fleet.journal(answered) and one("journal-problem").value == "which.toml"

    simulate(folder, scenario, "which.toml")


@pytest.mark.slow
def test_a_fleet_is_stopped_and_after_a_restart_it_does_what_is_left(folder: Path) -> None:
    hosts = folder / "hosts.csv"
    head, *rows = hosts.read_text().splitlines()
    hosts.write_text("\n".join([head, *(row for row in rows if ",well," in row or ",slow," in row)]) + "\n")
    names = [row["name"] for row in csv.DictReader(hosts.read_text().splitlines())]
    before: dict[Path, tuple[Any, ...]] = {}
    left: list[str] = []

    async def first(user: Any, studio: Any) -> None:
        studio.start_fleet("boxes.toml", "hosts.csv", parallel=1)
        await until(lambda: studio.fleet.done >= 1)
        studio.stop_fleet()
        assert studio.fleet.phase == "stopping"
        await until(lambda: studio.fleet.is_over)
        assert studio.fleet.phase in ("stopped", "ended"), studio.fleet.sentence
        left.append(studio.fleet.folder)
        before.update({path: read_records(path) for path in (folder / left[0]).glob("*.journal")})
        # Nothing is in doubt: each run ended with a step, or was not begun.
        assert all(records[-1]["record"] != "intent" for records in before.values())
        if studio.fleet.phase == "stopped":
            await user.open("/")  # a reload
            await user.should_see("Go on does what is left", retries=20)
            assert studio.list_open() == left and "running" not in studio.fleet.counts()

    async def second(user: Any, studio: Any) -> None:
        if studio.list_open():  # else it was done before it could be stopped
            studio.go_on(left[0])
            await until(lambda: studio.fleet.is_over)
            assert studio.fleet.phase == "ended" and list(studio.fleet.rows) == names
        assert studio.list_open() == []

    simulate(folder, first, "which.toml")
    simulate(folder, second, "which.toml")
    assert len(list((folder / left[0]).glob("*.journal"))) == len(names)
    for path, records in before.items():
        assert read_records(path)[: len(records)] == records


def test_a_fleet_says_that_it_is_a_simulation(tmp_path: Path) -> None:
    async def scenario(user: Any, studio: Any) -> None:
        studio.start_fleet("simulated:{name}", "1,2,[7-9]", parallel=2)
        await user.should_see("SIMULATION: no plant is asked", retries=20)
        await until(lambda: studio.fleet.is_over)
        assert list(studio.fleet.rows) == ["1", "2", "7", "8", "9"]
        assert studio.fleet.counts() == {"certified": 5} == studio.fleet.result["counts"]

    simulate(make_folder(tmp_path), scenario, "lamp.toml")


@pytest.mark.slow
def test_a_fleet_that_is_stopped_twice_ends_at_once_and_one_that_is_refused_leaves_nothing(tmp_path: Path) -> None:
    async def scenario(user: Any, studio: Any) -> None:
        studio.start_fleet("simulated:{seed}", "[1-3]")
        await until(lambda: studio.fleet.is_over)
        assert studio.fleet.phase == "refused" and "which is no column" in studio.fleet.sentence
        studio.start_fleet("simulated:{name}", "[1-99999]", parallel=2)
        await until(lambda: studio.fleet.rows)
        studio.stop_fleet()
        studio.stop_fleet()
        await until(lambda: studio.fleet.is_over)
        assert studio.fleet.phase in ("broken", "stopped") and "waiting" in studio.fleet.counts()
        assert studio.list_open() == [studio.fleet.folder]

    simulate(make_folder(tmp_path), scenario, "lamp.toml")


@pytest.mark.parametrize(
    ("plant", "hosts"),
    [
        ("exec:sh -c {name}", "[1-2]"),
        ("tcp://{name}:1", "[1-2]"),
        ("{name}:x", "[1-2]"),
        ("replay:{name}.csv", "[1-2]"),
        ("{name}.toml", "run,run"),
        ("braces{name}.toml", "[1-2]"),
        ("hidden.toml", "[1-2]"),
        ("run.toml", "[1-2]"),
        ("good.toml", "../hosts.csv"),
        ("good.toml", "link.csv"),
        ("good.toml", "/etc/passwd"),
        ("good.toml", " "),
    ],
)
def test_hosts_and_wiring_come_from_the_folder_and_programs_are_not_named(
    tmp_path: Path, plant: str, hosts: str
) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "hosts.csv").write_text("name\na\n")
    (inside / "link.csv").symlink_to(tmp_path / "hosts.csv")
    wired = '[plant]\nkind = "lines"\naddress = "{}"\n'
    for name, address in (
        ("good", "tcp://{name}:1"),
        ("braces{name}", "tcp://x:1"),
        ("hidden", "{name}"),
        ("run", "exec:id"),
    ):
        (inside / f"{name}.toml").write_text(wired.replace("{}", address))
    (inside / "hosts.csv").write_text("name\na\n")
    folder = Folder(inside)
    assert folder.list_wirings() == ["braces{name}.toml", "good.toml"] and folder.list_hosts() == ["hosts.csv"]
    assert folder.check_fleet("good.toml", "hosts.csv") == (
        f"{inside.resolve()}/good.toml",
        f"{inside.resolve()}/hosts.csv",
    )
    assert folder.check_fleet("simulated:{name}", "a,b")[1] == "a,b"
    with pytest.raises(AscertainError):
        folder.check_fleet(plant, hosts)


@pytest.mark.slow
def test_a_fleet_in_a_browser(browser: Any, folder: Path, tmp_path: Path) -> None:
    from tests.studios import served

    with served(folder, "which.toml") as url, window(browser, url) as page:
        page.get_by_role("tab", name="Run").click()
        page.get_by_text("A fleet: many plants at once").click()
        page.get_by_label("Hosts", exact=True).fill("hosts.csv")
        check_looks(page)
        page.get_by_role("button", name="Start the run").click()
        page.get_by_role("button", name="Stop the fleet").wait_for()
        page.get_by_text("running", exact=True).first.wait_for()
        page.reload()  # loses nothing
        page.get_by_role("tab", name="Run").click()
        page.get_by_text("All 12 hosts are done").wait_for()
        check_looks(page)
        keep_picture(page, "studio-fleet", tmp_path, 900)
        page.get_by_label("Search the hosts").fill("certified")
        page.get_by_role("button", name="Replay box-").first.click()
        page.get_by_text("What was done, and what the observer knew after it").wait_for()
        with window(browser, url, 400, "dark") as second:
            second.get_by_role("tab", name="Run").click()
            second.get_by_text("All 12 hosts are done").wait_for()
            check_looks(second)
