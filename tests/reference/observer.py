"""An observer as the rule says it: after every step, everything again from the beginning, in exact rationals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ascertain.evidence.evidence import Step
from ascertain.model.abstract import AbstractDeterministic
from ascertain.observer.settings import ObserverSettings
from ascertain.task.bank import Bank
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task
from tests.reference.worlds import NaiveWorld

MIXTURE = (Fraction(1, 16), Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), Fraction(1))


@dataclass(frozen=True)
class Outcome:
    """How things stand: "certified", "abstained" or "going on", and what led there."""

    end: str
    label: str | None = None
    alpha: Fraction | None = None
    scored_from: int | None = None
    switched: tuple[int, str] | None = None
    """After how many actions the fallback began, and why."""


def observe(settings: ObserverSettings, bank: Bank | None, history: Sequence[Step]) -> Outcome:
    """The outcome of a history, which ends early where the observer would have ended."""
    switched: tuple[int, str] | None = (0, "eager") if settings.policy == "eager" else None
    for t in range(len(history) + 1):
        past, spent = history[:t], t >= settings.budget
        reuse = settings.mixes
        if sum(not step.certain for step in past) > settings.doubts.limit:
            return Outcome("abstained", switched=switched)
        if switched is None:
            end, label = judge(settings, nominal_stage(settings), 0, past)
            if end == "certified":
                return Outcome(end, label, settings.alpha if reuse else settings.alpha_nominal, 0)
            why = "contradiction" if end == "gave up" else why_trigger(settings, past, bank)
            if end == "gave up" and reuse and bank is not None and vanished(settings, nominal_stage(settings), past):
                switched = t, "contradiction"
            elif why is not None and reuse and end == "going on":
                switched = t, why
            elif why is not None and (spent or bank is None or reuse):
                return Outcome("abstained", switched=switched)
            elif why is not None:
                switched = t, why
            world = play(settings, nominal_stage(settings), 0, past)
        if switched is not None:
            assert bank is not None
            alpha = settings.alpha if settings.policy == "eager" or settings.mixes else settings.alpha_fallback
            scored_from = 0 if reuse else switched[0]
            whole = mix(settings, bank) if reuse else (bank, alpha)
            end, label = judge(settings, whole, scored_from, past)
            if end == "certified":
                return Outcome(end, label, alpha, scored_from, switched)
            if end == "gave up":
                return Outcome("abstained", switched=switched)
            world = play(settings, whole, scored_from, past)
        waits = reuse and switched is None  # the rest of the mixture may still change what is left
        if spent or (not waits and is_stalemate(settings, world)):
            return Outcome("abstained", switched=switched)
    return Outcome("going on", switched=switched)


def is_stalemate(settings: ObserverSettings, world: NaiveWorld) -> bool:
    """Whether, on a machine, what is left shows the same laws (at alpha = 0: supports) after all words, and never has
    one label. Every case of every hypothesis is followed by itself through all that words lead to."""
    model, question, name = world.model, settings.question, name_labels(settings)
    cases = [case for case, beaten in world.beaten.items() if not beaten]
    reached = {tuple(world.state[case] for case in cases)}
    while True:
        further = {tuple(model.next_state(s, a) for s in row) for row in reached for a in question.actions}
        if further <= reached:
            break
        reached |= further
    for row in reached:
        if len({name(h, s) for (h, _), s in zip(cases, row, strict=True)}) < 2:
            return False
        for a in question.actions:
            laws = [model.reading_law(s, a) for s in row]
            shown = {frozenset(law.items() if settings.alpha else law) for law in laws}
            if len(shown) > 1:
                return False
    return True


def nominal_stage(settings: ObserverSettings) -> tuple[Bank, Fraction]:
    assert settings.nominal is not None
    if settings.mixes:
        return Bank((settings.nominal,), (settings.nominal_share,)), settings.alpha
    return Bank((settings.nominal,), (Fraction(1),)), settings.alpha_nominal


def mix(settings: ObserverSettings, bank: Bank) -> tuple[Bank, Fraction]:
    assert settings.nominal is not None
    weight = {settings.nominal: settings.nominal_share}
    for z, w in zip(bank.states, bank.weights, strict=True):
        weight[z] = weight.get(z, Fraction(0)) + w * (1 - settings.nominal_share)
    return Bank(tuple(weight), tuple(weight.values())), settings.alpha


def play(
    settings: ObserverSettings, stage: tuple[Bank, Fraction], scored_from: int, past: Sequence[Step]
) -> NaiveWorld:
    model = settings.model
    assert isinstance(model, AbstractDeterministic)
    listed = settings.question.candidates
    states = list(range(model.num_states)) if listed is None else list(listed)
    world = NaiveWorld(model, states, *stage, settings.doubts.ran)
    for i, step in enumerate(past):
        if not step.certain:
            world.doubt(step.action)
        else:
            world.observe(step.action, step.reading if i >= scored_from else None)
    return world


def vanished(settings: ObserverSettings, stage: tuple[Bank, Fraction], past: Sequence[Step]) -> bool:
    return play(settings, stage, 0, past).numerator == 0


def judge(
    settings: ObserverSettings, stage: tuple[Bank, Fraction], scored_from: int, past: Sequence[Step]
) -> tuple[str, str | None]:
    world = play(settings, stage, scored_from, past)
    if world.numerator == 0:
        return "gave up", None
    names = name_labels(settings)
    labels = {names(h, world.state[h, ran]) for (h, ran), beaten in world.beaten.items() if not beaten}
    if len(labels) > 1:
        return "going on", None
    return ("certified", labels.pop()) if labels else ("gave up", None)


def name_labels(settings: ObserverSettings) -> Callable[[int, int], str]:
    """From a hypothesis and the state that it is in now to its label."""
    question = settings.question
    if isinstance(question, PlantTask):
        states = question.states
        start: Callable[[int], int] = lambda h: h if states is None else states[h]  # noqa: E731
        return lambda h, now: question.label_of(now if question.about == "current" else start(h))
    assert isinstance(question, Task)
    if question.state_label is None:
        return lambda h, _: question.labels[int(question.label[h])]
    of_state = question.state_label
    return lambda _, now: question.labels[int(of_state[now])]


def why_trigger(settings: ObserverSettings, past: Sequence[Step], bank: Bank | None) -> str | None:
    value = trigger(settings, past)
    if settings.policy != "staged" and (value is None or value > 1 + settings.threshold):
        return "trigger"
    if value is None or value >= 1 / settings.rejection:
        return "rejection"
    limit = settings.nominal_budget
    return "exhausted" if limit is not None and len(past) >= limit and bank is not None else None


def trigger(settings: ObserverSettings, past: Sequence[Step]) -> Fraction | None:
    """T, the least over the ways the doubted actions may have gone; None for infinity."""
    model = settings.model
    assert isinstance(model, AbstractDeterministic)
    cases: list[tuple[int, tuple[Fraction, ...] | None]] = [(settings.nominal or 0, (Fraction(1),) * len(MIXTURE))]
    for step in past:
        after: list[tuple[int, tuple[Fraction, ...] | None]] = []
        for state, terms in cases:
            moved = model.next_state(state, step.action)
            after.append((moved, _score(settings, state, terms, step)))
            if not step.certain:
                after.append((state, terms))
        cases = after
    values = [sum(terms, Fraction(0)) / len(terms) for _, terms in cases if terms is not None]
    return min(values) if values else None


def _score(
    settings: ObserverSettings, state: int, terms: tuple[Fraction, ...] | None, step: Step
) -> tuple[Fraction, ...] | None:
    if step.reading is None or terms is None:
        return terms
    assert isinstance(settings.model, AbstractDeterministic)
    own = settings.model.reading_law(state, step.action).get(step.reading)
    if own is None:
        return None
    even = Fraction(1, len(settings.model.possible_readings(step.action)))
    return tuple(x * ((1 - q) * own + q * even) / own for x, q in zip(terms, MIXTURE, strict=True))
