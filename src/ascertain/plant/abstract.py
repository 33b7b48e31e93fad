"""What a session asks of a plant beyond answering an action: its name, whether it may be asked again, to go on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from ascertain.errors import PlantFault
from ascertain.plant.faults import HungUp, Late

if TYPE_CHECKING:
    from ascertain.types import Plant


class AbstractPlant(ABC):
    """The interface of the plants that sessions are held with. Faults are raised as `ActionFault`s."""

    name: str = "plant"
    """What people are shown."""
    retry_safe: bool = False
    """Whether `repeat` is allowed: the plant answers an action again without carrying it out twice."""
    identity: str | None = None
    """What the plant says it is (a serial number, the name it greets with); None when it does not say."""
    address: str = ""
    """Where it is reached, as it was named: `tcp://bench:50`, `opc.tcp://127.0.0.1:4840`."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @abstractmethod
    def send(self, action: str) -> str:
        """Carry out the action and return what was read."""

    def repeat(self, action: str) -> str:
        """The answer to the action that was sent last, once more; carried out only if it was not yet."""
        raise AssertionError(f"the plant {self.name!r} is not retry-safe, so {action!r} must not be repeated")

    def may_repeat(self, action: str) -> bool:
        """Whether this action may be asked for again, now: after a fault, or when a run is resumed that broke off."""
        return self.retry_safe

    def resume(self, actions: Sequence[str], confirmed: int | None = None) -> None:  # noqa: B027  most plants stay as they are
        """Take up a run in which these actions were sent before, the first `confirmed` of which surely ran (None: all).

        A PlantFault when this cannot be the plant of that run.
        """

    def skip(self, action: str) -> None:  # noqa: B027  most plants do not count
        """The next action was meant to be sent and is in doubt: whatever is counted or recorded goes past it."""

    def wait_at_most(self, seconds: float) -> None:  # noqa: B027  many answer at once, or cannot be hurried
        """From now on an answer may take so many seconds, and never longer than the plant's own time-out."""

    def close(self) -> None:  # noqa: B027  many hold nothing
        """Let go of whatever is held."""


@final
class BarePlant(AbstractPlant):
    """Anything that has `send`, such as a few lines of a user's own; time-outs and lost connections are faults."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant
        self.name = str(getattr(plant, "name", "plant"))
        identity = getattr(plant, "identity", None)
        self.identity = None if identity is None else str(identity)
        self.address = str(getattr(plant, "address", ""))

    def send(self, action: str) -> str:
        try:
            return self._plant.send(action)
        except TimeoutError as reason:
            raise Late(f"the plant did not answer in time: {reason}") from reason
        except (OSError, EOFError) as reason:
            raise HungUp(f"the plant has gone: {reason}") from reason


def as_plant(plant: Plant) -> AbstractPlant:
    """The plant as sessions want it."""
    return plant if isinstance(plant, AbstractPlant) else BarePlant(plant)


def check_identity(plant: AbstractPlant, expected: str | None) -> None:
    """Refuse a plant that is not the one meant, before anything is sent to it."""
    found = plant.name if plant.identity is None else plant.identity
    if expected is not None and found != expected:
        raise PlantFault(f"the plant says that it is {found[:200]!r}, and {expected!r} was expected")
