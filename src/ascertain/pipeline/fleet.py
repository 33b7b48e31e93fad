"""Fleet: the same experiment on many plants at once, a journal each, and one result for all of them.

hosts -> one plan -> observe or identify on each, so many at a time -> results in the order of the hosts

Hosts are run by threads: a run waits for its plant and for the disk nearly all of its time, and the plan is shared.
What becomes of one host depends on no other: a fault, or a bug, that ends one run is that host's result.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, final

from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import AscertainError, FileError, TaskError
from ascertain.pipeline import Tell, ignore
from ascertain.pipeline.control import SharedPlan
from ascertain.pipeline.fingerprint import Machines, pose_machines
from ascertain.pipeline.identify import Identified, identify
from ascertain.pipeline.moments import Moment
from ascertain.pipeline.observe import observe
from ascertain.pipeline.observed import Observed
from ascertain.plant import find_kind
from ascertain.problem.hosts import Host, read_hosts
from ascertain.problem.problem import Problem, as_problem
from ascertain.task.question import AbstractQuestion
from ascertain.types import Progress
from ascertain.writing import write_whole

PARALLEL = 32
"""Hosts that are run at once unless more or fewer are asked for: enough that none waits for another's answers."""
MAX_PARALLEL = 1000
"""A thread each, and some files; more than most systems let one process open."""
WORST_FIRST = (5, 2, 4, 3, 1, 0)
"""Exit codes, the worst first: a fault of ours, bad input, a plant that failed, no answer, none of these, answered."""
PATIENCE = 3.0
"""Seconds that runs are given to end after Ctrl-C: most plants answer within that, and people wait for it."""
RESULTS = "results.jsonl"
"""What the results are called in the folder of the journals."""
INTERNAL = 5
"""The exit code of a fault of ours."""
RunHost: TypeAlias = Callable[[Host, dict[str, Any]], Observed | Identified]
"""Runs a host, with its journal, whether that is resumed, and its certificate, as `observe` takes them."""


@final
@dataclass(frozen=True)
class HostRun:
    """What became of one host."""

    host: Host
    exit_code: int
    """As that of the verb on this host alone."""
    facts: Mapping[str, Any]
    """The run as plain data; empty where it could not begin or broke off."""
    error: str | None = None
    """Why it could not begin, or broke off."""
    seconds: float = 0.0

    def line(self) -> dict[str, Any]:
        """One line of the results."""
        head = {"host": self.host.name, "exit_code": self.exit_code, "error": self.error}
        return {**head, "seconds": round(self.seconds, 3), **self.facts}

    @property
    def outcome(self) -> str:
        """In a word or three: certified, none of these, abstained, plant fault, not run, internal error."""
        if self.error is not None:
            return {INTERNAL: "internal error", 4: "plant fault"}.get(self.exit_code, "not run")
        return "plant fault" if self.exit_code == 4 else str(self.facts["verdict"])

    def row(self) -> tuple[str, str, str, str]:
        """As a table shows it: the host, its outcome, the answer or why there is none, and what it has cost."""
        said = self.error or self.facts["label"] or self.facts["reason"] or ""
        return self.host.name, self.outcome, str(said), str(self.facts.get("cost", ""))


HearHost: TypeAlias = Callable[[Host, Moment | HostRun | None], None]
"""Is told of each host, by its thread: None when its run begins, each step, and at last what became of it."""


@final
@dataclass(frozen=True)
class Fleet(Shown):
    """What became of every host, in their order."""

    runs: tuple[HostRun, ...]
    seconds: float

    @property
    def exit_code(self) -> int:
        """The worst of the hosts'."""
        return next(code for code in WORST_FIRST if any(run.exit_code == code for run in self.runs))

    def counts(self) -> dict[str, int]:
        """How many hosts came to what."""
        return dict(Counter(run.outcome for run in self.runs).most_common())

    def shown(self) -> Mapping[str, object]:
        return {"hosts": len(self.runs), **self.counts()}

    def listing(self) -> Listing:
        rows = [(*run.row(), f"{run.seconds:.1f}") for run in self.runs]
        return ("host", "outcome", "answer, or why there is none", "cost", "seconds"), rows

    def lines(self) -> str:
        """JSON Lines: a run each."""
        return "".join(json.dumps(run.line(), ensure_ascii=True, allow_nan=False) + "\n" for run in self.runs)


