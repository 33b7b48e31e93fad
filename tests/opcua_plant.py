"""A lamp behind OPC UA, as a program of its own: `python opcua_plant.py STATE PORT`, which prints PORT when it listens.

The state is a line in the file STATE, so that it outlives the program. Beside the lamp there are nodes that fail.
"""

# The library exports less than it documents, and wants types of its own where it takes any number or text.
# pyright: reportPrivateImportUsage=false, reportArgumentType=false

import asyncio
import logging
import sys
from pathlib import Path
from typing import Any

from asyncua import Client, Server, ua
from asyncua.common.utils import ServiceError
from asyncua.crypto.cert_gen import setup_self_signed_certificate
from asyncua.crypto.permission_rules import User, UserRole
from asyncua.server.user_managers import UserManager
from cryptography.x509.oid import ExtendedKeyUsageOID

STATE, PORT = Path(sys.argv[1]), sys.argv[2]


class Users(UserManager):
    """Anybody may look, and ann, who has a password, may write everything."""

    def get_user(
        self, iserver: Any, username: Any = None, password: Any = None, certificate: Any = None
    ) -> User | None:
        if username:
            return User(role=UserRole.Admin) if (username, password) == ("ann", "secret") else None
        return User(role=UserRole.User)


def lux(*_: object) -> ua.DataValue:
    return ua.DataValue(ua.Variant(120.5 if STATE.read_text() == "lit" else 0.3, ua.VariantType.Double))


def press(_node: object, _attribute: object, value: ua.DataValue) -> None:
    assert value.Value is not None
    if value.Value.Value:
        STATE.write_text("dark" if STATE.read_text() == "lit" else "lit")


def breaks(*_: object) -> None:
    raise ServiceError(ua.StatusCodes.BadDeviceFailure)


def forgets(*_: object) -> None:
    raise ServiceError(ua.StatusCodes.BadSessionIdInvalid)


async def main() -> None:
    logging.disable()
    server = Server(user_manager=Users())
    await server.init()
    server.set_endpoint(f"opc.tcp://127.0.0.1:{PORT}")
    server.set_security_policy([ua.SecurityPolicyType.NoSecurity, ua.SecurityPolicyType.Basic256Sha256_SignAndEncrypt])
    folder = STATE.parent
    await server.set_application_uri("urn:lamp:server")
    for name, uri in (("server", "urn:lamp:server"), ("client", Client("opc.tcp://127.0.0.1:1").application_uri)):
        use = [ExtendedKeyUsageOID.SERVER_AUTH if name == "server" else ExtendedKeyUsageOID.CLIENT_AUTH]
        await setup_self_signed_certificate(folder / f"{name}.pem", folder / f"{name}.der", uri, "127.0.0.1", use, {})
    await server.load_certificate(folder / "server.der")
    await server.load_private_key(folder / "server.pem")
    space = await server.register_namespace("urn:lamp")
    assert space == 2

    async def add(name: str, value: object, kind: ua.VariantType, **more: Any) -> Any:
        node = await server.nodes.objects.add_variable(ua.NodeId(name, space), name, ua.Variant(value, kind), **more)
        await node.set_writable()
        return node

    light = await add("lux", 0.0, ua.VariantType.Double)
    server.set_attribute_value_callback(light.nodeid, lux)
    for name, setter in (("press", press), ("breaks", breaks), ("forgets", forgets)):
        node = await add(name, False, ua.VariantType.Boolean)
        server.set_attribute_value_setter(node.nodeid, setter)
    for name, value in (("serial", STATE.stem), ("fixed", "")):
        node = await add(name, value, ua.VariantType.String)
        await node.set_writable(False)
    for name, value, kind in (
        ("Int16", 7, ua.VariantType.Int16),
        ("Float", 1.5, ua.VariantType.Float),
        ("Byte", 7, ua.VariantType.Byte),
        ("String", "abc", ua.VariantType.String),
        ("said", ua.LocalizedText("guten Tag", "de"), ua.VariantType.LocalizedText),
        ("array", [1, 2], ua.VariantType.Int32),
        ("empty", None, ua.VariantType.Null),
    ):
        await add(name, value, kind, **({"datatype": ua.NodeId(ua.ObjectIds.Int32)} if name == "empty" else {}))
    for name, code in (("broken", ua.StatusCodes.BadSensorFailure), ("stale", ua.StatusCodes.UncertainLastUsableValue)):
        node = await add(name, 1.0, ua.VariantType.Double)
        value = ua.DataValue(ua.Variant(1.0, ua.VariantType.Double), StatusCode=ua.StatusCode(code))
        await server.write_attribute_value(node.nodeid, value)
    async with server:
        print(PORT, flush=True)
        await asyncio.Event().wait()


asyncio.run(main())
