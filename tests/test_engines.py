"""Engines: a real campaign gives the same store wherever it is computed, and what goes wrong there is one sentence."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ascertain.errors import AscertainError, FileError
from ascertain_paper.campaign.campaign import run_campaign
from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.campaign.engines import start_engine
from ascertain_paper.campaign.orphans import end_with_parent
from ascertain_paper.studies.replay.study import replay_operations
from ascertain_paper.testbed.settings import load_settings
from ascertain_paper.testbed.testbed import Testbed, load_testbed
from tests.calls import free_port
from tests.test_cli import complaint, run


def replayed(folder: Path, engine: str = "local", workers: int = 1) -> str:
    """The store of the replay's first nine operations."""
    folder.mkdir()
    slots = list(load_testbed("small").slots())[:9]
    with closing(start_engine(engine, workers)) as computing, pytest.MonkeyPatch.context() as few:
        few.setattr(Testbed, "slots", lambda _testbed: iter(slots))
        replay_operations(Conditions(settings=load_settings("small"), engine=computing, folder=folder))
    return dumped(folder)


def dumped(folder: Path) -> str:
    """All that the store of the replay in a folder holds, as text."""
    with closing(sqlite3.connect(folder / "replay-quick.sqlite")) as store:
        return "\n".join(store.iterdump())


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The store of the replay, computed in this process alone."""
    store = replayed(tmp_path_factory.mktemp("local") / "one")
    assert store.count('INSERT INTO "result"') == 9
    return store


def test_two_processes_give_the_same_store_as_one(tmp_path: Path, here: str) -> None:
    assert replayed(tmp_path / "two", workers=2) == here


@contextmanager
def dask_cluster(*, processes: bool) -> Generator[Any]:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=processes,
        dashboard_address=None,
        protocol="tcp",
        host="127.0.0.1",
    ) as cluster:
        yield cluster


def test_a_dask_cluster_of_processes_gives_the_same_store(tmp_path: Path, here: str) -> None:
    with dask_cluster(processes=True) as cluster:
        assert replayed(tmp_path / "dask", cluster.scheduler_address.replace("tcp", "dask")) == here


def test_a_cluster_that_is_lost_meanwhile_is_one_sentence() -> None:
    with dask_cluster(processes=False) as cluster:

        def lose(done: int, _total: int) -> None:
            if done == 3:
                cluster.close()

        engine = start_engine(cluster.scheduler_address.replace("tcp", "dask"))
        with closing(engine), pytest.raises(FileError, match=r"the Dask cluster at .* did not finish .* --resume"):
            run_campaign(time.sleep, [0.1] * 20, engine, progress=lose)


@contextmanager
def ray_head(place: Path) -> Generator[str]:
    """A cluster of two workers that ends with the block."""
    ports = [free_port() for _ in range(3)]
    names = ("--port", "--ray-client-server-port", "--runtime-env-agent-port")
    options = [f"{name}={port}" for name, port in zip(names, ports, strict=True)]
    command = [Path(sys.executable).with_name("ray"), "start", "--head", "--block", "--num-cpus=2", "--node-ip-address"]
    command += ["127.0.0.1", "--include-dashboard=false", "--disable-usage-stats", f"--temp-dir={place}", *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as head:
        try:
            wait_until(lambda: answers(ports[1]), 60)
            yield f"ray://127.0.0.1:{ports[1]}"
        finally:
            head.terminate()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until(holds: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
def test_ray_at_an_address_or_started_here_gives_the_same_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    with ray_head(tmp_path_factory.mktemp("r")) as address:
        stores: list[str] = []
        for place, engine in (("there", address), ("started", "ray://local"), ("here", "local")):
            out = tmp_path / place
            done = run("reproduce", "replay", "--settings", "small", "--engine", engine, "--workers", 2, "--out", out)
            assert done.returncode == 0, done.stderr
            stores.append(dumped(out))
    assert stores[0].count('INSERT INTO "result"') == 36
    assert stores[0] == stores[1] == stores[2]


@pytest.mark.parametrize("name", ["spark://here:1", "dask://", "dask://here", "dask://here:port", "loacl"])
def test_an_engine_that_is_not_understood_is_said(name: str) -> None:
    with pytest.raises(FileError, match="engine: "):
        start_engine(name)


@pytest.mark.parametrize("module", ["ray", "distributed"])
@pytest.mark.parametrize("reason", [ValueError("Ray Client requires\nmore"), ConnectionError(), OSError("refused")])
def test_whatever_keeps_a_cluster_from_answering_is_one_sentence(
    module: str, reason: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: Any, **_options: Any) -> None:
        raise reason

    found = ModuleType(module)
    found.init = found.Client = refuse  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module, found)
    with pytest.raises(FileError, match="cluster answers at here:1") as told:
        start_engine("ray://here:1" if module == "ray" else "dask://here:1")
    assert type(reason).__name__ in str(told.value) and "\n" not in str(told.value)


def test_an_engine_that_is_not_installed_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(AscertainError, match=r"pip install 'ascertain\[ray\]'"):
        start_engine("ray://here:1")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["dask://127.0.0.1:1", "ray://127.0.0.1:1"])
def test_a_port_that_nobody_listens_on_is_one_sentence(engine: str) -> None:
    if find_spec("ray" if engine.startswith("ray") else "distributed") is None:
        pytest.skip("it is not installed")
    assert "cluster answers at 127.0.0.1:1" in complaint(
        "reproduce", "replay", "--settings", "small", "--engine", engine
    )


SCRIPT = """
import os, sys, time
from pathlib import Path
from ascertain_paper.campaign.campaign import run_campaign
from ascertain_paper.campaign.engines import start_engine

def work(case):
    (Path(case) / str(os.getpid())).touch()
    time.sleep(0.02)

run_campaign(work, [sys.argv[1]] * 100_000, start_engine("local", 2))
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="whether a process is there is looked up in /proc")
def test_the_workers_of_a_killed_campaign_end_too(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path)], stderr=subprocess.DEVNULL) as campaign:
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2, 60)
        campaign.send_signal(signal.SIGKILL)
    wait_until(lambda: not any(Path(f"/proc/{worker.name}").exists() for worker in tmp_path.iterdir()), 60)


def test_a_process_does_not_follow_itself() -> None:
    end_with_parent(os.getpid())
