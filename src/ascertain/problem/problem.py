"""The problem file: a task in TOML, every key checked.

The file states the model, the hypotheses and their labels, costs, a reset, safety, noise and risk, an operation that
went before and how to observe (`sections.py`); `docs/formats.md` lists the keys. Paths are relative to the file. A key
that is not known is an error that offers the one that was probably meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast, final

from ascertain.drawing.shown import Shown
from ascertain.errors import AscertainError, FileError, LimitError, MissingFileError, TaskError, check_keys
from ascertain.model import BooleanPlant, Model
from ascertain.model.boolean import MAX_ENUMERATED_BITS
from ascertain.model.files import FORMATS
from ascertain.model.files.text import parse_toml, read_text
from ascertain.model.hidden import HiddenModel
from ascertain.model.network import BooleanNetwork
from ascertain.problem.fields import read_names, read_one_of, read_probability, read_rational, read_section, read_value
from ascertain.problem.pose import Log, Pattern, Reset, pose, prepare
from ascertain.problem.pose_hidden import Beliefs, pose_hidden, read_beliefs
from ascertain.problem.pose_plant import pose_plant
from ascertain.problem.sections import ObserveSection, OperationSection, read_observe, read_operation
from ascertain.problem.source import known_options, read_source
from ascertain.task.hidden_task import HiddenTask
from ascertain.task.log import LogRecord, read_log
from ascertain.task.question import AbstractQuestion
from ascertain.task.task import Task, check_task

Q = TypeVar("Q", bound=AbstractQuestion)

STEPS = ("model_step", "world_step")
"""Keys of [cost] that are no actions: what a candidate, or a state of the world, taken through one command costs."""
KEYS: Mapping[str, tuple[str, ...]] = {
    "task": ("hypotheses", "label", "about", "actions"),
    "reset": ("action", "reading", "to"),
    "safety": ("never",),
    "noise": ("flip", "at_most", "lost", "reads"),
    "risk": ("alpha", "beta", "misfit"),
}
"""The sections of fixed keys; [cost] has the names of actions for keys and [weights] those of states. Formats of models
have further sections and keys (`known_options`)."""


@final
@dataclass(frozen=True, kw_only=True)
class Problem(Shown):
    """What a problem file says."""

    path: Path
    question: AbstractQuestion
    """What an observer is to settle; a Boolean plant is not enumerated for it unless the question needs that."""
    listed: Task | HiddenTask | None
    """The same with every state listed; None when there are too many."""
    operated: Model | BooleanPlant | None = None
    """The model that logs speak of: with all its actions and the reset, before safety and noise are added; None where
    the model is hidden, of which no operation is compiled."""
    weights: tuple[Fraction, ...] = ()
    """One for each hypothesis, for expected costs; all equal unless the file says otherwise."""
    operation: OperationSection | None = None
    observe: ObserveSection
    misfit: Fraction | None = None
    """gamma, the risk of a false alarm that no state explains the readings; None: the file does not say."""
    silence: str = "-"
    """The name of the reading that stands for no answer."""
    prices: Mapping[str, Fraction] = field(default_factory=dict[str, Fraction])
    """What a step of computation costs, by its kind, one of STEPS; empty: computation is not priced."""
    sources: tuple[Path, ...]
    """The files that it was read from; none of them should be written over."""
    notes: tuple[str, ...] = ()
    """What the reader of the model remarked on: what was not used, changed or decided."""
    bounds_flips: bool = False
    """Whether the flip of a plant stands for a bound: that is the same evidence, but a policy's risk is another."""

    def shown(self) -> Mapping[str, object]:
        return {"path": self.path, "question": repr(self.question)}

    @property
    def listed_question(self) -> Task | HiddenTask:
        """The question with every state listed; refused where there are too many."""
        if self.listed is None:
            raise LimitError(
                f"{self.path}: the plant has {len(self.question.model.bits)} bits, too many to list its states (at "
                f"most {MAX_ENUMERATED_BITS}); the verbs bank and observe do without"
            )
        return self.listed

    @property
    def task(self) -> Task:
        """The task with every state listed; refused where there are too many, or where the model is hidden."""
        return check_task(self.require_machine().listed_question)

    def require_law(self) -> Problem:
        """The problem itself, refused where its noise is a bound that its question does not know of."""
        if self.bounds_flips:
            raise TaskError(
                f"{self.path}: [noise] at_most: a network that is taken as a plant has no policy whose risk holds for "
                'every noise within a bound; leave out [network] as = "plant", write flip, or observe with evidence'
            )
        return self

    def require_machine(self) -> Problem:
        """The problem itself, refused where its model is hidden."""
        if not self.question.model.has_certain_transitions:
            raise TaskError(
                f"{self.path}: the model is hidden, and this needs a machine, whose transitions are certain; observe "
                "settles a question about a hidden model on its plant, and inspect and quotient say what can be told "
                "apart"
            )
        return self

    @cached_property
    def log(self) -> tuple[LogRecord, ...]:
        """The log of the operation, read when it is first asked for; every command with the line that it stands on."""
        if self.operation is None:
            raise TaskError(f'{self.path}: a section [operation] with log = "FILE" is needed')
        try:
            return read_log(self.operation.log)
        except MissingFileError as reason:
            raise _named_by(self.path, reason) from None