def observe_fleet(
    problem: Problem | AbstractQuestion | str | Path,
    plant: str,
    hosts: str | Path | Sequence[Host],
    *,
    folder: str | Path | None = None,
    resume: bool = False,
    certificates: str | Path | None = None,
    parallel: int = PARALLEL,
    identity: str | None = None,
    note: Tell = ignore,
    progress: Progress | None = None,
    hear: HearHost | None = None,
    **options: Any,
) -> Fleet:
    """Observe every host: `plant` names columns of the hosts in braces, as in "tcp://{host}:{port}".

    `hosts` is a CSV file, a pattern such as "box-[01-20]", or hosts (`problem/hosts.py`). Journals are kept in
    `folder`, one for each host, with the results of all beside them; `resume` goes on with them, so that hosts that
    have ended are not asked again. Certificates are written into the folder `certificates`. So many hosts are run in
    `parallel`. A policy or plan is found once for all of them. The other `options` are those of `observe`; with a risk
    file every host takes its share. `note` hears each remark once, `progress` how many hosts are done, and `hear` how
    each of them goes.
    """
    posed, plans, stop = as_problem(problem), SharedPlan(), _Stop()
    words: dict[str, Any] = {"note": _once(note), "plans": plans, **options}

    def run(host: Host, paths: dict[str, Any]) -> Observed:
        def watch(moment: Moment) -> None:
            if hear is not None:
                hear(host, moment)
            stop.look()

        return observe(posed, plant, host=host, identity=host.identity or identity, watch=watch, **paths, **words)

    return _run_all(run, stop, plant, hosts, folder, resume, certificates, parallel, progress, hear)


def identify_fleet(
    machines: Machines,
    plant: str,
    hosts: str | Path | Sequence[Host],
    *,
    folder: str | Path | None = None,
    resume: bool = False,
    certificates: str | Path | None = None,
    parallel: int = PARALLEL,
    identity: str | None = None,
    reset_cost: Any = 1,
    actions: Sequence[str] | None = None,
    cost: Mapping[str, Any] | None = None,
    note: Tell = ignore,
    progress: Progress | None = None,
    **options: Any,
) -> Fleet:
    """Find out which of several machines every host is; the other parameters are those of `observe_fleet` and
    `identify`."""
    task, stop = pose_machines(machines, reset_cost, actions, cost), _Stop()
    words: dict[str, Any] = {"note": _once(note), "watch": stop.look, "progress": stop.look, **options}

    def run(host: Host, paths: dict[str, Any]) -> Identified:
        return identify(task, plant, host=host, identity=host.identity or identity, **paths, **words)

    return _run_all(run, stop, plant, hosts, folder, resume, certificates, parallel, progress)


class _Stopped(BaseException):
    """Ends a run where a crash would, but for its plant, which is closed: its journal goes on from there."""


