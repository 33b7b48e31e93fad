"""Fleets: hosts from files and patterns, real servers over TCP, killed and resumed; one result, whatever the order."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ascertain.errors import FileError, TaskError
from ascertain.live.risk_file import read_risk_file
from ascertain.pipeline.fleet import Fleet, identify_fleet, observe_fleet
from ascertain.problem.hosts import Host, read_hosts
from ascertain.version import __version__
from tests.conftest import LAMP, ROOT
from tests.journal_runs import memory_folder, read_records
from tests.test_cli import complaint
from tests.test_identify import SERVERS

ADDRESS = "tcp://{host}:{port}"


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    yield from memory_folder()


# Hosts.


def test_hosts_are_read_and_fill_in_what_stands_in_braces(tmp_path: Path) -> None:
    file = tmp_path / "hosts.csv"
    file.write_text("name, host,port\nnorth,10.0.0.4, 5000\n\nsouth,a b;c,5001\n")
    north, south = read_hosts(file)
    assert north.fill(ADDRESS) == "tcp://10.0.0.4:5000" and north.identity is None
    assert south.fill("exec:run {host} --as {name}") == "exec:run 'a b;c' --as south"
    with pytest.raises(TaskError, match=r"names '\{hots\}', which is no column of the hosts; did you mean 'host'"):
        north.fill("tcp://{hots}:1")


def test_a_pattern_stands_for_names() -> None:
    assert [host.name for host in read_hosts("box-[08-11]")] == ["box-08", "box-09", "box-10", "box-11"]
    assert [host.name for host in read_hosts("r[1-2]-[0-1]")] == ["r1-0", "r1-1", "r2-0", "r2-1"]
    assert [host.name for host in read_hosts("north, box-[1-2],south,")] == ["north", "box-1", "box-2", "south"]
    assert len(read_hosts(",".join(f"a-host-with-a-long-name-{i}" for i in range(1000)))) == 1000


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("host,port\na,1\n", "one called 'name' is needed"),
        ("name,name\na,b\n", "one called 'name' is needed"),
        ("name,{x}\na,b\n", "one called 'name' is needed"),
        ("name,port\na\n", ":2: 1 fields where the header has 2"),
        ("name\n../etc\n", "cannot name a host"),
        ("name\n\n", "there are no hosts"),
        ("name\nbox\nBOX\n", "two hosts are called 'BOX'"),
        ("name\nbox\nbox\n", "two hosts are called 'box'"),
        ("name\na\na\n", "two hosts are called 'a'"),
        ("name,x\nbox,\x07\n", "cannot be printed"),
        ('name\n"a\n', "not CSV"),
    ],
)
def test_files_of_hosts_that_say_something_else_are_refused(text: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "hosts.csv").write_text(text)
    with pytest.raises(FileError) as refused:
        read_hosts(tmp_path / "hosts.csv")
    assert complaint in str(refused.value)


def test_patterns_and_files_that_are_not_there_are_refused() -> None:
    with pytest.raises(FileError, match=r"none\.csv"):
        read_hosts("none.csv")
    for names in ("a,../b", "a,a", "a,A", ",", "a,b c"):
        with pytest.raises(FileError, match=r"cannot name a host|two hosts|there are no hosts"):
            read_hosts(names)
    for pattern in ("box-[9-1]", "box-[0-999999]"):
        with pytest.raises(TaskError, match="names; 1 to"):
            read_hosts(pattern)


# Fleets on this machine.


def simulated(number: int) -> list[Host]:
    return [Host(f"h{i}", {"seed": str(i)}) for i in range(number)]


def lines(fleet: Fleet) -> list[dict[str, Any]]:
    """The results but for what a clock decides."""
    found = [json.loads(line) for line in fleet.lines().splitlines()]
    return [{key: value for key, value in line.items() if key not in ("seconds", "began", "ended")} for line in found]


def test_what_becomes_of_a_host_does_not_depend_on_how_many_run_at_once(tmp_path: Path) -> None:
    alone = observe_fleet(LAMP, "simulated:{seed}", simulated(12), parallel=1)
    together = observe_fleet(LAMP, "simulated:{seed}", simulated(12), parallel=12, folder=tmp_path / "j")
    assert lines(alone) == lines(together)
    assert alone.exit_code == 0 and alone.counts() == {"certified": 12}
    assert all(line["right"] for line in lines(alone))
    assert (tmp_path / "j" / "results.jsonl").read_text() == together.lines()


def test_how_each_host_goes_is_heard() -> None:
    heard: dict[str, list[Any]] = {}
    fleet = observe_fleet(
        LAMP, "simulated:{seed}", simulated(3), hear=lambda host, what: heard.setdefault(host.name, []).append(what)
    )
    for run in fleet.runs:
        first, begun, *steps, last = heard[run.host.name]
        assert first is None and begun.last is None and last == run
        assert len(steps) == run.facts["actions"] and str(steps[-1].view.cost) == run.facts["cost"] == run.row()[3]


def test_every_host_takes_its_share_of_a_risk_file(tmp_path: Path) -> None:
    risk: dict[str, Any] = {"risk_file": tmp_path / "risk", "total_alpha": "1/100", "risk_schedule": "equal:3"}
    fleet = observe_fleet(LAMP, "simulated:{seed}", simulated(4), parallel=4, folder=tmp_path / "j", **risk)
    assert sorted(run.exit_code for run in fleet.runs) == [0, 0, 0, 2] and fleet.exit_code == 2
    [refused] = [run for run in fleet.runs if run.exit_code == 2]
    assert "does not allow this run" in str(refused.error) and refused.outcome == "not run"
    found = read_risk_file(tmp_path / "risk")
    assert found.left == 0 and {share.alpha for share in found.shares} == {Fraction(1, 300)}
    again = observe_fleet(LAMP, "simulated:{seed}", simulated(4), folder=tmp_path / "j", resume=True, **risk)
    assert [run.exit_code for run in again.runs] == [run.exit_code for run in fleet.runs]
    assert len(read_risk_file(tmp_path / "risk").shares) == 3


def test_certificates_are_written_for_each_and_a_fault_of_one_is_not_that_of_another(tmp_path: Path) -> None:
    hosts = [*simulated(2), Host("odd", {"seed": "x"})]
    fleet = observe_fleet(LAMP, "simulated:{seed}", hosts, certificates=tmp_path / "c")
    assert [run.exit_code for run in fleet.runs] == [0, 0, 2]
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == [
        "h0.json",
        "h0.task.json",
        "h1.json",
        "h1.task.json",
    ]
    assert all(line["certificate"] == "VERIFIED" for line in lines(fleet)[:2])


def test_what_is_wrong_with_all_hosts_is_refused_before_any_is_met(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="a person cannot play"):
        observe_fleet(LAMP, "manual:", simulated(2))
    with pytest.raises(TaskError, match="which is no column"):
        observe_fleet(LAMP, "simulated:{sed}", simulated(2))
    with pytest.raises(TaskError, match="--parallel"):
        observe_fleet(LAMP, "simulated:{seed}", simulated(2), parallel=0)
    with pytest.raises(TaskError, match="--resume needs --journal FOLDER"):
        observe_fleet(LAMP, "simulated:{seed}", simulated(2), resume=True)
    observe_fleet(LAMP, "simulated:{seed}", simulated(2), folder=tmp_path / "j")
    with pytest.raises(FileError, match="2 journals have begun already"):
        observe_fleet(LAMP, "simulated:{seed}", simulated(2), folder=tmp_path / "j")
    assert "name them with --hosts" in complaint("observe", LAMP, "--plant", "simulated:1", "--parallel", "2")
    assert "--report is about one run" in complaint(
        "observe", LAMP, "--plant", "simulated:{name}", "--hosts", "[1-2]", "--report", tmp_path / "x.html"
    )
    assert "say with --plant" in complaint("fingerprint", *SERVERS, "--hosts", "[1-2]")


# Fleets over TCP.


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Path]:
    """Real servers: the file of their hosts, with what they truly are."""
    yield from serve(tmp_path / "hosts.csv", 24, share=0.1)


def serve(hosts: Path, number: int, share: float) -> Iterator[Path]:
    command = [sys.executable, ROOT / "examples" / "servers" / "fleet.py", hosts]
    words = ["--number", str(number), "--seed", "3", "--share", str(share)]
    with subprocess.Popen([*command, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == b"ready\n"
        yield hosts
        process.stdin.close()
        process.wait(10)


def check(found: list[dict[str, Any]], hosts: Path) -> None:
    """None wrong, none left out, and every kind of trouble is called what it is."""
    truth = {row["name"]: row for row in csv.DictReader(hosts.read_text().splitlines())}
    assert [line["host"] for line in found] == list(truth)
    kinds = {row["kind"] for row in truth.values()}
    assert kinds == {"well", "slow", "dead", "mute", "outsider"}
    for line in found:
        row = truth[line["host"]]
        if row["kind"] in ("dead", "mute"):
            assert line["exit_code"] == 4 and "the plant" in line["error"], line
        elif row["kind"] == "outsider":
            assert (line["exit_code"], line["verdict"]) == (1, "none of these"), line
        else:
            assert line["exit_code"] == 0 and row["truth"] in line["label"].split("|"), line
            assert line["identification"]["identity"] == line["host"]


def test_a_fleet_of_servers_is_named_and_no_trouble_of_one_is_that_of_another(servers: Path, tmp_path: Path) -> None:
    fleet = identify_fleet(SERVERS, ADDRESS, servers, timeout=1.5, folder=tmp_path / "j")
    check([json.loads(line) for line in fleet.lines().splitlines()], servers)
    assert fleet.exit_code == 4
    # Those that have ended are not asked again: here their address does not even answer.
    again = identify_fleet(SERVERS, "tcp://{host}:1", servers, timeout=1.5, folder=tmp_path / "j", resume=True)
    assert [run.exit_code for run in again.runs] == [run.exit_code for run in fleet.runs]
    assert [run.facts.get("label") for run in again.runs] == [run.facts.get("label") for run in fleet.runs]


def test_a_wiring_file_names_hosts_in_its_address(servers: Path, tmp_path: Path) -> None:
    wiring = tmp_path / "wiring.toml"
    wiring.write_text(f'[plant]\nkind = "lines"\naddress = "{ADDRESS}"\n')
    few = [host for host in read_hosts(servers) if host.values["kind"] == "well"][:3]
    fleet = identify_fleet(SERVERS, str(wiring), few, timeout=5)
    assert fleet.exit_code == 0
    for run in fleet.runs:
        assert run.host.values["truth"] in run.facts["label"].split("|")
        assert run.facts["identification"]["address"] == run.host.fill(ADDRESS)


def test_a_host_that_says_that_it_is_another_is_refused(servers: Path) -> None:
    one, two = [host for host in read_hosts(servers) if host.values["kind"] == "well"][:2]
    swapped = Host(one.name, {**one.values, "port": two.values["port"]})
    [run] = identify_fleet(SERVERS, ADDRESS, [swapped]).runs
    assert run.exit_code == 4 and f"says that it is {two.name!r}" in str(run.error)


def test_nothing_is_lost_when_a_fleet_is_killed_and_resumed(servers: Path, tmp_path: Path) -> None:
    folder = tmp_path / "j"
    command = [sys.executable, "-m", "ascertain", "fingerprint", *map(str, SERVERS), "--plant", ADDRESS, "--json"]
    command += ["--hosts", str(servers), "--journal", str(folder), "--timeout", "1.5"]
    command += ["--parallel", "3"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 120
    while process.poll() is None and len(list(folder.glob("*.head"))) < 9 and time.monotonic() < until:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it had ended before it was killed"
    before = {path: read_records(path) for path in folder.glob("*.journal")}
    ended = {path for path, records in before.items() if records and records[-1]["record"] == "verdict"}
    assert ended and len(ended) < 18
    done = subprocess.run([*command, "--resume"], capture_output=True, check=False)
    assert done.returncode == 4, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {(line["schema"], line["version"]) for line in lines} == {("ascertain/fingerprint-host", __version__)}
    check(lines, servers)
    for path, records in before.items():
        after = read_records(path)
        assert after[: len(records)] == records and (path not in ended or after == records)
        # An action that was open is asked again, of servers that remember: it is in doubt nowhere.
        assert all(record["record"] != "doubt" for record in after)


def test_ctrl_c_ends_each_run_after_a_step_so_that_nothing_is_in_doubt(tmp_path: Path) -> None:
    plant = tmp_path / "plant.py"
    plant.write_text(
        "import sys, time\n"
        "for line in sys.stdin:\n"
        "    number = line.split()[0]\n"
        "    time.sleep(0.2)\n"
        "    print('plant slow retry-safe last=0' if number == 'hello' else number + ' lit', flush=True)\n"
    )
    command = [sys.executable, "-m", "ascertain", "observe", str(LAMP), "--hosts", "[1-3]", "--parallel", "3"]
    command += ["--plant", f"exec:{sys.executable} {plant} {{name}}", "--journal", str(tmp_path / "j")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 120
    while len(list((tmp_path / "j").glob("*.head"))) < 3 and time.monotonic() < until:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    assert "interrupted" in process.communicate()[1] and process.returncode == 130
    for path in (tmp_path / "j").glob("*.journal"):
        records = read_records(path)
        assert records[-1]["record"] in ("plant", "stage", "reading", "verdict")


@pytest.mark.slow
def test_a_thousand_hosts_are_named_and_none_is_wrong(tmp_path: Path) -> None:
    for hosts in serve(tmp_path / "hosts.csv", 1000, share=0.05):
        fleet = identify_fleet(SERVERS, ADDRESS, hosts, timeout=5, folder=tmp_path / "j", parallel=64)
        check([json.loads(line) for line in fleet.lines().splitlines()], hosts)