def as_problem(given: Problem | AbstractQuestion | str | Path) -> Problem:
    """The problem itself, the one of the file of that name, or one that is a question made in Python and no more."""
    if isinstance(given, AbstractQuestion):  # made in Python: of no file
        listed = given if isinstance(given, Task | HiddenTask) else None  # gates are not listed unless a file is read
        return Problem(path=Path("the question"), question=given, listed=listed, observe=ObserveSection(), sources=())
    return read_any_problem(given) if isinstance(given, str | Path) else given


def find_question(
    given: Q | Problem | str | Path, choose: Callable[[Problem], Q]
) -> tuple[Q, Problem] | tuple[Q, None]:
    """The question that a road was given, and the problem that it is of.

    A question that was made in Python is of none. `choose` takes the question out of a problem, which may be given as
    the name of its file.
    """
    # A road is given a question or something that holds one, and these have nothing in common to be asked.
    if isinstance(given, str | Path | Problem):
        problem = as_problem(given)
        return choose(problem), problem
    return given, None


def read_problem(path: str | Path) -> Problem:
    """Read, check and pose the problem of a file; one about a hidden model is refused."""
    return read_any_problem(path).require_machine()


def read_any_problem(path: str | Path, text: str | None = None) -> Problem:
    """Read, check and pose the problem of a file; `text` is what it holds, where that has been read already."""
    path = Path(path)
    content = read_text(path) if text is None else text
    suffix = path.suffix.lower()
    try:
        data = parse_toml(content, str(path), parse_float=str)
    except FileError:
        if suffix != ".toml" and FORMATS.find(suffix.removeprefix(".")) is not None:
            raise _no_question(path) from None
        raise
    if "bits" in data and not {"model", "models"} & data.keys():  # a Boolean plant is written in TOML too
        raise _no_question(path)
    try:
        return _pose(path, data)
    except MissingFileError as reason:
        raise _named_by(path, reason) from None
    except FileError:
        raise
    except AscertainError as reason:
        message = str(reason)
        raise type(reason)(message if message.startswith(f"{path}:") else f"{path}: {message}") from None


def _no_question(path: Path) -> FileError:
    """A model where a problem is needed: what is missing is the question."""
    return FileError(
        f"{path}: a model is no question; a problem file (.toml) is needed, with the line model = "
        f'"{path.name}"; `ascertain init problem.toml` writes one to start from'
    )


def _named_by(path: Path, reason: MissingFileError) -> MissingFileError:
    """The same with the problem file that names the one that is missing: its paths are relative to it."""
    return MissingFileError(f"{path} names a file that is missing: {reason}")


