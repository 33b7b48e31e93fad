"""The journal of a run: records, each bound to all before it by a hash, and the story that they tell.

The hash of a record is the SHA-256 of the hash before it (64 zeros before the first), a line feed, and the record in
canonical form; the last one is the *head*. Whoever knows the head can be shown no other records. In order:

    commitment      what was fixed before the first reading: the task, the settings, what determines the bank
    plant           what it is met on, and when; names of what is sent and read (missing in older journals)
    intent          an action is about to be sent
    reading         what came of it: a reading, or null when it ran and nothing was read
    doubt           or: nobody knows whether it ran
    stage           a bank was compiled, after so many steps; its hash; with the policy incremental again when it grew
    verdict         the end

Every intent is followed by its reading or its doubt before anything else happens.

*Faults of the plant.* A verdict may also say that the run was given up because the plant failed. It can then go on: the
plant is named again, and the next intent, repeated until it has a reading, is a *reset*, which the claim has to
check. An action that was open when the plant failed is no step, nor is a doubt that was the last record before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256

from ascertain_check.evidence import Step
from ascertain_check.plants import describe_plant, read_identity, read_time
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
from ascertain_check.verdicts import Malformed, Refuted

START = "0" * 64
KEYS = {
    "commitment": "record format version task_sha256 settings bank made_by",
    "intent": "record action",
    "reading": "record action reading",
    "doubt": "record action",
    "stage": "record stage after why bank_sha256",
    "verdict": "record verdict label reason cause? ran? time?",
    "plant": "record identity address time actions readings",
}
SETTINGS = (
    "format version task nominal policy threshold budget alpha nominal_share rejection doubts probing limits "
    "misfit? silence? nominal_budget? losses?"
)
POLICIES = ("eager", "staged", "readwise", "reuse", "incremental")
MAX_DOUBTS, MAX_BUDGET = 10**6, 10**18
"""The largest numbers that settings may name, of doubts and of actions."""
LOSSES = 10
"""How many readings may be lost on a model with noise, where the settings do not say."""


@dataclass(frozen=True)
class Commitment:
    """What is fixed beforehand: `ran` is the weight of "it ran" where an action is doubted."""

    task_sha256: str
    policy: str
    nominal: int | None
    alpha: Fraction
    nominal_share: Fraction
    max_doubts: int
    ran: Fraction
    bank: Object | None
    """What determines the bank; None where there was none to be compiled."""
    threshold: Fraction
    rejection: Fraction
    budget: int
    nominal_budget: int | None
    max_losses: int
    limits: dict[int, int]
    probing: str

    @property
    def mixes(self) -> bool:
        """Whether nominal and bank are one mixture; of incremental ones the bank is the part computed in the end."""
        return self.policy in ("reuse", "incremental")


@dataclass
class Told:
    """What the records tell after the commitment."""

    steps: list[Step] = field(default_factory=list[Step])
    switched: int | None = None
    """The number of steps after which the bank was compiled, or its first part; None: it was not."""
    bank_sha256: str | None = None
    label: str | None = None
    """The label that the last record answers."""
    grows: bool = False
    """Whether the bank is compiled part by part, each with a record of its own."""
    plants: list[Object] = field(default_factory=list[Object])
    """The plant, as often as it is named."""
    ended: str | None = None
    """When the run ended, if that is recorded."""
    doubted: bool = False
    """Whether the last record is a doubt."""
    failed: bool = False
    """Whether the plant has failed, and is not named again yet."""
    resets: list[int] = field(default_factory=list[int])
    """The steps, from 0, that must be resets: the first after each fault of the plant."""

    @property
    def recovers(self) -> bool:
        """Whether the next step must be a reset."""
        return bool(self.resets) and self.resets[-1] == len(self.steps)

    @property
    def header(self) -> str:
        """The plant and the times, as the end of a sentence; nothing where they are not recorded."""
        if not self.plants or self.ended is None:
            return ""
        identity = read_identity(self.plants[-1]["identity"], "identity")
        address, began = str(self.plants[-1]["address"]), str(self.plants[0]["time"])
        gone_on = f"; gone on from a reset after {len(self.plants) - 1} faults" if len(self.plants) > 1 else ""
        return describe_plant(identity, address, began, self.ended) + gone_on


@dataclass(kw_only=True)
class Story(Told):
    """The same with a commitment to evidence: to a bank, and to how alpha is shared."""

    commitment: Commitment


def read_hash(value: object, where: str) -> str:
    text = read_text(value, where)
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise Malformed(f"{where}: 64 hexadecimal digits in lower case are needed")
    return text


def hash_record(previous: str, record: object) -> str:
    return sha256(previous.encode() + b"\n" + canonical_bytes(record, "a record")).hexdigest()


def read_story(value: object, head: str, num_states: int, num_actions: int, num_readings: int) -> Story:
    """What the records tell, after checking that the chain ends in this head."""
    records = read_records(value)
    commitment = read_commitment(records[0], num_states, num_actions)
    story = Story(commitment=commitment, grows=commitment.policy == "incremental")
    tell_records(story, records, head, num_actions, num_readings)
    return story


def read_records(value: object) -> list[Object]:
    """The records, each with the keys of its kind, the commitment first."""
    records = [read_record(record) for record in read_list(value, "records")]
    if not records or records[0]["record"] != "commitment":
        raise Malformed("the first record must be a commitment")
    return records


def tell_records(story: Told, records: list[Object], head: str, num_actions: int, num_readings: int) -> None:
    """All that the records tell after the commitment; the chain must end in this head."""
    last, pending = hash_record(START, records[0]), None
    for number, record in enumerate(records[1:]):
        last = hash_record(last, record)
        if record["record"] == "plant":
            tell_plant(story, record, number == 0, num_actions, num_readings)
            pending = None
        else:
            pending = tell(story, record, pending, num_actions, num_readings)
            story.doubted = record["record"] == "doubt"
    if last != head:
        raise Refuted("the chain of records does not end in the head that the claim names")


def read_record(value: object) -> Object:
    kind = read_text(read_map(value, "a record").get("record"), "a record")
    if kind not in KEYS:
        raise Malformed(f"the record {quote(kind)} is not known to this checker")
    return read_object(value, KEYS[kind], f"a record {quote(kind)}")


def read_journal_header(record: Object) -> None:
    """A commitment says of which format and version the journal is, and what made it."""
    if record["format"] != "ascertain-journal" or type(record["version"]) is not int or record["version"] != 1:
        raise Malformed('the commitment must have the format "ascertain-journal" and the version 1')
    read_text(record["made_by"], "made_by")


def read_commitment(record: Object, num_states: int, num_actions: int) -> Commitment:
    read_journal_header(record)
    bank = None if record["bank"] is None else read_map(record["bank"], "what determines the bank")
    settings = read_object(record["settings"], SETTINGS, "the settings")
    if settings["format"] != "ascertain-observer" or type(settings["version"]) is not int or settings["version"] != 1:
        raise Malformed('the settings must have the format "ascertain-observer" and the version 1')
    limit, ran = read_list(settings["doubts"], "the doubts of the settings", 2)
    nominal, policy = settings["nominal"], settings["policy"]
    if policy not in POLICIES:
        raise Malformed(f"the policy must be one of {', '.join(POLICIES)}")
    found = Commitment(
        task_sha256=read_hash(record["task_sha256"], "task_sha256 of the commitment"),
        policy=str(policy),
        nominal=None if nominal is None else read_index(nominal, num_states, "the nominal of the settings"),
        alpha=read_rational(settings["alpha"], "alpha of the settings"),
        nominal_share=read_rational(settings["nominal_share"], "nominal_share of the settings"),
        max_doubts=read_index(limit, MAX_DOUBTS, "the doubts of the settings"),
        ran=read_rational(ran, "the doubts of the settings"),
        bank=bank,
        threshold=read_rational(settings["threshold"], "threshold of the settings"),
        rejection=read_rational(settings["rejection"], "rejection of the settings"),
        budget=read_index(settings["budget"], MAX_BUDGET, "budget of the settings"),
        nominal_budget=read_index(settings["nominal_budget"], MAX_BUDGET, "nominal_budget of the settings")
        if "nominal_budget" in settings
        else None,
        max_losses=read_index(settings.get("losses", LOSSES), MAX_BUDGET, "losses of the settings"),
        limits=read_limits(settings["limits"], num_actions),
        probing=read_text(settings["probing"], "probing of the settings"),
    )
    if not (0 < found.ran < 1 and 0 < found.nominal_share < 1 and 0 < found.rejection < 1):
        raise Malformed("nominal_share, rejection, and the weight of what may have run, must be inside (0, 1)")
    if settings["task"] != found.task_sha256:
        raise Refuted("the settings belong to another task")
    return found


def read_limits(value: object, num_actions: int) -> dict[int, int]:
    """How often actions may be done."""
    pairs = [read_list(pair, "limits of the settings", 2) for pair in read_list(value, "limits of the settings")]
    limits = {
        read_index(a, num_actions, "limits of the settings"): read_index(most, MAX_BUDGET, "limits of the settings")
        for a, most in pairs
    }
    if len(limits) < len(pairs):
        raise Malformed("limits of the settings: an action is listed twice")
    return limits


def tell(story: Told, record: Object, pending: int | None, num_actions: int, num_readings: int) -> int | None:
    """One more record; returns the action that is still without an outcome."""
    kind = record["record"]
    if story.label is not None or story.failed or kind == "commitment":
        raise Refuted("the records do not begin with their only commitment and end with their only verdict")
    if kind in ("reading", "doubt"):
        action = read_index(record["action"], num_actions, "the action of a record")
        if action != pending:
            raise Refuted(f"after step {len(story.steps)} the records have an outcome that does not follow its intent")
        if story.recovers and kind == "doubt":
            raise Refuted("after a fault of the plant the records go on although nobody knows whether the reset ran")
        reading = record.get("reading")
        heard = None if reading is None else read_index(reading, num_readings, "the reading of a record")
        story.steps.append(Step(action, heard, kind == "reading"))
        return None
    if kind == "verdict" and record["verdict"] == "abstained":
        tell_failure(story, record)
        return None
    action = read_index(record["action"], num_actions, "the action of a record") if kind == "intent" else None
    if pending is not None and not (story.recovers and action == pending):
        raise Refuted(f"after step {len(story.steps)} the records leave open what came of an action")
    if kind == "intent":
        return action
    if kind == "stage":
        tell_stage(story, record)
    else:
        tell_verdict(story, record)
    return None


def tell_stage(story: Told, record: Object) -> None:
    read_text(record["why"], "why of a stage")
    if record["stage"] != "fallback":
        raise Malformed('the stage of a record must be "fallback"')
    after = record["after"]
    if (story.switched is not None and not story.grows) or type(after) is not int or after != len(story.steps):
        raise Refuted("the records change the stage twice, or not where they say")
    story.switched = after if story.switched is None else story.switched
    story.bank_sha256 = read_hash(record["bank_sha256"], "bank_sha256")


def tell_plant(story: Told, record: Object, is_first: bool, num_actions: int, num_readings: int) -> None:
    """The plant is named after the commitment, and again where a run goes on after the plant has failed."""
    read_identity(record["identity"], "identity")
    read_text(record["address"], "address")
    read_time(record["time"], "the time of a record")
    for key, number in (("actions", num_actions), ("readings", num_readings)):
        for name in read_list(record[key], f"{key} of a plant", number):
            read_text(name, f"{key} of a plant")
    if not is_first:
        if not story.failed or not story.plants:
            raise Refuted("the records name the plant where it has not failed")
        story.failed = False
        story.resets.append(len(story.steps))
    story.plants.append(record)


def tell_failure(story: Told, record: Object) -> None:
    """The run was given up; it can go on only if that was because of the plant."""
    if record.get("cause") != "plant" or record["label"] is not None:
        raise Refuted("the run did not end with an answer; an abstention is not certified")
    read_text(record["reason"], "the reason of a verdict")
    read_verdict_time(story, record)
    if "ran" in record and record["ran"] is not True:
        raise Malformed("ran of a verdict must be true where it is there")
    if story.doubted:
        story.steps.pop()
    story.failed = True


def read_verdict_time(story: Told, record: Object) -> None:
    """The time of a verdict, which stands there where the plant is named."""
    if ("time" in record) != bool(story.plants):
        raise Malformed("a verdict has a time where the records name the plant, and only there")
    story.ended = read_time(record["time"], "the time of a verdict") if "time" in record else None


def tell_verdict(story: Told, record: Object) -> None:
    if story.recovers:
        raise Refuted("after a fault of the plant the records go on without a reset")
    read_verdict_time(story, record)
    if "cause" in record or "ran" in record:
        raise Malformed("an answer has no cause, and its last action ran")
    if record["verdict"] != "certified" or record["reason"] is not None:
        raise Refuted("the run did not end with an answer; an abstention is not certified")
    story.label = read_text(record["label"], "the label of the verdict")
