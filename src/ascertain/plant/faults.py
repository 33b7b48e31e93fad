"""What can go wrong between an action and its reading, one class each, and whether the action ran.

Where a fault does not say whether the action ran, nobody knows. What a session does about each is said in
`live/faults.py` and `docs/plants.md`; a plant only reports.
"""

from __future__ import annotations

from typing import ClassVar, final

from ascertain.errors import PlantFault


class ActionFault(PlantFault):
    """A fault of a known kind, met while an action was carried out."""

    kind: ClassVar[str] = "fault"


@final
class Late(ActionFault):
    """No answer within the time allowed; it may still come, and is then recognised by its number."""

    kind = "late"


@final
class Missing(ActionFault):
    """The action ran and nothing was read; what was lost had no part in its being lost."""

    kind = "missing"


@final
class InDoubt(ActionFault):
    """The plant itself does not know whether the action ran."""

    kind = "in doubt"


@final
class Refused(ActionFault):
    """The plant did not carry out the action, and says so."""

    kind = "refused"


@final
class Garbled(ActionFault):
    """An answer that is not one: bytes that are no text, a line too long, a number that was never sent."""

    kind = "garbled"


@final
class Contradicted(ActionFault):
    """Two different readings for one action, which ran: none of them can be believed."""

    kind = "contradicted"


@final
class HungUp(ActionFault):
    """The connection ended: the program stopped, the socket closed, the person left."""

    kind = "hang-up"


@final
class Restarted(ActionFault):
    """The plant is there, and no longer where it was: it has forgotten the run, or it is another one."""

    kind = "restart"


@final
class NotSent(ActionFault):
    """The plant was not reached, so that what was meant to be sent surely did not happen."""

    kind = "not sent"


@final
class HalfDone(ActionFault):
    """Of the steps that an action is made of some may have been done and others not: it neither ran nor did not run."""

    kind = "half done"