def _pose(path: Path, data: dict[str, Any]) -> Problem:
    options = known_options(data)
    words = (option.name for option in options if option.words)
    fixed = {**KEYS, **{option.name: tuple(option.keys) for option in options if option.keys}}
    check_keys("", data, ("model", "models", "undefined", *words, "cost", "weights", *fixed, "observe", "operation"))
    sections = {name: read_section(data, name) for name in ("cost", "weights", "observe", "operation", *fixed)}
    for name, known in fixed.items():
        check_keys(f"[{name}] ", sections[name], known)
    read = read_source(path, data)
    source, words = read.model, _words(path, data, sections, read.common)
    bounds_flips = False
    if isinstance(source, HiddenModel):  # hypotheses are beliefs here and states elsewhere: two ways to pose
        _refuse_unused(data, sections["observe"])
        listed = question = pose_hidden(source, **words)
        operated = None
    else:
        if isinstance(words["hypotheses"], Beliefs):
            raise TaskError("[task] hypotheses: beliefs are for hidden models; list states, or give a pattern or a log")
        # No model can be taken as a plant; a network, which describes one, can.
        if isinstance(source, BooleanNetwork) and sections["network"].get("as") == "plant":
            if words["lost"]:
                raise TaskError(
                    "[noise] lost: a bit that is read is 0 or 1; leave it out, or take the network as a machine"
                )
            # A bit has two readings, for which a bound and an exact flip are the same evidence.
            bounds_flips = bool(words["at_most"])
            source = source.plant(words["flip"] or words["at_most"])
            words["flip"] = words["at_most"] = Fraction(0)
        model = source.as_model()
        listed = None if len(model.bits) > MAX_ENUMERATED_BITS else pose(source, **words)
        if isinstance(model, BooleanPlant):  # gates can be operated and asked about without a list of states
            question, operated = _question_plant(model, words, listed), model
        else:
            assert listed is not None
            question = listed
            operated = prepare(model, actions=None, undefined=words["undefined"], reset=words["reset"], never=())
    operation = read_operation(path, sections["operation"]) if "operation" in data else None
    logs = [Path(given.path) for given in [words["hypotheses"]] if isinstance(given, Log)]
    logs += [] if operation is None else [operation.log]
    logs += [] if operation is None or operation.calibration is None else [operation.calibration]
    observe = read_observe(sections["observe"])
    return Problem(
        path=path,
        question=question,
        listed=listed,
        operated=operated,
        weights=_weights(listed, sections["weights"], len(question.model.bits)),
        operation=operation,
        observe=observe,
        misfit=read_probability(sections["risk"], "misfit", "[risk]") if "misfit" in sections["risk"] else None,
        silence=read_value(sections["noise"], "reads", "-", (str,), "[noise] "),
        prices=_prices(sections["cost"]),
        sources=(path, *read.files, *logs),
        notes=read.notes,
        bounds_flips=bounds_flips,
    )


def _refuse_unused(data: Mapping[str, Any], observe: Mapping[str, Any]) -> None:
    """Refuse what says nothing about a hidden model."""
    unused = [f"[{name}]" for name in ("weights", "operation") if name in data]
    unused += [f"[observe] {key}" for key in ("compiler", "shells") if key in observe]
    if unused:
        raise TaskError(f"{unused[0]} is for machines and Boolean plants; this model is hidden, so leave it out")


def _prices(section: Mapping[str, Any]) -> dict[str, Fraction]:
    """What [cost] says about steps of computation."""
    prices = {name: read_rational(section, name, "[cost]") for name in STEPS if name in section}
    for name, price in prices.items():
        if price < 0:
            raise TaskError(f"[cost] {name}: {price} is negative; a step costs nothing or more")
    return prices


