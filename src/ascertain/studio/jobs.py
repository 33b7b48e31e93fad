"""Long work in processes of its own: a job is started, told things and ended, and what it says is heard as it comes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

Event: TypeAlias = Mapping[str, Any]
"""What a job says: its `event` and words that go with it."""
Hear: TypeAlias = Callable[[Event], None]

OVER = ("ended", "stopped", "refused", "broken")
"""The phases of what does not go on."""
LONGEST_LINE = 2**28
"""Bytes of what a job says at once: a tree of a hundred thousand nodes has some megabytes."""
GRACE = 2.0
"""Seconds that a job is given to end by itself once it is stopped. A run sends nothing in them: it looks whether it was
stopped before each action, and does not wait for answers any longer; it records that, and closes its plant."""


async def start_worker() -> Process:
    """A process that waits for a job; a keyboard interrupt in the terminal is the server's alone."""
    words = (sys.executable, "-m", "ascertain.studio.worker")
    return await asyncio.create_subprocess_exec(
        *words, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=LONGEST_LINE, start_new_session=True
    )


@dataclass(kw_only=True)
class AbstractOngoing:
    """Work on plants that goes on, or has ended."""

    problem: str
    plant: str
    phase: str
    notes: list[str] = field(default_factory=list[str])
    result: Event | None = None
    sentence: str = ""
    """Why it was refused, or what is known of its end."""
    job: Job | None = None

    @property
    def is_over(self) -> bool:
        return self.phase in OVER

    @property
    def is_simulated(self) -> bool:
        return self.plant.startswith("simulated")


@final
class Workers:
    """Processes for jobs, one of them kept waiting, so that nobody waits for Python to start."""

    def __init__(self, warm: bool = True) -> None:
        self.warm = warm
        self._spare: asyncio.Task[Process] | None = None
        self._jobs: set[Job] = set()

    def prepare(self) -> None:
        """Start the one that waits."""
        if self.warm and self._spare is None:
            self._spare = asyncio.create_task(start_worker())

    async def take(self) -> Process:
        """A process for a job."""
        spare, self._spare = self._spare, None
        process = await (spare or start_worker())
        return process if process.returncode is None else await start_worker()

    def begin(self, work: Mapping[str, Any], hear: Hear) -> Job:
        """Start a job; `hear` is told all that it says, in the end once "done", "refused" or "lost"."""
        job = Job(self, work, hear)
        self._jobs.add(job)
        job.task.add_done_callback(lambda _: self._jobs.discard(job))
        return job

    async def ask(self, work: Mapping[str, Any]) -> Event:
        """Do a job and wait for how it ends."""
        heard: list[Event] = []
        await self.begin(work, heard.append).task
        return heard[-1]

    async def close(self) -> None:
        """End everything."""
        jobs = list(self._jobs)
        for job in jobs:
            job.kill()
        if jobs:
            await asyncio.wait([job.task for job in jobs], timeout=GRACE)
        if self._spare is not None:
            process = await self._spare
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


@final
class Job:
    """Work that goes on elsewhere."""

    def __init__(self, workers: Workers, work: Mapping[str, Any], hear: Hear) -> None:
        self._process: Process | None = None
        self._workers, self._hear, self._dead = workers, hear, False
        self._unsent: list[Event] = [work]
        self.is_recorded = False
        """Whether a run has come to its end, and only files about it are still written."""
        self.task = asyncio.create_task(self._run())

    def tell(self, **words: Any) -> None:
        """Say something to it."""
        if self._process is None or self._process.stdin is None:
            self._unsent.append(words)
        elif not self._process.stdin.is_closing():
            self._process.stdin.write(json.dumps(words).encode() + b"\n")

    def stop(self) -> None:
        """Ask it to end with what it has; a run is ended by force if it does not at once."""
        self.tell(stop=True)

    async def abort(self) -> None:
        """Stop it, and end the process where it does not listen: it may be waiting for a plant."""
        self.stop()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self.task), GRACE)
        if not self.is_recorded:
            self.kill()

    def kill(self) -> None:
        """End the process at once."""
        self._dead = True
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def _run(self) -> None:
        process = self._process = await self._workers.take()
        assert process.stdin is not None and process.stdout is not None
        last: Event = {}
        try:
            for words in self._unsent:
                process.stdin.write(json.dumps(words).encode() + b"\n")
            if self._dead:
                self.kill()
            while text := await process.stdout.readline():
                last = json.loads(text)
                self.is_recorded |= last["event"] == "over"
                self._hear(last)
                if last["event"] in ("done", "refused"):
                    break
        finally:
            if process.returncode is None and last.get("event") not in ("done", "refused"):
                self.kill()
            process.stdin.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), GRACE)
            self.kill()
        if last.get("event") not in ("done", "refused"):
            self._hear({"event": "lost", "sentence": "the process that did the work has ended"})
        self._workers.prepare()
