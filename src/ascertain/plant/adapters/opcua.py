"""Plants behind OPC UA: values of nodes, read and written.

A node that is unknown, cannot be read or written, or has another type is a refusal. A status that leaves open whether a
write was carried out (BadDeviceFailure, BadTimeout) is in doubt; a value whose status is not good is nonsense, since
whether a sensor fails may depend on what it would have read. Where `take = "status"`, the status is the value.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Coroutine, Mapping
from datetime import datetime
from typing import Any, ClassVar, final

from ascertain.errors import TaskError, did_you_mean, import_extra
from ascertain.plant import PlantKind
from ascertain.plant.faults import Garbled, HungUp, InDoubt, Late, NotSent, Refused
from ascertain.plant.wiring.adapter import SCALAR, TEXT, AbstractAdapter, AdapterSettings, Step, StepForm, Types
from ascertain.plant.wiring.address import split_url
from ascertain.plant.wiring.event_loop import LoopThread

PATIENCE = 1.0
"""Seconds that the server is given to take note of our leaving: people wait for it."""
KEEP_ALIVE = 60.0
"""Seconds after which the server is asked how it is: it ends sessions in which nothing is said for some minutes."""
DAY = 86400.0
"""Seconds: no step takes longer, by what wiring files may say."""
NODE = re.compile(
    r"(ns=\d{1,5};)?(i=\d{1,10}|s=.+|g=[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|b=.+)", re.ASCII
)
"""A node id as text."""
RANGES: Mapping[str, tuple[Types, float, float]] = {
    "Boolean": ((bool,), 0, 1),
    "SByte": ((int,), -(2**7), 2**7 - 1),
    "Byte": ((int,), 0, 2**8 - 1),
    "Int16": ((int,), -(2**15), 2**15 - 1),
    "UInt16": ((int,), 0, 2**16 - 1),
    "Int32": ((int,), -(2**31), 2**31 - 1),
    "UInt32": ((int,), 0, 2**32 - 1),
    "Int64": ((int,), -(2**63), 2**63 - 1),
    "UInt64": ((int,), 0, 2**64 - 1),
    "Float": ((int, float), -3.4e38, 3.4e38),
    "Double": ((int, float), -1.7e308, 1.7e308),
    "String": ((str,), 0, 0),
}
"""The types of nodes that can be written: what of the file they take, from where to where."""
SECURITY: Mapping[str, tuple[str, ...]] = {
    "policy": ("Basic256Sha256", "Aes128Sha256RsaOaep", "Aes256Sha256RsaPss"),
    "mode": ("Sign", "SignAndEncrypt"),
}
"""What can be said of how messages are signed and encrypted."""
FILES = ("certificate", "key", "server_certificate")
"""Our certificate and its key, and that of the server, which is the only one that is trusted."""
REFUSAL = re.compile(
    "Bad(NodeIdUnknown|NodeIdInvalid|AttributeIdInvalid|IndexRangeInvalid|NotReadable|NotWritable|WriteNotSupported"
    "|NotSupported|NotImplemented|ServiceUnsupported|UserAccessDenied|TypeMismatch|OutOfRange|InvalidArgument"
    "|InvalidState|Locked|TooManyOperations|ServerTooBusy|RequestTooLarge)"
)
"""What a server says when it did not do a thing."""
STRANGER = re.compile(
    "Bad(SessionIdInvalid|SessionClosed|SessionNotActivated|SecureChannelIdInvalid|SecureChannelTokenUnknown"
    "|TcpSecureChannelUnknown|ServerHalted)"
)
"""What it says to somebody whom it does not know (any more): the connection was gone before."""


@final
class OpcUaAdapter(AbstractAdapter):
    """`write = "ns=2;s=V1.open"` with a value, and its type if need be; `read = "ns=2;s=P1.bar"`."""

    steps: ClassVar[Mapping[str, StepForm]] = {
        "write": StepForm(True, False, keys={"value": SCALAR, "type": TEXT}, needs=("value",)),
        "read": StepForm(False, True, keys={"take": TEXT}),
    }
    options: ClassVar[Mapping[str, Types]] = {"user": TEXT, "password": TEXT, "security": (dict,)}
    numbered = True  # requests have numbers, and answers theirs

    def __init__(self, settings: AdapterSettings) -> None:
        super().__init__(settings)
        parts = split_url(settings.address, "opc.tcp")
        if parts is None or parts.port is None:
            raise TaskError(f"address: {settings.address[:80]!r} is not a URL such as opc.tcp://127.0.0.1:4840")
        if "@" in settings.address:
            raise TaskError(
                "address: it stands in journals and certificates; say the user and password in keys of those names"
            )
        if "password" in settings.options and "user" not in settings.options:
            raise TaskError("password: a user is needed with it")
        _check_security(settings)
        self._loop: LoopThread | None = None
        self._client: Any = None
        self._ua: Any = None
        self._types: dict[str, str] = {}
        """Of the nodes that were written."""
        self._cut = False
        """Whether the library has hung up, which it does on nonsense."""

    @classmethod
    def check(cls, step: Step) -> Step:
        if not NODE.fullmatch(step.told):
            raise TaskError(
                f'{step.verb} {step.told[:80]!r} is not a node id such as "ns=2;s=V1.open" or "ns=2;i=1001"'
            )
        take, type_ = step.words.get("take", "value"), step.words.get("type")
        if take not in ("value", "status"):
            raise TaskError(f'take: {take[:80]!r} is not understood; write "value" or "status"')
        if type_ is not None:
            if type_ not in RANGES:
                known = ", ".join(RANGES)
                raise TaskError(
                    f"type: {type_[:80]!r} cannot be written{did_you_mean(type_, RANGES)}; known are {known}"
                )
            if not _fits(step.words["value"], type_):
                raise TaskError(f"value: {step.words['value']!r} is no {type_}")
        return step

    def connect(self, timeout: float) -> str | None:
        asyncua = import_extra("asyncua", "opcua")
        # What goes wrong is reported as faults; without this the library's log goes to standard error.
        logging.getLogger("asyncua").addHandler(logging.NullHandler())
        self._ua, self._types, self._cut = asyncua.ua, {}, False
        self._loop = LoopThread(self.settings.address)
        self._loop.run(self._connect(asyncua.Client, timeout))
        return None

    async def _connect(self, make: Any, timeout: float) -> None:
        # Steps have times of their own; the library's must not be shorter.
        client = make(self.settings.address, timeout=DAY, watchdog_intervall=max(KEEP_ALIVE, 2 * timeout))
        client.set_user(self.settings.options.get("user", ""))
        client.set_password(self.settings.options.get("password", ""))
        self._client = client
        try:
            await asyncio.wait_for(self._reach(client), timeout)
        except TimeoutError:
            raise NotSent(f"{self.settings.address} did not answer in time") from None
        except OSError as reason:
            raise NotSent(f"{self.settings.address} does not listen: {reason}") from None
        except self._ua.UaError as reason:
            raise Refused(f"{self.settings.address} refuses the connection: {reason}") from None
        except Exception as reason:  # whatever the decoding of messages and certificates may raise
            said = f"{type(reason).__name__}: {reason}"
            raise Garbled(f"{self.settings.address} refuses the connection, or a file is not right: {said}") from None
        protocol = client.uaclient.protocol
        hang_up = protocol.disconnect_socket

        def cut() -> None:
            self._cut = True
            hang_up()

        protocol.disconnect_socket = cut

    async def _reach(self, client: Any) -> None:
        if said := self.settings.options.get("security"):
            own, key, server = (str(self.settings.folder / said[name]) for name in FILES)
            policies = import_extra("asyncua.crypto.security_policies", "opcua")
            policy = getattr(policies, f"SecurityPolicy{said['policy']}")
            await client.set_security(policy, own, key, None, server, self._ua.MessageSecurityMode[said["mode"]])
        await client.connect()

    def close(self) -> None:
        loop, self._loop = self._loop, None
        if loop is None:
            return
        if self._client is not None:
            loop.run(self._disconnect())
        loop.stop(PATIENCE)

    async def _disconnect(self) -> None:
        with contextlib.suppress(TimeoutError, OSError, self._ua.UaError):  # it is gone, or does not listen
            await asyncio.wait_for(self._client.disconnect(), PATIENCE)
        self._client.disconnect_socket()

    def do(self, step: Step, timeout: float) -> object:
        until, node = time.monotonic() + timeout, self._client.get_node(step.told)
        if step.verb == "write":
            value, type_ = step.words["value"], step.words.get("type") or self._type_of(step, node, timeout)
            if not _fits(value, type_):
                raise Refused(f"the node is of the type {type_}, and {value!r} is not")
            value = self._ua.Variant(
                float(value) if type_ in ("Float", "Double") else value, self._ua.VariantType[type_]
            )
            return self._ask(node.write_value(self._ua.DataValue(value)), until - time.monotonic())
        found = self._ask(node.read_data_value(raise_on_bad_status=False), timeout)
        status = found.StatusCode or self._ua.StatusCode()
        if step.words.get("take") == "status":
            return status.name
        if status.is_good():
            return _plain(None if found.Value is None else found.Value.Value)
        if REFUSAL.fullmatch(status.name):
            raise Refused(f"the server answered {status.name}")
        raise Garbled(f"the value has the status {status.name}")

    def _type_of(self, step: Step, node: Any, timeout: float) -> str:
        """The type of what the node holds. Nothing is written when that fails, which is what the faults say."""
        if step.told in self._types:
            return self._types[step.told]
        try:
            found = self._ask(node.read_data_value(raise_on_bad_status=False), timeout)
        except (Late, HungUp, InDoubt) as fault:
            raise NotSent(f"the type of the node was asked for first: {fault}") from None
        held, status = found.Value, found.StatusCode or self._ua.StatusCode()
        holds = (
            "nothing" if held is None or held.Value is None else "an array" if held.is_array else held.VariantType.name
        )
        if holds not in RANGES:
            raise Refused(f"the node holds {holds}, status {status.name}; give the step the type that is to be written")
        self._types[step.told] = holds
        return holds

    def _ask(self, call: Coroutine[Any, Any, Any], timeout: float) -> Any:
        if self._loop is None:
            call.close()
            raise NotSent("the connection is closed")
        return self._loop.run(self._answer(call, timeout))

    async def _answer(self, call: Coroutine[Any, Any, Any], timeout: float) -> Any:
        if self._client.state.value != "connected":
            call.close()
            raise NotSent("the connection was lost")
        protocol = self._client.uaclient.protocol
        try:
            return await asyncio.wait_for(call, timeout)
        except TimeoutError:
            if protocol.receive_buffer:
                raise Garbled(
                    f"the server answered {bytes(protocol.receive_buffer[:20])!r}, which is no whole message"
                ) from None
            raise Late("the server did not answer in time") from None
        except OSError as reason:
            if self._cut:
                raise Garbled("the server answered something that is not OPC UA") from None
            raise HungUp(f"the connection was lost: {reason}") from None
        except self._ua.UaStatusCodeError as reason:
            name = self._ua.StatusCode(reason.code).name
            said = f"the server answered {name}"
            if REFUSAL.fullmatch(name):
                raise Refused(said) from None
            raise NotSent(said) if STRANGER.fullmatch(name) else InDoubt(said) from None
        except Exception as reason:  # whatever decoding may raise
            raise Garbled(f"the answer cannot be decoded: {type(reason).__name__}: {reason}") from None


def _check_security(settings: AdapterSettings) -> None:
    said = settings.options.get("security")
    if said is None:
        return
    for key in dict.fromkeys([*SECURITY, *FILES, *said]):
        value = said.get(key)
        if key not in (*SECURITY, *FILES):
            raise TaskError(f"security: unknown key {key!r}{did_you_mean(key, (*SECURITY, *FILES))}")
        if not isinstance(value, str):
            raise TaskError(f"security: {key} is needed, a text")
        if key in SECURITY and value not in SECURITY[key]:
            raise TaskError(f"security: {key} {value[:80]!r} is not understood; write {' or '.join(SECURITY[key])}")
        if key in FILES and not (settings.folder / value).is_file():
            raise TaskError(f"security: {key} {value[:80]!r}: there is no such file beside the wiring file")


def _fits(value: object, name: str) -> bool:
    types, low, high = RANGES[name]
    return type(value) in types and (isinstance(value, str) or low <= value <= high)  # type: ignore[operator]


def _plain(value: Any) -> object:
    """A value of OPC UA as one that can be decoded: the text of texts with a language, times as ISO 8601."""
    if isinstance(value, datetime):
        return value.isoformat()
    return getattr(value, "Text", getattr(value, "Name", value))


OPC_UA = PlantKind("opcua", adapter=OpcUaAdapter)
"""A server of OPC UA."""
