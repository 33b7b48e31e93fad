"""An event loop on a thread of its own, for transports that are async: also where the caller has a loop already."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar, final

T = TypeVar("T")


@final
class LoopThread:
    """Runs coroutines for a thread that is not async. It ends with the program if nobody stops it."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=_serve, args=(self._loop,), daemon=True, name=name)
        self._thread.start()

    def run(self, call: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """What it returns; TimeoutError when that takes longer, and the coroutine goes on."""
        return asyncio.run_coroutine_threadsafe(call, self._loop).result(timeout)

    def stop(self, timeout: float) -> None:
        """Cancel whatever is still going on."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    if left := asyncio.all_tasks(loop):
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.wait(left))
    loop.close()
