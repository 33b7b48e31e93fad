"""Who may talk to the page: whoever has the token, from the page itself.

Before NiceGUI sees a request, or the first bytes of a websocket, this looks at it:

- *Host* is one that the server was started for, so that a name that somebody points at this machine is no way in;
- *Origin* and *Sec-Fetch-Site*, where a browser sends them, say that the request comes from the page itself, and a
  websocket must have an Origin;
- the token of the printed address, once, then a cookie that scripts cannot read and other sites do not send;
- a body has at most so many bytes, counted as they come, whatever its length is said to be.
"""

from __future__ import annotations

from hmac import compare_digest
from typing import TYPE_CHECKING, Any, final
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, MutableMapping

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

MAX_BODY = 64 * 2**20
"""Bytes of a request: certificates of large proofs have some megabytes."""
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (
        b"content-security-policy",
        b"default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; frame-ancestors 'none'; form-action 'self'",
    ),
)
"""What every answer says: nothing is fetched from elsewhere, and no other page may show this one in a frame."""


@final
class Guard:
    """An ASGI application in front of another one."""

    def __init__(self, app: Any, token: str, hosts: Iterable[str], port: int) -> None:
        self.app, self._token = app, token
        self._hosts = {host if port == 80 else f"{host}:{port}" for host in hosts}
        self._cookie = f"ascertain-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        websocket = scope["type"] == "websocket"
        why = self._refuse(headers, websocket)
        if why is None and not websocket and self._has_token(scope):
            await self._welcome(send)
            return
        if why is None and not self._has_cookie(headers):
            why = "open the address that `ascertain studio` has printed; it holds a token"
        if why is not None:
            await _deny(websocket, why, send)
            return
        await self.app(scope, receive if websocket else _Limited(receive), _with_headers(send))

    def _refuse(self, headers: dict[str, str], websocket: bool) -> str | None:
        """Why a request is not one of the page's; None where it is."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self._hosts:
            return "the page is served under the printed address only"
        if (origin is not None or websocket) and origin != f"http://{host}":
            return "requests come from the page itself, not from another site"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return "requests come from the page itself; copy the printed address into the browser"
        if int(headers["content-length"]) > MAX_BODY if headers.get("content-length", "").isdigit() else False:
            return f"at most {MAX_BODY // 2**20} MB are taken"
        return None

    def _has_token(self, scope: Scope) -> bool:
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        return compare_digest(given.encode(), self._token.encode())

    def _has_cookie(self, headers: dict[str, str]) -> bool:
        crumbs = [crumb.strip().partition("=") for crumb in headers.get("cookie", "").split(";")]
        return any(name == self._cookie and compare_digest(v.encode(), self._token.encode()) for name, _, v in crumbs)

    async def _welcome(self, send: Send) -> None:
        """Keep the token in a cookie, and take it out of the address, where people would copy it."""
        cookie = f"{self._cookie}={self._token}; HttpOnly; SameSite=Strict; Path=/"
        moved = [(b"location", b"/"), (b"set-cookie", cookie.encode()), *HEADERS]
        await send({"type": "http.response.start", "status": 303, "headers": moved})
        await send({"type": "http.response.body", "body": b""})


@final
class _Limited:
    """A body that ends with a refusal when it is too long."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self._seen = receive, 0

    async def __call__(self) -> MutableMapping[str, Any]:
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        return {"type": "http.disconnect"} if self._seen > MAX_BODY else message


def _with_headers(send: Send) -> Send:
    async def add(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *HEADERS]
        await send(message)

    return add


async def _deny(websocket: bool, why: str, send: Send) -> None:
    if websocket:
        await send({"type": "websocket.close", "code": 1008, "reason": why})
        return
    head = [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS]
    await send({"type": "http.response.start", "status": 403, "headers": head})
    await send({"type": "http.response.body", "body": f"{why}\n".encode()})
