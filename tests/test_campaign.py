"""Campaigns: the same bytes for any engine and number of workers, and nothing lost when one is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ascertain.errors import AscertainError, FileError
from ascertain_paper.campaign.campaign import run_campaign
from ascertain_paper.campaign.engines import start_engine
from ascertain_paper.campaign.store import Store, create_store, open_store

ABOUT = {"study": "squares", "settings": "a" * 64}


def square(case: tuple[str, int]) -> dict[str, Any]:
    settings, number = case
    return {"settings": settings, "square": number**2, "half": f"{number}/2"}


def run(path: Path, workers: int = 1, chunk: int = 7) -> bytes:
    with create_store(path, ABOUT) as store:
        run_campaign(square, [("a", n) for n in range(40)], start_engine("local", workers), store=store, chunk=chunk)
        return store.export()


def test_any_number_of_workers_and_any_chunks_give_the_same_bytes(tmp_path: Path) -> None:
    first = run(tmp_path / "one")
    assert first.count(b"\n") == 40
    assert run(tmp_path / "two", workers=2) == first
    assert run(tmp_path / "whole", chunk=1000) == first
    assert run(tmp_path / "single", chunk=1) == first


def test_a_campaign_without_a_store_returns_its_results_in_order() -> None:
    seen: list[tuple[int, int]] = []
    results = run_campaign(
        square,
        [("a", n) for n in range(5)],
        start_engine("local", 1),
        chunk=2,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert [result["square"] for result in results] == [0, 1, 4, 9, 16]
    assert seen == [(done, 5) for done in range(6)]  # as operations end, and not as chunks do


def test_how_long_something_took_comes_back_with_its_result_and_is_no_part_of_it(tmp_path: Path) -> None:
    results = [(0, {"reads": 7, "microseconds": {"merging": 31}}), (1, {"reads": 9}), (2, [1, 2])]
    with create_store(tmp_path / "store", ABOUT) as store:
        store.add(results)
        assert list(store.results()) == results
        assert store.export().splitlines()[0] == b'{"number":0,"result":{"reads":7}}'


def test_a_resumed_campaign_computes_what_is_missing_only(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with create_store(path, ABOUT) as store:
        store.add([(1, {"kept": True}), (3, {"kept": True})])
    computed: list[int] = []

    def tell(case: int) -> dict[str, int]:
        computed.append(case)
        return {"number": case}

    with open_store(path, ABOUT) as store:
        results = run_campaign(tell, range(5), start_engine("local", 1), store=store)
    assert computed == [0, 2, 4]
    assert [result.get("kept", False) for result in results] == [False, True, False, True, False]


def test_other_settings_are_another_study(tmp_path: Path) -> None:
    create_store(tmp_path / "store", ABOUT).close()
    with pytest.raises(FileError, match="settings are frozen once evaluation began"):
        open_store(tmp_path / "store", {**ABOUT, "settings": "b" * 64})
    with pytest.raises(FileError, match=r"already there; go on with --resume, .* --study"):
        create_store(tmp_path / "store", ABOUT)
    with pytest.raises(FileError, match="no such store"):
        open_store(tmp_path / "other", ABOUT)
    (tmp_path / "text").write_text("not a database, but long enough to be taken for one" * 20)
    with pytest.raises(FileError):
        open_store(tmp_path / "text", ABOUT)


def test_a_store_has_one_writer_and_a_result_is_written_once(tmp_path: Path) -> None:
    with create_store(tmp_path / "store", ABOUT) as store:
        store.add([(0, 1)])
        with pytest.raises(AscertainError, match="two results"):
            store.add([(5, 1), (0, 2)])
        assert store.numbers() == {0}
        with pytest.raises(FileError, match="locked"):
            other = open_store(tmp_path / "store", ABOUT)
            other.add([(9, 9)])


SCRIPT = """
import sys, time
from pathlib import Path
from ascertain_paper.campaign.campaign import run_campaign
from ascertain_paper.campaign.engines import start_engine
from ascertain_paper.campaign.store import create_store, open_store

ABOUT = {"study": "slow", "settings": "a" * 64}

def work(case):
    with open(sys.argv[2], "a") as log:
        log.write(f"{case}\\n")
    time.sleep(0.01)
    return {"number": case}

path = Path(sys.argv[1])
store = open_store(path, ABOUT) if path.exists() else create_store(path, ABOUT)
run_campaign(work, range(60), start_engine("local", 1), store=store, chunk=6)
store.close()
"""


def test_a_killed_campaign_loses_nothing_and_repeats_one_chunk_at_most(tmp_path: Path) -> None:
    path, log = tmp_path / "store", tmp_path / "log"
    (tmp_path / "campaign.py").write_text(SCRIPT)
    command = [sys.executable, str(tmp_path / "campaign.py"), str(path), str(log)]
    kills = 0
    for attempt in range(40):
        process = subprocess.Popen(command, env={**os.environ})
        before = len(computed(log))
        deadline = time.monotonic() + 60
        while process.poll() is None and len(computed(log)) < before + 9 + attempt and time.monotonic() < deadline:
            time.sleep(0.002)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        if process.wait() == 0:
            break
    assert kills >= 3
    with open_store(path, {"study": "slow", "settings": "a" * 64}) as store:
        assert [number for number, _ in store.results()] == list(range(60))
    work = computed(log)
    assert len(work) <= 60 + kills * 6
    assert max(work.count(number) for number in range(60)) <= kills + 1


def computed(log: Path) -> list[int]:
    return [int(line) for line in log.read_text().splitlines() if line] if log.exists() else []


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    with create_store(tmp_path / "store", ABOUT) as store:
        limit_pages(store)
        with pytest.raises(FileError, match="full"):
            store.add([(n, "x" * 1000) for n in range(1000)])
        assert len(store) == 0


def limit_pages(store: Store) -> None:
    store._connection.execute("PRAGMA max_page_count = 8")  # pyright: ignore[reportPrivateUsage]
