"""Where the operations of a campaign are computed: on this machine, or on a Dask or Ray cluster that is already there.

An engine maps a function over items and returns the results in the order of the items. The functions are pure, so it
does not matter who computes what; engines only differ in speed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol, TypeVar, final
from urllib.parse import urlsplit

from ascertain.errors import AscertainError, FileError

Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(Protocol):
    """Computes many things at once."""

    workers: int

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]: ...

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

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        if self.workers == 1:
            return [function(item) for item in items]
        joblib: Any = import_module("joblib")
        return list(joblib.Parallel(n_jobs=self.workers)(joblib.delayed(function)(item) for item in items))

    def close(self) -> None:
        """Worker processes are joblib's, and end by themselves."""


@final
class _Dask:
    """The workers of a Dask cluster."""

    def __init__(self, address: str) -> None:
        distributed: Any = _import_extra("distributed", "dask")
        try:
            self._client: Any = distributed.Client(address, timeout="10s", set_as_default=False)
        except OSError as reason:
            raise FileError(f"engine: no Dask cluster answers at {address} ({type(reason).__name__})") from None
        self.workers = max(1, sum(self._client.ncores().values()))

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        return self._client.gather(self._client.map(function, list(items), pure=False))

    def close(self) -> None:
        self._client.close()


@final
class _Ray:
    """The workers of a Ray cluster; "local" starts one on this machine."""

    def __init__(self, address: str, workers: int | None) -> None:
        self._ray: Any = _import_extra("ray", "ray")
        where: dict[str, Any] = {"num_cpus": workers} if address == "local" else {"address": f"ray://{address}"}
        try:
            self._ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR", **where)
        except (ConnectionError, OSError, RuntimeError) as reason:
            raise FileError(f"engine: no Ray cluster answers at {address} ({type(reason).__name__})") from None
        self.workers = max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        remote = self._ray.remote(_apply)
        return self._ray.get([remote.remote(function, item) for item in items])

    def close(self) -> None:
        self._ray.shutdown()


def _apply(function: Callable[[Item], Result], item: Item) -> Result:
    """Ray takes plain functions only."""
    return function(item)


def _import_extra(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise AscertainError(f"{module} is not installed; install it with: pip install 'ascertain[{extra}]'") from None
