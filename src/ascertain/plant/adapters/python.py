"""Python as a plant: `python:module:name`, a function of an action's name, or an object that has `send`.

    def press(action): ...              # or async def; the reading is what it returns
    class Bench:                        # made once, without arguments
        identity = "bench 4"            # optional: a text, or a method that returns one
        def send(self, action): ...     # or async
        def close(self): ...            # optional

Calls run one after another on a thread of their own, which also runs the event loop of what is async. One that is late
goes on; what it returns is dropped, and the next call waits for it.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, final

from ascertain.errors import PlantFault, TaskError
from ascertain.plant import PlantContext, PlantKind
from ascertain.plant.faults import HungUp, Late
from ascertain.plant.wiring.adapter import AbstractAdapter, AdapterSettings, Step, StepForm
from ascertain.plant.wiring.event_loop import LoopThread

if TYPE_CHECKING:
    from ascertain.plant.wiring.plant import WiredPlant

PATIENCE = 1.0
"""Seconds that an object is given to close: people wait for it."""


@final
class PythonAdapter(AbstractAdapter):
    """`query` passes its text to the callable; its value is what that returns."""

    steps: ClassVar[Mapping[str, StepForm]] = {"query": StepForm(changes=True, gives=True)}
    by_name = True
    numbered = True
    keeps_state = False

    def __init__(self, settings: AdapterSettings) -> None:
        super().__init__(settings)
        module, _, name = settings.address.partition(":")
        if not all(part.isidentifier() for part in [*module.split("."), *name.split(".")]):
            raise TaskError(
                f"address: {settings.address[:80]!r} is not MODULE:NAME, such as bench:Bench or bench:press"
            )
        self._module, self._name = module, name
        self._loop: LoopThread | None = None
        self._turn = asyncio.Lock()
        self._object: Any = None

    def connect(self, timeout: float) -> str | None:
        found = _find(self._module, self._name, self.settings.folder)
        self._loop = LoopThread(self.settings.address)
        self._object = self._call(found, (), timeout) if isinstance(found, type) else found
        if not callable(getattr(self._object, "send", self._object)):
            raise TaskError(f"[plant] address: {self.settings.address} can neither be called nor has it a method send")
        identity = getattr(self._object, "identity", None)
        said = self._call(identity, (), timeout) if callable(identity) else identity
        return None if said is None else str(said)

    def close(self) -> None:
        loop, self._loop = self._loop, None
        if loop is None:
            return
        if callable(close := getattr(self._object, "close", None)):
            try:
                loop.run(self._run(close, ()), PATIENCE)
            except TimeoutError:
                pass  # a call that is late is still going on; the thread ends with the program
            except Exception as reason:
                raise PlantFault(f"python: {self.settings.address} failed to close: {reason}") from reason
        loop.stop(PATIENCE)

    def do(self, step: Step, timeout: float) -> object:
        return self._call(getattr(self._object, "send", self._object), (step.told,), timeout)

    def _call(self, function: Callable[..., Any], arguments: tuple[Any, ...], timeout: float) -> Any:
        if self._loop is None:
            raise HungUp("the plant is closed")
        try:
            return self._loop.run(self._run(function, arguments), timeout)
        except TimeoutError as reason:
            raise Late(f"no answer in time {reason}".strip()) from None
        except (OSError, EOFError) as reason:
            raise HungUp(f"the plant has gone: {reason}") from reason

    async def _run(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        async with self._turn:
            found = function(*arguments)
            return await found if inspect.isawaitable(found) else found


def _find(module: str, name: str, folder: Path) -> Any:
    """The object of that name; the module is looked for beside the wiring file and in the current directory first."""
    for place in (str(Path.cwd()), str(folder.resolve())):
        if place not in sys.path:
            sys.path.insert(0, place)
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ModuleNotFoundError, AttributeError) as reason:
        raise TaskError(f"[plant] address: {module}:{name} cannot be found: {reason}") from None
    except Exception as reason:  # whatever a module that is not ours may raise
        raise TaskError(f"[plant] address: {module} cannot be imported: {type(reason).__name__}: {reason}") from reason
    return found


def _open(text: str, context: PlantContext) -> WiredPlant:
    """Named directly, without a file: actions go by their names."""
    from ascertain.plant.wiring.file import Wiring
    from ascertain.plant.wiring.plant import open_for

    return open_for(Wiring(Path(f"python:{text}"), "python", PythonAdapter, text), context)


PYTHON = PlantKind("python", "python:MODULE:NAME", _open, adapter=PythonAdapter)
"""A function or an object of a Python module."""
