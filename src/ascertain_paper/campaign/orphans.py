"""Worker processes that end with the one that started them, however it ended.

Workers of a process that is killed are told nothing: they would wait for more work, with all their memory, until they
have been idle for minutes. So each looks up now and then whether it has become an orphan.
"""

from __future__ import annotations

import os
import threading
import time
from functools import lru_cache

EVERY_S = 1.0
"""How often a worker looks up."""


@lru_cache(maxsize=1)
def end_with_parent(parent: int) -> None:
    """Let this process, which that one started, end soon after it; asked again it does nothing."""
    if os.getpid() != parent:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:  # pragma: no cover  # in another process
    while os.getppid() == parent:
        time.sleep(EVERY_S)
    os._exit(1)
