"""Plants behind HTTP: requests with a body, and values from the status, the text or a place in the JSON of an answer.

A request that could not be sent did not happen; one that was sent and not answered may have. An answer of 4xx or 503 is
a refusal, any other 5xx leaves in doubt whether the request was carried out; where `take = "status"`, it is a value.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, final

from ascertain.errors import TaskError, import_extra
from ascertain.plant import PlantKind
from ascertain.plant.faults import Garbled, HungUp, InDoubt, Late, NotSent, Refused
from ascertain.plant.wiring.adapter import TEXT, AbstractAdapter, AdapterSettings, Step, StepForm, Types
from ascertain.plant.wiring.address import split_url
from ascertain.plant.wiring.pointer import check_pointer, take_from

MAX_BODY = 2**20
"""Bytes of an answer: a reading is short, and more is nonsense."""
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
"""Those that can be asked for; the first three change nothing, by the standard."""
SAFE = METHODS[:3]
"""Those that may be sent again."""
UNAVAILABLE = 503
"""The status that says "not now": nothing was done."""


@final
class HttpAdapter(AbstractAdapter):
    """`request = "POST /valve"` with body and headers, `read = "/pressure"` for GET; `take` says what the value is."""

    steps: ClassVar[Mapping[str, StepForm]] = {
        "request": StepForm(True, True, keys={"body": (str, dict, list), "headers": (dict,), "take": TEXT}),
        "read": StepForm(False, True, keys={"headers": (dict,), "take": TEXT}),
    }
    options: ClassVar[Mapping[str, Types]] = {"headers": (dict,)}
    numbered = True  # an answer belongs to its connection, which is closed when it is late

    def __init__(self, settings: AdapterSettings) -> None:
        super().__init__(settings)
        if split_url(settings.address, "http", "https") is None:
            raise TaskError(f"address: {settings.address[:80]!r} is not a URL such as http://127.0.0.1:8080")
        _check_headers(settings.options.get("headers", {}))
        self._client: Any = None
        self._httpx: Any = None

    @classmethod
    def check(cls, step: Step) -> Step:
        method, _, path = step.told.partition(" ") if step.verb == "request" else ("GET", "", step.told)
        path = path.strip()
        if method not in METHODS or not path.startswith("/"):
            raise TaskError(f"{step.verb} {step.told[:80]!r} is not understood; {_FORMS[step.verb]}")
        check_pointer(step.words.get("take", "text"), ("text", "status"))
        _check_headers(step.words.get("headers", {}))
        return replace(step, changes=method not in SAFE)

    def connect(self, timeout: float) -> str | None:
        self._httpx = import_extra("httpx", "http")
        headers = self.settings.options.get("headers", {})
        # Proxies of the environment are for browsing; redirects would do a step somewhere else.
        self._client = self._httpx.Client(base_url=self.settings.address, headers=headers, trust_env=False)
        return None

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def do(self, step: Step, timeout: float) -> object:
        method, _, path = step.told.partition(" ") if step.verb == "request" else ("GET", "", step.told)
        status, body = self._ask(method, path.strip(), step, timeout)
        take = step.words.get("take", "text")
        if take == "status":
            return status
        if not 200 <= status < 300:
            said = f"the plant answered {status} {body[:80].decode(errors='replace')!r}"
            if status == UNAVAILABLE or 400 <= status < 500:
                raise Refused(said)
            raise InDoubt(said) if status >= 500 else Garbled(f"{said}, which is neither done nor refused")
        return take_from(body, take, "answered")

    def _ask(self, method: str, path: str, step: Step, timeout: float) -> tuple[int, bytes]:
        """Status and body; how long the whole may take is looked at between pieces of the body."""
        httpx, body = self._httpx, step.words.get("body")
        what = {} if body is None else {"content": body} if isinstance(body, str) else {"json": body}
        over, found = time.monotonic() + timeout, bytearray()
        try:
            with self._client.stream(
                method, path, headers=step.words.get("headers", {}), timeout=timeout, **what
            ) as answer:
                for piece in answer.iter_bytes():
                    found += piece
                    if len(found) > MAX_BODY:
                        raise Garbled(f"the answer has more than {MAX_BODY} bytes")
                    if time.monotonic() > over:
                        raise Late("the answer was not complete in time")
                return int(answer.status_code), bytes(found)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as reason:
            raise NotSent(f"{self.settings.address} does not listen: {reason}") from None
        except httpx.TimeoutException:
            raise Late("the plant did not answer in time") from None
        except httpx.NetworkError as reason:
            raise HungUp(f"the connection was lost: {reason}") from None
        except httpx.RemoteProtocolError as reason:
            if "disconnected" in str(reason) or "closed connection" in str(reason):
                raise HungUp(f"the connection was lost: {reason}") from None
            raise Garbled(f"the answer is not HTTP: {reason}") from None
        except httpx.DecodingError as reason:
            raise Garbled(f"the answer cannot be decoded: {reason}") from None


_FORMS = {
    "request": f'write a method ({", ".join(METHODS)}) and a path, such as "POST /valve"',
    "read": 'write a path such as "/pressure"',
}
"""How each step is written."""


def _check_headers(headers: dict[str, object]) -> None:
    for name, value in headers.items():
        if not isinstance(value, str) or not (name + value).isprintable() or not name.isascii():
            raise TaskError(f"headers: {name[:40]!r} must be a line of text")


HTTP = PlantKind("http", adapter=HttpAdapter)
"""A web server."""
