"""What all windows of the page share: the problem, its draft, the search and the run that go on.

Windows look at `version` now and then and draw themselves anew where it has grown. A run lives in its journal; beside
it stands NAME.journal.start, which says how it was begun, so that it can be gone on with after a restart.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, final

from ascertain.errors import AscertainError, FileError, TaskError
from ascertain.problem.edit import find_line
from ascertain.studio.fleets import Fleet, begin_fleet, stop_fleet
from ascertain.studio.folder import Folder
from ascertain.studio.jobs import AbstractOngoing, Event, Job, Workers

RUNS = "runs"
"""The folder that journals of runs are kept in."""
START = ".start"
"""What is added to the name of a journal: the file that says how its run was begun."""


@final
@dataclass
class Look:
    """What is known of a problem's text."""

    found: Event | None = None
    sentence: str = ""
    """What is wrong with it; empty where nothing is."""
    line: int | None = None
    busy: bool = False


@final
@dataclass
class Search:
    """An experiment that is looked for, or was."""

    text: str
    out: Path
    job: Job | None = None
    began: float = field(default_factory=time.monotonic)
    sides: list[Event] = field(default_factory=list[Event])
    doing: str = "starting"
    found: Event | None = None
    points: list[Event] = field(default_factory=list[Event])
    """Both sides at other alphas, as they come after what was found."""
    tree: Any = None
    """Of what was found, made once for all windows."""
    is_over: bool = False
    sentence: str = ""


@final
@dataclass(kw_only=True)
class Live(AbstractOngoing):
    """A run that goes on, or has ended."""

    journal: str
    out: Path
    each: bool = False
    paused: bool = False
    aborted: bool = False
    """Whether a person has asked for its end."""
    phase: str = "starting"
    """starting, deciding, proposed, asking, sending; ended, refused or broken."""
    proposal: Event = field(default_factory=dict[str, Any])
    prompt: str = ""
    bound: Event = field(default_factory=dict[str, Any])
    steps: list[Event] = field(default_factory=list[Event])


