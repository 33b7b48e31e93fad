"""The plant that a run was made on, and when, as it was recorded: nothing of that can be proved, all of it is shown.

identity    what the plant said that it is, or null
address     how it was named
began       when the run began, "2026-11-18T05:00:00+00:00": universal time
ended       when it ended
"""

from __future__ import annotations

import re

from ascertain_check.reading import Object, quote, read_object, read_text
from ascertain_check.verdicts import Malformed

TIME = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\+00:00")


def read_time(value: object, where: str) -> str:
    text = read_text(value, where)
    if not TIME.fullmatch(text):
        raise Malformed(f"{where}: a time such as 2026-11-18T05:00:00+00:00 is needed")
    return text


def read_identity(value: object, where: str) -> str | None:
    return None if value is None else read_text(value, where)


def read_plant(claim: Object) -> str:
    """What a claim says of the plant that it was earned on, as the end of a sentence; nothing where it says nothing."""
    if "plant" not in claim:
        return ""
    data = read_object(claim["plant"], "identity address began ended", "plant")
    identity, address = read_identity(data["identity"], "identity"), read_text(data["address"], "address")
    return describe_plant(identity, address, read_time(data["began"], "began"), read_time(data["ended"], "ended"))


def describe_plant(identity: str | None, address: str, began: str, ended: str) -> str:
    name = "without a name" if identity is None else quote(identity)
    return f"; recorded on the plant {name} at {quote(address)}, from {began} to {ended}"
