"""Runs with a watch on them: decisions timed while the bank is at hand, or everything in earnest, on a real clock."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from types import TracebackType
from typing import Any, final

from ascertain.bank.operation import Operation
from ascertain.live.compile_worker import CompileWorker
from ascertain.observer.banks import OperationBank
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import Observer, start_observer
from ascertain.task.bank import Bank
from ascertain_paper.studies.observing import outcome
from ascertain_paper.studies.speculation.timeline import Moment, Strategy
from ascertain_paper.testbed.operations import DrawnOperation
from ascertain_paper.testbed.streams import Stream
from ascertain_paper.testbed.testbed import Testbed


@final
@dataclass(frozen=True)
class Traced:
    """A run, and how long it had decided: `decided_us[k]` after read k, from 0 for the start."""

    observer: Observer
    wanted: Moment | None
    """When the bank was wanted."""
    decided_us: tuple[int, ...]

    @property
    def end(self) -> Moment:
        return Moment(len(self.decided_us) - 1, self.decided_us[-1])


@final
class _Watch:
    """Processor time within its `with` blocks, summed up."""

    def __init__(self) -> None:
        self._total = self._began = 0

    @property
    def stopped_us(self) -> int:
        return self._total // 1000

    @property
    def running_us(self) -> int:
        return (self._total + time.process_time_ns() - self._began) // 1000

    def __enter__(self) -> None:
        self._began = time.process_time_ns()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._total += time.process_time_ns() - self._began


def trace_run(
    testbed: Testbed, operation: DrawnOperation, stream: Stream, settings: ObserverSettings, bank: Bank
) -> Traced:
    """Run an observer on the stream, with its decisions timed; the bank is there when it is wanted."""
    watch, wanted, decided = _Watch(), list[Moment](), list[int]()

    def give() -> Bank:
        wanted.append(Moment(len(decided), watch.running_us))
        return bank

    plant, state = testbed.plants[operation.slot.plant].plant, operation.true_endpoint
    with watch:
        observer = start_observer(settings, give)
    decided.append(watch.stopped_us)
    for command, noise in zip(stream.schedule.tolist(), stream.noise.tolist(), strict=True):
        if observer.verdict is not None:
            break
        state, tapped = plant.step(state, command)
        with watch:
            observer = observer.update(command, tapped ^ noise)
        decided.append(watch.stopped_us)
    return Traced(observer, wanted[0] if wanted else None, tuple(decided))


@final
class _Background:
    """One run's use of the worker: begin once, wait for the bank, or stop."""

    def __init__(self, worker: CompileWorker, logged: Operation, compiler: str) -> None:
        self.worker, self.make_bank = worker, OperationBank(logged, compiler)
        self.begun, self.spent_us = False, 0
        self.used = False

    def begin(self) -> None:
        if not self.begun:
            self.begun = True
            self.worker.begin(self.make_bank)

    def bank(self) -> Bank:
        self.begin()
        bank, _, self.spent_us = self.worker.result()
        self.used = True
        return bank

    def stop(self) -> None:
        if self.begun and not self.used:
            self.spent_us = self.worker.stop()


def run_in_earnest(
    testbed: Testbed,
    operation: DrawnOperation,
    settings: ObserverSettings,
    strategy: Strategy,
    worker: CompileWorker,
    *,
    read_ms: int,
    threshold: int,
    compiler: str = "exhaustive",
) -> dict[str, Any]:
    """One operation by one strategy, reads sleeping so long each; what it took by the clock on the wall."""
    stream = testbed.stream(operation)
    plant, state = testbed.plants[operation.slot.plant].plant, operation.true_endpoint
    background = _Background(worker, testbed.logged(operation), compiler)
    gate = settings.make_trigger() if strategy == "gated background" else None
    began = time.perf_counter_ns()
    if strategy == "full background":
        background.begin()
    observer = start_observer(settings, background.bank)
    for command, noise in zip(stream.schedule.tolist(), stream.noise.tolist(), strict=True):
        if observer.verdict is not None:
            break
        time.sleep(read_ms / 1000)
        state, tapped = plant.step(state, command)
        observer = observer.update(command, tapped ^ noise)
        if gate is not None and observer.verdict is None:
            gate.observe(command, tapped ^ noise)
            if gate.exceeds(Fraction(1 + threshold)):
                background.begin()
                gate = None
    wall_us = (time.perf_counter_ns() - began) // 1000
    background.stop()
    return {
        "wall_us": wall_us,
        "compile_us": background.spent_us,
        "reads": observer.counters.readings,
        "outcome": outcome(operation, observer),
    }