@final
class _Stop:
    """Ends all runs after the step that each is at."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        self._event.set()

    def look(self, *_: object) -> None:
        """What a run calls after each step."""
        if self._event.is_set():
            raise _Stopped


def _once(note: Tell) -> Tell:
    """Says each sentence once, whichever hosts it is about."""
    said, lock = set[str](), threading.Lock()

    def tell(sentence: str) -> None:
        with lock:
            if sentence not in said:
                said.add(sentence)
                note(sentence)

    return tell


def _run_all(
    run: RunHost,
    stop: _Stop,
    plant: str,
    hosts: str | Path | Sequence[Host],
    folder: str | Path | None,
    resume: bool,
    certificates: str | Path | None,
    parallel: int,
    progress: Progress | None,
    hear: HearHost | None = None,
) -> Fleet:
    began = time.monotonic()
    fleet = read_hosts(hosts) if isinstance(hosts, str | Path) else tuple(hosts)
    _check(plant, fleet, parallel, folder, resume)
    journals, proofs = _make_folder(folder), _make_folder(certificates)
    if journals is not None and not resume and (begun := [h for h in fleet if _journal(journals, h).exists()]):
        raise FileError(
            f"{journals}: {len(begun)} journals have begun already, that of {begun[0].name!r} first; add --resume to "
            "go on with them, or choose another folder"
        )

    def work(host: Host) -> HostRun:
        if hear is not None:
            hear(host, None)
        journal = None if journals is None else _journal(journals, host)
        again = resume and journal is not None and journal.exists()
        proof = None if proofs is None else proofs / f"{host.name}.json"
        done = _run_one(run, host, {"journal": journal, "resume": again, "certificate": proof})
        if hear is not None:
            hear(host, done)
        return done

    found = Fleet(tuple(_share_out(work, stop, fleet, parallel, progress)), time.monotonic() - began)
    if journals is not None:
        write_whole(journals / RESULTS, found.lines().encode())
    return found


def _check(plant: str, hosts: Sequence[Host], parallel: int, folder: object, resume: bool) -> None:
    """Refuse what is wrong with all hosts before any of them is met."""
    if not hosts:
        raise TaskError("--hosts: there are none")
    if not 1 <= parallel <= MAX_PARALLEL:
        raise TaskError(f"--parallel: {parallel} hosts at once; a number from 1 to {MAX_PARALLEL} is needed")
    if resume and folder is None:
        raise TaskError("--resume needs --journal FOLDER, the folder of the journals to go on with")
    if find_kind(plant)[0].asks_person:
        raise TaskError("--plant: a person cannot play many plants at once; leave --hosts out")
    for host in hosts:
        host.fill(plant)


def _make_folder(folder: str | Path | None) -> Path | None:
    if folder is None:
        return None
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"{folder}: the folder cannot be made ({error.strerror}); a fleet keeps a file a host"
        ) from None
    return Path(folder)


def _journal(folder: Path, host: Host) -> Path:
    return folder / f"{host.name}.journal"


def _run_one(run: RunHost, host: Host, paths: dict[str, Any]) -> HostRun:
    """What becomes of one host; whatever is raised is its result."""
    began = time.monotonic()
    try:
        done = run(host, paths)
    except AscertainError as reason:
        return HostRun(host, reason.exit_code, {}, str(reason), time.monotonic() - began)
    except Exception as fault:  # a fault of ours on one host must not cost the others
        reason = f"internal error: {type(fault).__name__}: {fault}"
        return HostRun(host, INTERNAL, {}, reason, time.monotonic() - began)
    facts = done.facts()
    proved = facts["certificate"] in (None, "VERIFIED")
    return HostRun(host, done.exit_code if proved else INTERNAL, facts, None, time.monotonic() - began)


def _share_out(
    work: Callable[[Host], HostRun], stop: _Stop, hosts: Sequence[Host], parallel: int, progress: Progress | None
) -> list[HostRun]:
    """The results in the order of the hosts, whichever is done first.

    After Ctrl-C runs end with the step that each is at, and close their plants. Threads end with the program, so that
    nobody waits long for slow ones: journals keep what was done.
    """
    left: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, HostRun]] = queue.SimpleQueue()

    def serve() -> None:
        with suppress(_Stopped):
            while (number := left.get()) is not None:
                stop.look()
                done.put((number, work(hosts[number])))

    results: dict[int, HostRun] = {}
    for number in range(len(hosts)):
        left.put(number)
    workers = [threading.Thread(target=serve, daemon=True) for _ in range(min(parallel, len(hosts)))]
    for worker in workers:
        left.put(None)
        worker.start()
    try:
        while len(results) < len(hosts):
            if progress is not None:
                progress(len(results), len(hosts))
            number, run = done.get()
            results[number] = run
    except BaseException:
        stop.set()
        until = time.monotonic() + PATIENCE
        for worker in workers:
            worker.join(max(0.0, until - time.monotonic()))
        raise
    if progress is not None:
        progress(len(hosts), len(hosts))
    return [results[number] for number in range(len(hosts))]
