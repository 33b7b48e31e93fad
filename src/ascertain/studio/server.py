"""The server of the page: on the loopback unless told otherwise, behind a token that it prints."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_urlsafe
from tempfile import gettempdir
from typing import Any, final

from ascertain.errors import FileError, TaskError, import_extra
from ascertain.studio.folder import Folder

LOOPBACK = "127.0.0.1"
"""The interface that nobody else can reach."""


@final
@dataclass(frozen=True)
class Address:
    """Where the page is."""

    url: str
    """With its token: whoever has it may use the page."""
    folder: Path
    is_local: bool

    def facts(self) -> dict[str, Any]:
        """As plain data, which is what `studio --json` prints."""
        return {"url": self.url, "folder": str(self.folder), "local": self.is_local}


def serve(
    problem: Path | None = None,
    *,
    folder: Path | None = None,
    host: str = LOOPBACK,
    port: int = 0,
    allow_exec: bool = False,
    told: Callable[[Address], None],
) -> None:
    """Serve the page until it is interrupted; `told` hears where it is. Port 0 is any that is free."""
    os.environ.setdefault("NICEGUI_STORAGE_PATH", gettempdir())  # nothing is stored, and nothing in this folder
    import_extra("nicegui", "studio")
    import uvicorn  # noqa: PLC0415  these come with the extra
    from fastapi import FastAPI  # noqa: PLC0415
    from nicegui import ui  # noqa: PLC0415

    from ascertain.studio.guard import Guard  # noqa: PLC0415
    from ascertain.studio.page import show_page  # noqa: PLC0415
    from ascertain.studio.state import Studio  # noqa: PLC0415

    here = Folder(folder or Path.cwd(), allow_exec)
    first = None if problem is None else here.name(here.find(os.path.abspath(problem)))
    if first is not None:
        if not here.find(first).is_file():
            raise FileError(f"{problem}: there is no such file; a problem (.toml) is needed")
        here.read_problem(first)  # refused before anything is served
    studio = Studio(here, first)
    bound = _bind(host, port)
    name, number = bound.getsockname()[:2]
    names = {name, "localhost"} if name == LOOPBACK else {name, host, socket.gethostname()}
    token = token_urlsafe(24)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        await studio.begin()
        shown = socket.gethostname() if name in ("0.0.0.0", "::") else name  # noqa: S104  compared, not bound
        told(Address(f"http://{shown}:{number}/?token={token}", here.root, name == LOOPBACK))
        yield
        await studio.close()

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    ui.run_with(  # pyright: ignore[reportUnknownMemberType]
        app,
        root=partial(show_page, studio),
        title="ascertain studio",
        dark=None,
        reconnect_timeout=30.0,
        show_welcome_message=False,
    )
    config = uvicorn.Config(
        Guard(app, token, names, number), log_level="warning", timeout_graceful_shutdown=1, ws_max_size=2**22
    )
    with bound:
        uvicorn.Server(config).run(sockets=[bound])


def _bind(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as reason:
        raise TaskError(f"--host {host} --port {port}: the page cannot be served there ({reason.strerror})") from None
