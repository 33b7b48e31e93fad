"""Learn: what machine is this plant, as far as words from reset can tell?

plant -> answers, voted on and kept -> hypotheses -> conformance as equivalence oracle -> model and certificate
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal, final

from ascertain.certificate.write import name_files, write_certificate
from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import FileError, TaskError, import_extra
from ascertain.interruption import OutOfTime
from ascertain.live.answers import Answers, Letters, LimitMet, Revised, Unstable
from ascertain.live.deadline import as_deadline
from ascertain.live.journal import Journal
from ascertain.live.learner import run_learner
from ascertain.live.recorder import Notebook
from ascertain.model.build import with_reset
from ascertain.model.files.dot import write_dot
from ascertain.model.machine import Machine
from ascertain.pipeline import Tell, ignore
from ascertain.pipeline.certify import certify
from ascertain.pipeline.conform import CONFIDENCE, Conformed, conform, read_method
from ascertain.plant.abstract import AbstractPlant, as_plant, check_identity
from ascertain.policy.verdict import NoneOfThese
from ascertain.problem.conformance import pose_conformance
from ascertain.problem.plants import open_unmodelled
from ascertain.problem.pose import Reset
from ascertain.rational import rational_field
from ascertain.task.task import Task
from ascertain.types import Plant
from ascertain.version import __version__
from ascertain.writing import write_whole

METHODS = ("sample:100", "complete:0")
"""How a hypothesis is checked, unless said otherwise. Words that are drawn find what is missing; a complete suite
alone would accept the machine of one state, which is the only one of its size that reads like this."""
MAX_REVISIONS = 20
"""How often learning begins again because answers were outvoted; a plant that needs more does not repeat itself."""
SHOWN_DISPUTES = 20
"""Disputed words that a result lists; their number is there too."""


@final
@dataclass(frozen=True)
class Disputed:
    """A word whose last letter was read in several ways, and how often each."""

    word: Letters
    votes: Mapping[str, int]


@final
@dataclass(frozen=True, eq=False)
class Learned(Shown):
    """What was learned of a plant, and what is known about it."""

    status: Literal["learned", "unstable", "limit"]
    machine: Machine | None
    """The model; where nothing is claimed, the last hypothesis, if there was one."""
    claim: str | None
    """How the model was checked: "sample:N", "complete:K" or both; None where it was not."""
    statements: tuple[str, ...]
    """What is known by that."""
    reason: str | None
    """Why there is no model."""
    unstable: Disputed | None
    """The word whose votes did not decide."""
    disputed: tuple[Disputed, ...]
    """Words whose votes decided although they were read in several ways; the first of them."""
    num_disputed: int
    queries: int
    """Words that were run on the plant, each from a reset."""
    actions: int
    """Actions that were sent, resets apart."""
    known: int
    """Runs that the cache brought along."""
    rounds: int
    """Hypotheses that were checked."""
    faults: tuple[str, ...]
    plant: str
    certificate: str | None
    """What the checker says of the certificate; None where nothing is claimed."""

    def shown(self) -> Mapping[str, object]:
        size = None if self.machine is None else self.machine.num_states
        return {"status": self.status, "states": size, "claim": self.claim, "queries": self.queries}

    def listing(self) -> Listing:
        return ("word", "votes"), [(" ".join(d.word), dict(d.votes)) for d in self.disputed]

    @property
    def exit_code(self) -> int:
        """Of the verb: 0 learned, 3 undecided, 5 where the certificate does not verify."""
        if self.status != "learned":
            return 3
        return 0 if self.certificate == "VERIFIED" else 5

    def facts(self) -> dict[str, Any]:
        """As plain data, which is what `learn --json` prints."""

        def told(item: Disputed) -> dict[str, Any]:
            return {"word": list(item.word), "votes": dict(item.votes)}

        return {
            "status": self.status,
            "states": None if self.machine is None else self.machine.num_states,
            "actions": None if self.machine is None else list(self.machine.actions),
            "claim": self.claim,
            "statements": list(self.statements),
            "reason": self.reason,
            "unstable": None if self.unstable is None else told(self.unstable),
            "disputed": {"words": self.num_disputed, "first": [told(item) for item in self.disputed]},
            "queries": self.queries,
            "sent": self.actions,
            "known": self.known,
            "rounds": self.rounds,
            "faults": list(self.faults),
            "plant": self.plant,
            "certificate": self.certificate,
        }


def learn(
    plant: str | Plant,
    actions: Sequence[str],
    *,
    out: str | Path | None = None,
    conform_by: Sequence[str] = METHODS,
    reset: str = "RESET",
    votes: int = 2,
    max_votes: int = 10,
    cache: str | Path | None = None,
    resume: bool = False,
    time_limit: float | None = None,
    max_queries: int | None = None,
    max_states: int | None = None,
    seed: str | None = None,
    confidence: Fraction | int | str = CONFIDENCE,
    timeout: float = 10.0,
    retries: int = 2,
    identity: str | None = None,
    progress: Tell = ignore,
) -> Learned:
    """Learn a machine from a plant that can be reset, by asking words over these actions.

    Each answer must lead by `votes`, in at most `max_votes` runs of a word; a word that no vote decides ends
    learning. `conform_by` says how hypotheses are checked, one way after another: "sample:N", "complete:K". What the
    last check shows is what is claimed of the model. `out` is a .dot file for it; the certificate stands beside it.

    With a `cache` every run outlives a crash, and `resume` goes on with the runs that it holds. `time_limit` is in
    seconds, `max_queries` counts words run on the plant, `max_states` states of a hypothesis; where one is met, the
    result says so. A `seed` draws the same samples again. AALpy is needed (the extra `aalpy`).
    """
    import_extra("aalpy.base", "aalpy")  # before anything is begun
    methods = [(method, read_method(method)) for method in conform_by]
    chosen = _check_actions(actions, reset)
    if not methods:
        raise TaskError("conform: say how hypotheses are checked, such as sample:100")
    if out is not None and Path(out).suffix not in (".dot", ".gv"):
        raise FileError(f"{out}: a learned model is written as .dot, where a comment says what is claimed of it")
    if resume and (cache is None or not Path(cache).exists()):
        raise FileError(f"{cache}: there is no such cache to resume; leave --resume out to begin one")
    deadline = as_deadline(time_limit, "time_limit (--time)")
    with ExitStack() as stack:
        recorder = Notebook() if cache is None else stack.enter_context(Journal(cache))
        if recorder.records and not resume:
            raise FileError(f"{cache}: this cache has begun already; add --resume to go on with it, or name another")
        if isinstance(plant, str):
            plant = open_unmodelled(plant, (*chosen, reset), timeout=timeout)
            stack.callback(plant.close)
        device = as_plant(plant)
        check_identity(device, identity)
        _begin(recorder, device, reset)
        stack.enter_context(deadline.limit())  # for suites that take long to plan
        answers = Answers(
            device,
            reset,
            recorder=recorder,
            lead=votes,
            most=max_votes,
            retries=retries,
            max_runs=max_queries,
            deadline=deadline,
        )
        kinds = Counter(str(record["record"]) for record in recorder.records)
        search = _Search(
            answers,
            chosen,
            methods,
            rational_field(confidence, "confidence", TaskError),
            recorder,
            "model" if out is None else Path(out).stem,
            seed,
            max_states,
            progress,
            kinds["round"],
        )
        found = replace(search.run(), known=kinds["run"])
    if out is not None and search.task is not None and found.status == "learned":
        _write(Path(out), found, search.task, search.claims)
    return found


def _check_actions(actions: Sequence[str], reset: str) -> tuple[str, ...]:
    chosen = tuple(actions)
    if not chosen or not all(chosen) or len(set(chosen)) < len(chosen):
        raise TaskError("actions: name each action once, at least one, such as HELO,AUTH")
    if reset in chosen:
        raise TaskError(f"actions: {reset!r} is the reset, with which every word begins; leave it out")
    return chosen


def _begin(recorder: Journal | Notebook, plant: AbstractPlant, reset: str) -> None:
    """The first record; the answers of another plant, or from another reset, are refused."""
    commitment = {"record": "commitment", "format": "ascertain-answers", "version": 1}
    commitment |= {"plant": plant.name, "reset": reset}
    if not recorder.records:
        recorder.begin({**commitment, "made_by": f"ascertain {__version__}"})
        return
    where, first = getattr(recorder, "path", ""), recorder.records[0]
    for key, value in commitment.items():
        if first.get(key) != value:
            raise FileError(f"{where}: {key} is {first.get(key)!r} there and {value!r} now; name another cache")


@final
class _AnsweredPlant(AbstractPlant):
    """Answers as the plant does, by vote, so that conformance runs on settled answers."""

    def __init__(self, answers: Answers, reset_reading: str) -> None:
        self.name, self.identity, self.address = answers.plant.name, answers.plant.identity, answers.plant.address
        self._answers, self._reset_reading = answers, reset_reading
        self._word: Letters = ()

    def send(self, action: str) -> str:
        if action == self._answers.reset:
            self._word = ()
            return self._reset_reading
        self._word = (*self._word, action)
        return self._answers.ask(self._word)[-1]


@final
@dataclass(eq=False)
class _Search:
    """Hypotheses and their checks, until one passes all of them."""

    answers: Answers
    actions: tuple[str, ...]
    methods: Sequence[tuple[str, Mapping[str, int]]]
    confidence: Fraction
    recorder: Journal | Notebook
    name: str
    seed: str | None
    max_states: int | None
    progress: Tell
    rounds: int
    """Checks that were begun, those that the cache knows of included: each has its share of the confidence."""
    machine: Machine | None = None
    task: Task | None = None
    claims: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    statements: list[str] = field(default_factory=list[str])

    def run(self) -> Learned:
        for _ in range(1 + MAX_REVISIONS):
            try:
                run_learner(self.actions, self._ask, self._find_counterexample)
                return self._conclude("learned")
            except Revised:
                self.answers.forget_given()
            except Unstable as fault:
                return self._conclude("unstable", str(fault), Disputed(fault.word, fault.votes))
            except (LimitMet, OutOfTime) as limit:
                return self._conclude("limit", str(limit))
        return self._conclude("unstable", f"answers were outvoted {1 + MAX_REVISIONS} times; ask for more votes")

    def _ask(self, word: Letters) -> Letters:
        self._tell("asking")
        return self.answers.ask(word)

    def _tell(self, doing: str) -> None:
        states = 0 if self.machine is None else self.machine.num_states
        self.progress(f"{doing}: {self.answers.num_runs:,} queries, {states} states, {self.rounds} rounds")

    def _find_counterexample(self, machine: Machine) -> Letters | None:
        self.machine, self.claims, self.statements = machine, [], []
        if self.max_states is not None and machine.num_states > self.max_states:
            raise LimitMet(f"a hypothesis has {machine.num_states} states, more than {self.max_states}")
        for word, readings in self.answers.settled(self.actions):
            disagreement = find_disagreement(machine, word, readings)
            if disagreement is not None:
                return disagreement
        reading = self.answers.reset_reading
        model = machine if reading == Reset("").reading else with_reset(machine, self.answers.reset, reading=reading)
        self.task = pose_conformance(model, name=self.name, reset=self.answers.reset)
        self.rounds += 1
        drawn = self.seed or token_hex(8)
        self.recorder.append({"record": "round", "seed": drawn})
        for method, how in self.methods:
            found = self._check(self.task, method, how, f"{drawn}:{self.rounds}")
            if isinstance(found.verdict, NoneOfThese):
                return tuple(action for action, _ in found.verdict.witness[1:])
            assert found.claim is not None and found.statement is not None, "answers repeat themselves"
            self.claims.append(found.claim)
            self.statements.append(found.statement)
        self.machine = model
        return None

    def _check(self, task: Task, method: str, how: Mapping[str, int], seed: str) -> Conformed:
        """Conformance to a hypothesis. All rounds together are wrong with probability at most 1 - confidence, as
        round r has its share 1 / (r (r + 1)) of it, whose sum is 1."""
        share = Fraction(1, self.rounds * (self.rounds + 1))
        reading = self.answers.reset_reading
        observed: list[tuple[str, str]] = []
        if "complete" in how:  # what was observed before counts
            for word, _ in self.answers.settled(self.actions):
                # Asked without a run, so that nothing of it can be outvoted unnoticed.
                observed += [(self.answers.reset, reading), *zip(word, self.answers.ask(word), strict=True)]

        def fetch(planned: Conformed) -> None:
            """Ask the words as wholes, up to the first that disagrees; then all that is sent is known."""
            spec = planned.plan.spec
            for number, word in enumerate(planned.plan.words):
                names = tuple(spec.model.actions[spec.actions[i]] for i in word)
                self._tell(f"{method}, word {number + 1} of {len(planned.plan.words)}")
                expected = tuple(spec.model.readings[y] for y in spec.readings(0, word))
                if self.answers.ask(names) != expected:
                    break

        return conform(
            task,
            _AnsweredPlant(self.answers, reading),
            complete=how.get("complete"),
            sample=how.get("sample"),
            reset=self.answers.reset,
            seed=seed,
            confidence=1 - (1 - self.confidence) * share,
            before=observed,
            announce=fetch,
        )

    def _conclude(
        self, status: Literal["learned", "unstable", "limit"], reason: str | None = None, word: Disputed | None = None
    ) -> Learned:
        learned = status == "learned"
        disputed = [Disputed(*found) for found in self.answers.disputed(self.actions)]
        verdict = None
        if learned:
            assert self.task is not None
            verdict = str(certify(self.task, self.claims)[1])
        return Learned(
            status=status,
            machine=self.machine,
            claim="+".join(method for method, _ in self.methods) if learned else None,
            statements=tuple(self.statements) if learned else (),
            reason=reason,
            unstable=word,
            disputed=tuple(disputed[:SHOWN_DISPUTES]),
            num_disputed=len(disputed),
            queries=self.answers.num_runs,
            actions=self.answers.num_actions,
            known=0,
            rounds=self.rounds,
            faults=tuple(map(str, self.answers.faults)),
            plant=self.answers.plant.name,
            certificate=verdict,
        )


def find_disagreement(machine: Machine, word: Letters, readings: Letters) -> Letters | None:
    """The shortest prefix of a word along which a machine reads something else; None where it agrees."""
    state = machine.initial[0]
    for k, (action, reading) in enumerate(zip(word, readings, strict=True)):
        a = machine.actions.index(action)
        if machine.readings[int(machine.output[state, a])] != reading:
            return word[: k + 1]
        state = int(machine.successor[state, a])
    return None


def _write(out: Path, found: Learned, task: Task, claims: Sequence[Mapping[str, Any]]) -> None:
    """The model with its claim in comments, and the certificate beside it."""
    assert found.machine is not None
    certificate, _ = name_files(out.with_suffix(".json"))
    write_certificate(certificate, task, claims)
    outvoted = f"{found.num_disputed} answers were decided by votes." if found.num_disputed else ""
    lines = [
        f"Learned from {found.plant!r}: {found.claim}; certificate {certificate.name}.",
        *found.statements,
        outvoted,
    ]
    comments = "".join(f"// {' '.join(line.split())}\n" for line in lines if line)
    write_whole(out, (comments + write_dot(found.machine)).encode())
