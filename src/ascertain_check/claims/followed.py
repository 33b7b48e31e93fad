"""The claim that a run followed a policy whose risk was proved before its first action, and gave the policy's answer.

The claim holds a whole `within-risk` claim, which is checked as such: its policy errs with probability at most alpha
whatever is true, and alpha must not be more than the task's. The records must be a chain that ends in the head. Their
commitment holds the same policy, node by node, and what they tell is the transcript. The policy is then started and fed
with the readings of the transcript: at every step it must ask the action that was done, and after the last it must
answer the label. No evidence is computed: a rule that was fixed beforehand, and that is right often enough, has spoken.

*Faults.* An action in doubt is no step of a policy: a run with one has no answer to certify. A reading that was lost
(null) is allowed only where the policy would not have looked at it: where every reading that some state gives at this
action leads to one and the same node. What the policy does next is then what it would have done, so the proved risk is
that of this run. Every other loss must have ended the run without an answer. That makes no answer wrong more often; but
the proved probability of no answer does not count it, and the sentence says so.

*What is trusted.* As for `run`: a chain of hashes does not show when its first record was made.
"""

from __future__ import annotations

from ascertain_check import trust
from ascertain_check.bit_tests import follow_tests, read_bit_policy
from ascertain_check.chain import Told, read_hash, read_journal_header, read_records, tell_records
from ascertain_check.claim import LISTED, register
from ascertain_check.claims.achieves import Ask
from ascertain_check.claims.run import read_transcript
from ascertain_check.claims.within_risk import End, Policy, check_within_risk, read_policy
from ascertain_check.evidence import Step
from ascertain_check.plant_task import PlantTask
from ascertain_check.reading import Object, canonical_bytes, quote, read_map, read_object, read_rational, read_text
from ascertain_check.task import Task
from ascertain_check.verdicts import Malformed, Refuted
from ascertain_check.work import spend


@register("followed", about=(*LISTED, "boolean"), trusted=trust.FOLLOWED)
def check_followed(task: Task | PlantTask, claim: Object) -> str:
    data = read_object(claim, "claim label risk transcript records head", "the claim 'followed'")
    label = read_text(data["label"], "label")
    steps = read_transcript(task, data["transcript"])
    head = read_hash(data["head"], "head")
    risk = read_map(data["risk"], "risk")
    if risk.get("claim") != "within-risk":
        raise Malformed("risk: a claim 'within-risk' is needed")
    proved = check_within_risk(task, risk)
    if read_rational(risk["alpha"], "alpha") > task.alpha:
        raise Refuted("the policy may err more often than the task allows")
    records = read_records(data["records"])
    check_commitment(task, records[0], risk["policy"])
    header = check_records(records, head, label, steps, task)
    if isinstance(task, PlantTask):
        if follow_tests(task, read_bit_policy(task, risk["policy"]), steps) != label:
            raise Refuted(f"after {len(steps)} steps the policy does not answer {quote(label)}")
    else:
        check_walk(task, read_policy(task, risk["policy"], loops=True), label, steps)
    told = f"the answer {quote(label)} follows, in {len(steps)} actions, a policy that was fixed before them"
    return f"{told}; {proved}, faults of the plant not counted{header}"


def check_commitment(task: Task | PlantTask, record: Object, policy: object) -> None:
    """The run was committed to this policy and this task, and to no bank."""
    read_journal_header(record)
    if record["bank"] is not None:
        raise Malformed("a run that follows a policy has no bank")
    keys = "format version task policy alpha beta budget limits controller"
    settings = read_object(record["settings"], keys, "the settings")
    if settings["format"] != "ascertain-controller" or type(settings["version"]) is not int or settings["version"] != 1:
        raise Malformed('the settings must have the format "ascertain-controller" and the version 1')
    if record["task_sha256"] != task.sha256 or settings["task"] != task.sha256:
        raise Refuted("the records belong to another task")
    # As texts: in Python True equals 1.
    committed = canonical_bytes(settings["controller"], "the controller of the settings")
    if committed != canonical_bytes(policy, "the policy"):
        raise Refuted("the records were committed to another policy than the one whose risk is proved")


def check_records(records: list[Object], head: str, label: str, steps: list[Step], task: Task | PlantTask) -> str:
    """The records tell this answer and these steps, and nothing of a bank or of a fault; the plant that they name."""
    told = Told()
    tell_records(told, records, head, task.num_actions, task.num_readings)
    if told.label is None:
        raise Refuted("the records do not end with a verdict")
    if told.label != label or told.steps != steps or told.switched is not None:
        raise Refuted("the records tell another answer or another transcript")
    if told.resets:
        raise Refuted("the plant has failed, and the policy does not provide for that")
    return told.header


def check_walk(task: Task, policy: Policy, label: str, steps: list[Step]) -> None:
    """The policy, started and fed with what was read, asks what was done and answers the label."""
    node = 0
    for i, step in enumerate(steps):
        asked = policy.at(node)
        if not isinstance(asked, Ask) or asked.action != step.action:
            raise Refuted(f"at step {i} the policy does not ask action {step.action}")
        if not step.certain:
            raise Refuted(f"nobody knows whether the action of step {i} ran, and the policy does not provide for that")
        after = find_only_child(task, asked) if step.reading is None else asked.next.get(step.reading)
        if after is None:
            raise Refuted(f"after step {i} the policy gives no answer: it has no branch for what was read")
        node = after
    end = policy.at(node)
    if not isinstance(end, End) or end.label is None or task.labels[end.label] != label:
        raise Refuted(f"after {len(steps)} steps the policy does not answer {quote(label)}")


def find_only_child(task: Task, node: Ask) -> int | None:
    """Where every reading that some state gives at this action leads; None where they part, or one has no branch."""
    spend(5 * task.num_states + sum(len(law) for law in task.laws))
    behaviours = {row[node.action] for row in task.behaviour}
    readings = {y for behaviour in behaviours for y in list_readings(task, behaviour)}
    children = {node.next.get(y) for y in readings}
    return children.pop() if len(children) == 1 else None


def list_readings(task: Task, behaviour: int | None) -> list[int]:
    """What may be read where an action behaves like this; nothing where it is not allowed."""
    if behaviour is None:
        return []
    return [y for y, _ in task.laws[behaviour]] if task.noisy else [behaviour]