@final
class Studio:
    """The state of the page."""

    def __init__(self, folder: Folder, problem: str | None = None, workers: Workers | None = None) -> None:
        self.folder, self.workers = folder, workers or Workers()
        self.version: Counter[str] = Counter()
        """By what has changed: "question", "experiment", "run"."""
        self.drafts: dict[str, str] = {}
        self.look = Look()
        self.search: Search | None = None
        self.last: Search | None = None
        """The last search of this problem that has found something: it is looked at while another one runs."""
        self.live: Live | None = None
        self.fleet: Fleet | None = None
        self.problem: str | None = None
        self._first, self._looking = problem, 0
        self._reading: Job | None = None
        self._temporary: list[Path] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def begin(self) -> None:
        """Once, when the server runs."""
        self.workers.prepare()
        names = self.folder.list_problems()
        first = self._first or (names[0] if names else None)
        if first is not None:
            self.choose(first)

    async def close(self) -> None:
        """End all work and forget what was only for looking at."""
        await self.workers.close()
        for place in self._temporary:
            rmtree(place, ignore_errors=True)

    def choose(self, name: str) -> None:
        """Turn to another problem."""
        self.folder.read_problem(name)  # refused before anything is changed
        self.problem, self.search, self.last = name, None, None
        self.version["experiment"] += 1
        self.look_again()

    @property
    def text(self) -> str:
        """The problem as it is being edited."""
        if self.problem is None:
            return ""
        draft = self.drafts.get(self.problem)
        return self.folder.read_problem(self.problem) if draft is None else draft

    @property
    def is_edited(self) -> bool:
        """Whether the draft says something else than the file."""
        return self.problem in self.drafts and self.drafts[self.problem] != self.folder.read_problem(self.problem)

    def note_typed(self, text: str) -> None:
        """Another draft, which is read when nobody has typed for a while."""
        if self.problem is not None:
            self.drafts[self.problem] = text

    def edit(self, text: str) -> None:
        """Another draft."""
        if self.problem is not None and text != self.text:
            self.drafts[self.problem] = text
            self.look_again()

    def drop(self) -> None:
        """Back to what the file says."""
        self.drafts.pop(self.problem or "", None)
        self.look_again()

    async def save(self) -> str:
        """Write the draft over the file, if it is a problem; what is to be said about it otherwise."""
        name, text = self.problem, self.text
        if name is None:
            return "there is nothing to save"
        try:
            self.folder.check_text(name, text)
        except AscertainError as reason:
            return str(reason)
        heard = await self.workers.ask({"job": "save", "path": str(self.folder.find(name)), "text": text})
        if heard["event"] != "done":
            return self.shorten(heard["sentence"])
        if self.drafts.get(name) == text:
            self.drafts.pop(name)
        self.version["question"] += 1
        return ""

    def shorten(self, sentence: object) -> str:
        """A sentence in which files are called as on the page."""
        return str(sentence).replace(f"{self.folder.root}/", "")

    def look_again(self) -> None:
        """Read the draft, in a process of its own; one that still reads an earlier text is ended."""
        self._looking += 1
        if self._reading is not None:
            self._reading.kill()
        self.look = Look(self.look.found, busy=True)
        self.version["question"] += 1
        if self.problem is None:
            return
        self._spawn(self._read(self.problem, self.text, self._looking))

    async def _read(self, name: str, text: str, number: int) -> None:
        try:
            self.folder.check_text(name, text)
            said: list[Event] = []
            work = {"job": "look", "path": str(self.folder.find(name)), "text": text}
            self._reading = self.workers.begin(work, said.append)
            await self._reading.task
            heard: Event = said[-1]
        except AscertainError as reason:
            heard = {"event": "refused", "sentence": str(reason)}
        if number != self._looking:
            return
        if heard["event"] == "done":
            self.look = Look(heard["result"])
        else:
            sentence = self.shorten(heard["sentence"])
            self.look = Look(None, sentence, find_line(text, sentence))
        self.version["question"] += 1

    # the experiment

    def solve(self, around: bool = False) -> None:
        """Look for the experiment of the draft."""
        if self.problem is None:
            raise TaskError("choose a problem first")
        if self.search is not None and not self.search.is_over:
            raise TaskError("a search goes on; stop it first")
        self.folder.check_text(self.problem, self.text)
        search = self.search = Search(self.text, self._make_room())
        work = {"job": "experiment", "path": str(self.folder.find(self.problem)), "text": self.text}
        search.job = self.workers.begin(
            {**work, "out": str(search.out), "around": around}, lambda event: self._hear_search(search, event)
        )
        self.version["experiment"] += 1

    def solve_again(self, around: bool = False) -> None:
        """Look for the experiment of a draft that has changed, if one was looked for; that search is given up."""
        if self.search is not None:
            if self.search.job is not None:
                self.search.job.kill()
            self.search = None
            self.solve(around)

    def _hear_search(self, search: Search, event: Event) -> None:
        match event["event"]:
            case "sides":
                search.sides.append(event)
                search.doing = "searching"
            case "doing":
                search.doing = event["said"]
            case "found":
                search.found = event["result"]
                self.last = search
            case "point":
                search.points.append(event)
            case "done":
                search.is_over = True
            case _:
                search.is_over = True
                # What was found stays found when only the rest of it was stopped.
                search.sentence = "" if search.found is not None else self.shorten(event["sentence"])
        self.version["experiment"] += 1

    # the run

    def start_run(self, plant: str, *, each: bool, timeout: float = 10.0, journal: str | None = None) -> None:
        """Begin a run of the problem as its file says it; with a journal, go on with that one."""
        problem = self._check_start()
        checked, resume = self.folder.check_plant(plant), journal is not None
        journal = journal or self.note_run(".journal", {"plant": plant, "each": each})
        self.fleet = None
        live = Live(problem=problem, plant=plant, journal=journal, out=self._make_room(), each=each)
        self.live = live
        work = {
            "job": "run",
            "path": str(self.folder.find(problem)),
            "plant": checked,
            "journal": str(self.folder.find(journal)),
            "resume": resume,
            "each": each,
            "out": str(live.out),
            "timeout": timeout,
        }
        live.job = self.workers.begin(work, lambda event: self._hear_run(live, event))
        self.version["run"] += 1

    def start_fleet(
        self,
        plant: str,
        hosts: str,
        *,
        parallel: int = 32,
        certificates: bool = False,
        folder: str | None = None,
    ) -> None:
        """Begin the run on many plants at once; with the folder of their journals, go on with those."""
        self._check_start()
        self.fleet = begin_fleet(self, plant, hosts, parallel=parallel, certificates=certificates, folder=folder)
        self.live = None
        self.version["run"] += 1

    def stop_fleet(self) -> None:
        """Let nothing more be sent to any host."""
        if self.fleet is not None and not self.fleet.is_over:
            stop_fleet(self.fleet)
            self.version["run"] += 1

    @property
    def now(self) -> Live | Fleet | None:
        """The run or the fleet that is looked at."""
        return self.live or self.fleet

    def _check_start(self) -> str:
        """The problem, if a run of it may begin."""
        if self.now is not None and not self.now.is_over:
            raise TaskError("a run goes on; abort it or wait for its end first")
        if self.problem is None:
            raise TaskError("choose a problem first")
        if self.is_edited:
            raise TaskError("the problem has unsaved changes; a run is bound to the file, so save or drop them first")
        self.folder.check_text(self.problem, self.text)
        return self.problem

    def note_run(self, suffix: str, start: dict[str, Any]) -> str:
        """A name for another run, and beside it how it is begun."""
        self.folder.find(RUNS).mkdir(exist_ok=True)
        stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S-%f")[:-3]
        name = f"{RUNS}/{Path(self.problem or '').stem}-{stamp}{suffix}"
        self._note_start(name, {"problem": self.problem, **start, "ended": None})
        return name

    def go_on(self, journal: str) -> None:
        """Go on with a run, or a fleet, that has not ended."""
        start = self.read_start(journal)
        self.choose(start["problem"])
        if "hosts" in start:
            self.note_end(journal, None)  # those that had failed are asked again
            self.start_fleet(
                start["plant"],
                str(start["hosts"]),
                parallel=int(start["parallel"]),
                certificates=bool(start["certificates"]),
                folder=journal,
            )
            return
        began = self.folder.find(journal).exists()
        if not began:  # it ended before its first record
            self.folder.find(journal + START).unlink(missing_ok=True)
        self.start_run(start["plant"], each=bool(start["each"]), journal=journal if began else None)

    def list_open(self) -> list[str]:
        """The runs that have not ended, but for the one that is looked at."""
        place = self.folder.root / RUNS
        found = sorted(place.glob(f"*{START}"), reverse=True) if place.is_dir() else []
        names = [self.folder.name(path).removesuffix(START) for path in found]
        mine = None if self.live is None else self.live.journal
        mine = mine if self.fleet is None or self.fleet.phase in ("stopped", "broken") else self.fleet.folder
        return [name for name in names if name != mine and self.read_start(name).get("ended") is None]

    def read_start(self, journal: str, *, within: bool = False) -> dict[str, Any]:
        """How a run was begun; `within` the fleet that it is of, where it is of one."""
        fleet = Path(journal).parent.as_posix()
        name = fleet if within and fleet.endswith(".fleet") else journal
        try:
            start = json.loads(self.folder.find(name + START).read_text("utf-8"))
            return {"problem": str(start["problem"]), "plant": str(start["plant"]), **start}
        except (OSError, ValueError, KeyError, TypeError):
            raise FileError(f"{journal}: how the run was begun is not known; resume it with `observe`") from None

    def _note_start(self, journal: str, start: dict[str, Any]) -> None:
        self.folder.find(journal + START).write_text(json.dumps(start), "utf-8")

    def _hear_run(self, live: Live, event: Event) -> None:
        match event["event"]:
            case "bound":
                live.bound, live.phase = event, "deciding"
            case "next":
                live.proposal, live.phase = event, "proposed"
            case "sending":
                live.phase = "sending"
            case "ask":
                live.prompt, live.phase = event["prompt"], "asking"
            case "step":
                live.steps.append(event)
                live.phase = "deciding"
            case "note":
                live.notes.append(event["said"])
            case "over":
                live.result, live.phase = {"facts": event["facts"], "files": []}, "ended"
                self.note_end(live.journal, event["facts"]["verdict"])
            case "done":
                live.result = event["result"]
            case _ if live.phase == "ended":  # what could be written about it could not
                live.notes.append(str(event["sentence"]))
            case "lost":
                live.phase = "broken"
                live.sentence = "The process of the run was ended. The journal holds what was done."
                if live.proposal:
                    live.sentence += f" Nobody knows whether {live.proposal['action']!r} was carried out."
            case _:
                live.sentence, live.phase = self.shorten(event["sentence"]), "refused"
                self.forget_refused(live.journal)
        self.version["run"] += 1

    def forget_refused(self, journal: str) -> None:
        """A run that was refused before anything of it was recorded is none that could be gone on with."""
        if not self.folder.find(journal).exists():
            self.folder.find(journal + START).unlink(missing_ok=True)

    def note_end(self, journal: str, ended: Any) -> None:
        """Beside a run, that it needs not be gone on with."""
        self._note_start(journal, {**self.read_start(journal), "ended": ended})

    def approve(self, number: int) -> None:
        """Let the action be sent that was proposed under this number, and no other one."""
        if self.live is not None and self.live.job is not None:
            self.live.job.tell(approve=number)

    def pause(self, paused: bool) -> None:
        """Send nothing more until told otherwise; what is under way ends."""
        if self.live is not None and self.live.job is not None:
            self.live.paused = paused
            self.live.job.tell(pause=paused)
            self.version["run"] += 1

    def ask_each(self, each: bool) -> None:
        """Whether each action is approved by a person."""
        if self.live is not None and self.live.job is not None and self.live.each != each:
            self.live.each = each
            self.live.job.tell(each=each)

    def read(self, reading: str) -> None:
        """What a person has read."""
        if self.live is not None and self.live.job is not None and self.live.phase == "asking":
            self.live.phase = "deciding"
            self.live.job.tell(reading=reading)
            self.version["run"] += 1

    async def abort(self) -> None:
        """End the run at once: nothing more is sent, and the answer to what was sent is not waited for."""
        if self.live is not None and self.live.job is not None:
            self.live.aborted = True
            self.version["run"] += 1
            await self.live.job.abort()

    def _make_room(self) -> Path:
        self._temporary.append(Path(mkdtemp(prefix="ascertain-studio-")))
        return self._temporary[-1]

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
