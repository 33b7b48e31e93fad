"""Gymnasium environments as plants: an action of the model is an action of the environment, and readings are decoded
from the observation, the reward or whatever else a step gives.

What a step gives is seen as JSON: {"observation", "reward", "terminated", "truncated", "info"}, out of which `take`
points. The environment runs on a thread of its own; a step that is late goes on, and the next one waits for it. When an
episode ends, the wiring says what follows: nothing more (`episode_end = "fault"`), or a reset at once.
"""

from __future__ import annotations

import contextlib
import reprlib
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, ClassVar, TypeAlias, cast, final

from ascertain.errors import TaskError, import_extra
from ascertain.plant import PlantKind
from ascertain.plant.faults import HungUp, Late, NotSent
from ascertain.plant.wiring.adapter import TEXT, AbstractAdapter, AdapterSettings, Step, StepForm, Types
from ascertain.plant.wiring.pointer import check_pointer, point_into

Job: TypeAlias = tuple["Future[Any]", Callable[[], Any]]
"""What the thread is to call, and where the result goes."""
ENDS = ("fault", "reset")
"""What can follow the end of an episode."""
PATIENCE = 1.0
"""Seconds that an environment is given to close: people wait for it."""


@final
class GymnasiumAdapter(AbstractAdapter):
    """`query = 2` takes this action, `query = "reset"` begins an episode, `read` looks at what the last one gave."""

    steps: ClassVar[Mapping[str, StepForm]] = {
        "query": StepForm(changes=True, gives=True, told=(int, str, list), keys={"take": TEXT}),
        "read": StepForm(changes=False, gives=True),
    }
    options: ClassVar[Mapping[str, Types]] = {"arguments": (dict,), "seed": (int,), "episode_end": TEXT}
    numbered = True  # what a late step gives is dropped
    keeps_state = False

    def __init__(self, settings: AdapterSettings) -> None:
        super().__init__(settings)
        end = settings.options.get("episode_end", "fault")
        if end not in ENDS:
            raise TaskError(f'episode_end: {end[:80]!r} is not understood; write "fault" or "reset"')
        if settings.options.get("seed", 0) < 0:
            raise TaskError("seed: a whole number from 0 on is needed")
        self._jobs: SimpleQueue[Job | None] | None = None
        self._environment: Any = None
        self._gave: dict[str, object] = {}
        """What the last step gave."""
        self._is_over = False
        """Whether the episode has ended, and none was begun since."""

    @classmethod
    def check(cls, step: Step) -> Step:
        check_pointer(step.told if step.verb == "read" else step.words.get("take", "/"), ())
        if step.verb == "query" and isinstance(step.told, str) and step.told != "reset":
            raise TaskError(
                f'query {step.told[:80]!r} is not understood; write "reset", or an action such as 2 or [0.5]'
            )
        return step

    def connect(self, timeout: float) -> str | None:
        gymnasium, seed = import_extra("gymnasium", "gymnasium"), self.settings.options.get("seed")
        if (folder := str(self.settings.folder.resolve())) not in sys.path:
            sys.path.insert(0, folder)  # "module:Name-v0" may mean a module beside the wiring file
        self._jobs = SimpleQueue()
        threading.Thread(target=_serve, args=(self._jobs,), daemon=True, name=self.settings.address).start()
        self._environment = self._call(lambda: self._make(gymnasium), timeout)
        for step in self.settings.steps:
            if step.verb == "query" and step.told != "reset":
                self._action(step.told)  # all of them are tried before anything is done
        self._call(lambda: self._reset(seed), timeout)
        return str(self._environment.spec.id) if self._environment.spec is not None else None

    def close(self) -> None:
        jobs, self._jobs = self._jobs, None
        if jobs is None:
            return
        closed: Future[Any] = Future()
        if self._environment is not None:
            jobs.put((closed, self._environment.close))
        else:
            closed.set_result(None)
        jobs.put(None)
        with contextlib.suppress(
            TimeoutError
        ):  # a step that is late is still going on; the thread ends with the program
            closed.exception(PATIENCE)

    def do(self, step: Step, timeout: float) -> object:
        if step.verb == "read":
            return point_into(self._gave, step.told)
        if step.told == "reset":
            gave = self._call(lambda: self._reset(None), timeout)
        else:
            action = self._action(step.told)
            gave = self._call(lambda: self._step(action), timeout)
        return point_into(gave, step.words.get("take", "/observation"))

    def _make(self, gymnasium: Any) -> Any:
        try:
            return gymnasium.make(
                self.settings.address, disable_env_checker=True, **self.settings.options.get("arguments", {})
            )
        except Exception as reason:  # whatever an environment that is not ours may raise
            raise TaskError(
                f"[plant] address: {self.settings.address!r} cannot be made: {type(reason).__name__}: {reason}"
            ) from None

    def _action(self, told: int | list[Any]) -> Any:
        """The action as the environment takes it."""
        space = self._environment.action_space
        try:
            action = space.from_jsonable([told])[0]
            fits = bool(space.contains(action)) and (action.dtype.kind not in "iub" or action.tolist() == told)
        except Exception:  # spaces raise what they like
            fits, action = False, None
        if not fits:
            raise TaskError(
                f"[[action]] query {reprlib.repr(told)} is no action of {self.settings.address}, which takes {space}"
            )
        return action

    def _reset(self, seed: int | None) -> dict[str, object]:
        observation, info = self._environment.reset(seed=seed)
        self._is_over = False
        return self._note(observation, 0.0, False, False, info)

    def _step(self, action: Any) -> dict[str, object]:
        if self._is_over:
            raise NotSent("the episode is over, and the wiring does not say that another begins")
        gave = self._note(*self._environment.step(action))
        if gave["terminated"] or gave["truncated"]:
            self._is_over = True
            if self.settings.options.get("episode_end") == "reset":
                self._reset(None)
        return gave

    def _note(self, *gave: Any) -> dict[str, object]:
        names = ("observation", "reward", "terminated", "truncated", "info")
        self._gave = {name: _plain(value) for name, value in zip(names, gave, strict=True)}
        return self._gave

    def _call(self, function: Callable[[], Any], timeout: float) -> Any:
        if self._jobs is None:
            raise HungUp("the environment is closed")
        future: Future[Any] = Future()
        self._jobs.put((future, function))
        try:
            return future.result(timeout)
        except TimeoutError:
            raise Late("the environment did not answer in time") from None
        except (OSError, EOFError) as reason:
            raise HungUp(f"the environment has gone: {reason}") from reason


def _serve(jobs: SimpleQueue[Job | None]) -> None:
    """What the thread does: call one thing after another."""
    while (job := jobs.get()) is not None:
        future, function = job
        try:
            future.set_result(function())
        except BaseException as reason:  # whatever it is, whoever asked is told
            future.set_exception(reason)


def _plain(value: Any) -> object:
    """Arrays and what is made of them as lists, tables and single values."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in cast("list[Any]", value)]
    return value.tolist() if hasattr(value, "tolist") else value


GYMNASIUM = PlantKind("gymnasium", adapter=GymnasiumAdapter)
"""A Gymnasium environment."""
