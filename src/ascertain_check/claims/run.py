"""The claim that a run on a plant has earned its answer: the evidence is computed again, against every rival.

The records must be a chain that ends in the head, and tell the transcript that the claim states. The commitment, their
first, fixes the task, alpha and how it is shared, the nominal state and the policy. From these it follows with which
bank, at which share of alpha and from which step on readings are scored:

    policy              until the bank is compiled                      after that
    staged, readwise    the nominal, alpha * nominal_share, from 0      the bank, the rest of alpha, from that step on
    eager                                                               the bank, alpha, from 0
    reuse, incremental  the nominal with weight nominal_share, from 0   the bank, alpha, from 0

On a hidden model, candidates and the nominal are hypotheses, and readings are scored from 0 in every case: where the
plant is depends there on what was read, so that readings before a switch, which decided about it, cannot be left out.
Two tests that were both fixed beforehand are then made on the same readings.

Whichever ends the run, the shares that could have been spent sum to alpha, and that must not be more than the task's.
A bank that was compiled must have the hash that the records noted then.

Whatever else the commitment determines is computed again and compared: when the bank was compiled (switching.py), the
actions of a rule that takes them in turn (turns.py), the budget, the limits of actions, doubts and losses.

*What is trusted.* A chain of hashes shows that nothing in it was changed later by someone who did not change the head.
It does not show when the first record was made, nor whether the others tell what happened: see trust.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from typing import Any

from ascertain_check import trust
from ascertain_check.chain import Commitment, Story, read_hash, read_story
from ascertain_check.claim import register
from ascertain_check.evidence import Stage, Step, common_denominator
from ascertain_check.fault_reset import check_reset
from ascertain_check.hidden_task import HiddenTask
from ascertain_check.hidden_world import check_hidden
from ascertain_check.listed_world import check_listed
from ascertain_check.plant_task import PlantTask
from ascertain_check.plant_world import check_plant
from ascertain_check.question import Question
from ascertain_check.reading import (
    Object,
    canonical_bytes,
    quote,
    read_index,
    read_list,
    read_map,
    read_object,
    read_rational,
    read_text,
)
from ascertain_check.switching import check_switch
from ascertain_check.turns import check_turns
from ascertain_check.verdicts import Malformed, Refuted

WORLDS: dict[str, Callable[[Any, str, Stage, list[Step]], None]] = {
    "machine": check_listed,
    "noisy": check_listed,
    "boolean": check_plant,
    "hidden": check_hidden,
}
"""By kind of model: what computes the evidence against every hypothesis again."""
ONE = Fraction(1)
ALL_STATES = "all states"
"""In place of a list of candidates: every state of a Boolean plant, each with the same weight."""


@register("run", about=tuple(WORLDS), trusted=trust.RUN)
def check_run(task: Question, claim: Object) -> str:
    keys = "claim label shares share bank scored_from transcript records head"
    data = read_object(claim, keys, "the claim 'run'")
    label = read_text(data["label"], "label")
    steps = read_transcript(task, data["transcript"])
    head = read_hash(data["head"], "head")
    bank = read_bank(data["bank"], task.num_candidates)
    story = read_story(data["records"], head, task.num_candidates, task.num_actions, task.num_readings)
    check_story(task, story, label, steps)
    name, shares = find_shares(story)
    check_shares(task, data, name, shares)
    start = find_start(task, story)
    stage = Stage(bank, shares[name], start, story.commitment.ran, find_before(story, start))
    check_bank(task, story, bank, data["bank"])
    check_switch(task, story)
    check_turns(task, story)
    if read_index(data["scored_from"], len(steps) + 1, "scored_from") != stage.scored_from:
        raise Refuted(f"by the records readings are scored from step {stage.scored_from} on")
    WORLDS[task.kind](task, label, stage, steps)
    readings = sum(step.reading is not None for step in steps[stage.scored_from :])
    lost, doubts = count_lost(steps), sum(not step.certain for step in steps)
    losses = f"; {lost} readings are recorded as lost and {doubts} actions as doubted" if lost or doubts else ""
    whole = sum(shares.values())
    spent = f"{shares[name]} (the run: {whole})" if shares[name] < whole else f"{whole}"
    proved = f"the answer {quote(label)} beats every rival at risk {spent}, on {readings} readings"
    return proved + losses + story.header


def read_transcript(task: Question, value: object) -> list[Step]:
    steps: list[Step] = []
    for row in read_list(value, "transcript"):
        action, reading, certain = read_list(row, "a step of the transcript", 3)
        if not isinstance(certain, bool) or (reading is not None and not certain):
            raise Malformed("a step of the transcript: [action, reading or null, whether it is certain that it ran]")
        heard = None if reading is None else read_index(reading, task.num_readings, "a step of the transcript")
        steps.append(Step(read_index(action, task.num_actions, "a step of the transcript"), heard, certain))
    return steps


def read_bank(value: object, num_states: int) -> list[tuple[int, Fraction]] | None:
    """Candidates in ascending order with positive weights that sum to at most 1; None: every state, evenly."""
    if value == ALL_STATES:
        return None
    rows = [read_list(row, "a candidate", 2) for row in read_list(value, "bank")]
    bank = [(read_index(s, num_states, "a candidate"), read_rational(w, "a weight")) for s, w in rows]
    states = [s for s, _ in bank]
    if not bank or states != sorted(set(states)):
        raise Malformed("a bank must list at least one candidate, in ascending order, each once")
    if not all(w for _, w in bank):
        raise Malformed("a weight must be positive")
    if sum_exceeds_one(bank):
        raise Refuted("the weights of the bank sum to more than 1")
    return bank


def sum_exceeds_one(bank: list[tuple[int, Fraction]]) -> bool:
    common = common_denominator((w for _, w in bank), "the weights of the bank")
    return sum(int(w * common) for _, w in bank) > common


def check_story(task: Question, story: Story, label: str, steps: list[Step]) -> None:
    """The records are about this task, this answer and these steps, and use what may be used."""
    commitment = story.commitment
    if commitment.task_sha256 != task.sha256:
        raise Refuted("the records belong to another task")
    if story.label is None:
        raise Refuted("the records do not end with a verdict")
    if story.label != label or story.steps != steps:
        raise Refuted("the records tell another answer or another transcript")
    if sum(not step.certain for step in steps) > commitment.max_doubts:
        raise Refuted(f"more than {commitment.max_doubts} actions may or may not have run")
    if count_lost(steps) > commitment.max_losses and reads_by_chance(task):
        raise Refuted(f"more than {commitment.max_losses} readings were lost")
    for number in story.resets:
        check_reset(task, steps[number].action)
    for step in steps:
        if step.action not in task.actions:
            raise Refuted(f"action {step.action} is not one that the task lets an experiment use")


def count_lost(steps: list[Step]) -> int:
    return sum(step.reading is None and step.certain for step in steps)


def reads_by_chance(task: Question) -> bool:
    """Whether what a hypothesis reads is a matter of chance. Where it is not, a hypothesis falls only to a reading that
    it cannot give, so that readings that were left out rule out nobody."""
    if isinstance(task, PlantTask):
        return task.flip > 0
    beliefs = task.beliefs if isinstance(task, HiddenTask) else []
    return any(len(law) > 1 for law in (*task.laws, *beliefs))


def find_shares(story: Story) -> tuple[str, dict[str, Fraction]]:
    """The name of the share that the answer spends, and all shares by name."""
    commitment = story.commitment
    if commitment.policy == "eager":
        return "fallback", {"fallback": commitment.alpha}
    if commitment.mixes:
        return "mixture", {"mixture": commitment.alpha}
    nominal = commitment.alpha * commitment.nominal_share
    shares = {"nominal": nominal, "fallback": commitment.alpha - nominal}
    return ("nominal" if story.switched is None else "fallback"), shares


def check_shares(task: Question, data: Object, name: str, shares: dict[str, Fraction]) -> None:
    stated = {key: read_rational(value, "a share") for key, value in read_map(data["shares"], "shares").items()}
    if stated != shares or read_text(data["share"], "share") != name:
        raise Refuted("the shares of alpha are not those of the commitment")
    if sum(shares.values()) > task.alpha:
        raise Refuted("the shares sum to more than the alpha of the task")


def find_start(task: Question, story: Story) -> int:
    """The first step that is scored."""
    if task.kind == "hidden" or story.commitment.policy not in ("staged", "readwise"):
        return 0
    return story.switched or 0


def find_before(story: Story, start: int) -> Stage | None:
    """The nominal stage that came before the first scored step."""
    commitment = story.commitment
    if start == 0 or commitment.nominal is None:
        return None
    return Stage([(commitment.nominal, ONE)], commitment.alpha * commitment.nominal_share, 0, commitment.ran)


def check_bank(task: Question, story: Story, bank: list[tuple[int, Fraction]] | None, value: object) -> None:
    """The bank is the one that was noted when it was compiled, as far as the commitment says, or the nominal alone."""
    commitment: Commitment = story.commitment
    if commitment.policy != "eager" and commitment.nominal is None:
        raise Refuted("only the policy eager does without a nominal state")
    if story.switched is not None:
        if sha256(canonical_bytes(value, "bank")).hexdigest() != story.bank_sha256:
            raise Refuted("the bank is not the one that the records noted when it was compiled")
        if commitment.policy == "eager" and story.switched > 0:
            raise Refuted("the policy is eager, but the bank was not compiled first")
        check_committed(task, commitment, None if bank is None else dict(bank))
        return
    weight = commitment.nominal_share if commitment.mixes else ONE
    if commitment.policy == "eager" or bank != [(commitment.nominal, weight)]:
        raise Refuted("no bank was compiled, and the bank of the claim is not the nominal alone")


def check_committed(task: Question, commitment: Commitment, bank: dict[int, Fraction] | None) -> None:
    """What the commitment says about the bank: that there is one, what the nominal weighs, or all of it."""
    if commitment.bank is None:
        raise Refuted("the commitment says that there is no bank to be compiled")
    kept = commitment.nominal_share if commitment.mixes else Fraction(0)
    if bank is None:
        if kept or commitment.bank.get("kind") != "hypotheses":
            raise Refuted("the bank is every state, evenly weighted, and the commitment says otherwise")
        return
    if kept and (commitment.nominal is None or bank.get(commitment.nominal, Fraction(0)) < kept):
        raise Refuted("the nominal weighs less than the commitment says")
    if commitment.bank.get("kind") == "hypotheses":
        states = task.candidates
        share, nominal = (ONE - kept) / len(states), commitment.nominal if kept else None
        if len(bank) != len(states) or any(
            z not in states or w != share + (kept if z == nominal else 0) for z, w in bank.items()
        ):
            raise Refuted("the bank is not the hypotheses of the task, evenly weighted, as the commitment says")
