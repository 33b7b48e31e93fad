"""Where the operations of a campaign are computed: on this machine, or on a Dask or Ray cluster that is already there.

An engine maps a function over items and hands out each result, with the place of its item, as soon as it is there. The
functions are pure, so it does not matter who computes what; engines only differ in speed.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol, TypeVar, final
from urllib.parse import urlsplit

from ascertain.errors import FileError, import_extra
from ascertain_paper.campaign.orphans import end_with_parent

Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(Protocol):
    """Computes many things at once."""

    workers: int

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Generator[tuple[int, Result]]:
        """The place of an item and its result, in the order in which they end."""
        ...

    def close(self) -> None: ...


def start_engine(name: str = "local", workers: int | None = None) -> Engine:
    """The engine that the name says: "local", "dask://HOST:PORT", "ray://HOST:PORT" or "ray://local"."""
    scheme, _, address = name.partition("://")
    if name == "local":
        return _Local(workers or os.cpu_count() or 1)
    if scheme not in {"dask", "ray"} or not address:
        raise FileError(f'engine: {name!r} is not understood; write "local", "dask://HOST:PORT" or "ray://HOST:PORT"')
    _check_address(name, address)
    return _Dask(address) if scheme == "dask" else _Ray(address, workers)


def _check_address(name: str, address: str) -> None:
    if address == "local" and name.startswith("ray"):
        return
    try:
        parts = urlsplit(f"//{address}")
        known = bool(parts.hostname) and parts.port is not None
    except ValueError:
        known = False
    if not known:
        raise FileError(f"engine: {name!r} names no host and port")


@final
class _Local:
    """Processes of this machine, or this process alone."""

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise FileError(f"workers: {workers} is not understood; at least one is needed")
        self.workers = workers

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Generator[tuple[int, Result]]:
        if self.workers == 1:
            for place, item in enumerate(items):
                yield place, function(item)
            return
        joblib = import_extra("joblib", "paper")
        parallel: Any = joblib.Parallel(n_jobs=self.workers, return_as="generator_unordered")
        work = joblib.delayed(_apply_in_worker)
        yield from parallel(work(os.getpid(), function, place, item) for place, item in enumerate(items))

    def close(self) -> None:
        """Worker processes are joblib's, and end by themselves."""


def _apply_in_worker(
    parent: int, function: Callable[[Item], Result], place: int, item: Item
) -> tuple[int, Result]:  # pragma: no cover  # in another process
    end_with_parent(parent)
    return place, function(item)


@final
class _Dask:
    """The workers of a Dask cluster."""

    def __init__(self, address: str) -> None:
        self._distributed = import_extra("distributed", "dask")
        self._address = address
        try:
            self._client: Any = self._distributed.Client(address, timeout="10s", set_as_default=False)
        except Exception as reason:  # whatever stands between us and the cluster, the sentence is the same
            raise _unanswered("Dask", address, reason) from None
        self.workers = max(1, sum(self._client.ncores().values()))

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Generator[tuple[int, Result]]:
        futures = self._client.map(function, list(items), pure=False)
        place = {future.key: number for number, future in enumerate(futures)}
        losses = (OSError, ImportError, self._distributed.KilledWorker, self._distributed.CancelledError)
        try:
            for future in self._distributed.as_completed(futures, self._client.loop):
                yield place[future.key], future.result()
        except losses as reason:
            raise _lost("Dask", self._address, reason) from None

    def close(self) -> None:
        self._client.close()


@final
class _Ray:
    """The workers of a Ray cluster; "local" starts one on this machine."""

    def __init__(self, address: str, workers: int | None) -> None:
        self._ray = import_extra("ray", "ray")
        self._address = address
        where: dict[str, Any] = {"address": f"ray://{address}"}
        if address == "local":  # said, as Ray would otherwise join a cluster that it finds on this machine
            where = {"address": "local", "num_cpus": workers}
        try:
            with warnings.catch_warnings(action="ignore"):  # what goes wrong is said once, below
                self._ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR", **where)
        except Exception as reason:  # whatever stands between us and the cluster, the sentence is the same
            raise _unanswered("Ray", address, reason) from None
        self.workers = max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Generator[tuple[int, Result]]:
        remote = self._ray.remote(_apply)
        pending = [remote.remote(function, item) for item in items]
        place = {reference: number for number, reference in enumerate(pending)}
        try:
            while pending:
                ended, pending = self._ray.wait(pending)
                for reference in ended:
                    yield place[reference], self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as failed:
            cause: Exception = failed.cause  # what the function raised, or that it is not known there
            raise _lost("Ray", self._address, cause) if isinstance(cause, ImportError) else cause from None
        except (OSError, self._ray.exceptions.RayError) as reason:
            raise _lost("Ray", self._address, reason) from None

    def close(self) -> None:
        self._ray.shutdown()


def _apply(function: Callable[[Item], Result], item: Item) -> Result:
    """Ray takes plain functions only."""
    return function(item)


def _unanswered(kind: str, address: str, reason: Exception) -> FileError:
    return FileError(f"engine: no {kind} cluster answers at {address} ({_first_line(reason)})")


def _lost(kind: str, address: str, reason: Exception) -> FileError:
    return FileError(
        f"engine: the {kind} cluster at {address} did not finish the work ({_first_line(reason)}); "
        "finished chunks are kept with --out, and --resume goes on from there"
    )


def _first_line(reason: Exception) -> str:
    line = next(iter(str(reason).strip().splitlines()), "")
    return f"{type(reason).__name__}: {line:.200}" if line else type(reason).__name__