def _words(
    path: Path, data: dict[str, Any], sections: Mapping[str, dict[str, Any]], common: tuple[str, ...] | None
) -> dict[str, Any]:
    """The arguments of `pose`, one for each thing that the file says about the task."""
    task, noise, risk = sections["task"], sections["noise"], sections["risk"]
    named = [name for name in sections["cost"] if name not in STEPS]
    costs = {name: read_rational(sections["cost"], name, "[cost]") for name in named}
    return {
        "hypotheses": _hypotheses(path, task.get("hypotheses", "all")),
        "label": read_value(task, "label", "state", (str, dict), "[task] "),
        "about": read_one_of(task, "about", ("start", "current"), "[task] "),
        "actions": _actions(task, common),
        "undefined": read_one_of(data, "undefined", ("forbidden", "self-loop"), ""),
        "default_cost": costs.pop("default", Fraction(1)),
        "cost": costs,
        "reset": _reset(sections["reset"]) if "reset" in data else None,
        "never": read_names(sections["safety"], "never", "[safety] "),
        "flip": read_probability(noise, "flip", "[noise]"),
        "at_most": read_probability(noise, "at_most", "[noise]"),
        "lost": read_probability(noise, "lost", "[noise]"),
        "reads": read_value(noise, "reads", "-", (str,), "[noise] "),
        "alpha": read_probability(risk, "alpha", "[risk]"),
        "beta": read_probability(risk, "beta", "[risk]"),
    }


def _question_plant(plant: BooleanPlant, words: Mapping[str, Any], listed: Task | None) -> AbstractQuestion:
    """The question as an observer wants it: about the plant itself, where it can be put like that."""
    plain: dict[str, Any] = {
        k: v for k, v in words.items() if k not in {"reset", "undefined", "flip", "at_most", "lost", "reads"}
    }
    if listed is not None and (words["reset"] is not None or not _is_rule(words)):
        return listed
    if words["reset"] is not None:
        raise TaskError("[reset]: a large Boolean plant is reset by a command that sets and clears its bits; add one")
    if words["flip"] or words["at_most"] or words["lost"]:
        raise TaskError("[noise]: a Boolean plant says its noise itself, and its flip may be a bound")
    return pose_plant(plant, **plain)


def _is_rule(words: Mapping[str, Any]) -> bool:
    """Whether hypotheses and labels can be said without a list of all states."""
    label, hypotheses = words["label"], words["hypotheses"]
    by_bits = isinstance(label, dict) and list(cast("dict[str, Any]", label)) in (["bits"], ["expression"], ["nominal"])
    return (label == "state" or by_bits) and (hypotheses == "all" or isinstance(hypotheses, tuple))


def _hypotheses(path: Path, value: object) -> Any:
    if isinstance(value, dict):
        table = cast(dict[str, Any], value)
        where = "[task] hypotheses: "
        check_keys(where, table, ("log", "pattern", "beliefs"))
        if len(table) != 1:
            raise TaskError(f"{where}give either a log or a pattern, or the beliefs of a hidden model")
        if "beliefs" in table:
            return read_beliefs(table["beliefs"])
        if "pattern" in table:
            return Pattern(read_value(table, "pattern", "", (str,), where))
        return Log(path.parent / read_value(table, "log", "", (str,), where))
    if isinstance(value, str):
        return value
    return read_names({"hypotheses": value}, "hypotheses", "[task] ")


def _actions(task: dict[str, Any], common: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if task.get("actions") == "common":
        return common
    return read_names(task, "actions", "[task] ") if "actions" in task else None


def _reset(section: dict[str, Any]) -> Reset:
    if "action" not in section:
        raise TaskError('[reset] action: the name of the reset action is needed, such as action = "RESET"')
    return Reset(**{key: read_value(section, key, "", (str,), "[reset] ") for key in section})


def _weights(listed: AbstractQuestion | None, section: dict[str, Any], num_bits: int) -> tuple[Fraction, ...]:
    """The weight of each hypothesis by the name of what the plant begins with; none where there are too many."""
    if listed is None:
        if section:
            raise TaskError(f"[weights]: the plant has {num_bits} bits; weights are for plants whose states are listed")
        return ()
    given = {name: read_rational(section, name, "[weights]") for name in section}
    for name, weight in given.items():
        if name != "default":
            listed.model.state_named(name, "[weights]")
        if weight <= 0:
            raise TaskError(f"[weights] {name}: {weight} is not positive")
    default = given.get("default", Fraction(1))
    return tuple(given.get(listed.name_start(listed.start_of(h)), default) for h in range(listed.num_hypotheses))
