"""What became of a run: its exit code, and its facts as plain data and as a person reads them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from ascertain.live.session import Run
    from ascertain.plant.abstract import AbstractPlant
    from ascertain.task.question import AbstractQuestion


@final
@dataclass(frozen=True)
class Ended:
    """A run that has ended, and the plant, if there was one."""

    run: Run
    plant: AbstractPlant | None


def exit_code(run: Run, dry_run: bool) -> int:
    """0 for an answer, 3 for an abstention, 4 for one because of the plant."""
    from ascertain.policy.verdict import Certified

    if run.verdict is None or dry_run or isinstance(run.verdict, Certified):
        return 0
    return 4 if run.plant_failed else 3


def run_facts(question: AbstractQuestion, ended: Ended) -> dict[str, Any]:
    """The outcome as plain data."""
    from ascertain.live.faults import fault_kind
    from ascertain.policy.verdict import Abstained, Certified
    from ascertain.task.canonical import fraction_text

    run, observer = ended.run, ended.run.observer
    verdict, model, counters = run.verdict, observer.settings.model, observer.counters
    acceptance = observer.acceptance
    current = None if acceptance is None else acceptance.current
    return {
        "verdict": None if verdict is None else "certified" if isinstance(verdict, Certified) else "abstained",
        "label": verdict.label if isinstance(verdict, Certified) else None,
        "reason": verdict.reason if isinstance(verdict, Abstained) else None,
        "current_state": None if current is None else model.name_state(current),
        "readings": counters.readings,
        "actions": counters.actions,
        "cost": fraction_text(counters.cost),
        "alpha": fraction_text(observer.settings.alpha),
        "policy": observer.settings.policy,
        "stage": observer.stage,
        "events": [asdict(event) for event in observer.events],
        "transcript": [
            [model.actions[s.action], None if s.reading is None else model.readings[s.reading], s.certain]
            for s in observer.transcript
        ],
        "counters": {key: value for key, value in asdict(counters).items() if key != "cost"},
        "faults": [{"kind": fault_kind(fault), "text": str(fault)} for fault in run.faults],
        "plant_failed": run.plant_failed,
        "next_action": run.next_action,
        **_truth(question, ended),
    }


def _truth(question: AbstractQuestion, ended: Ended) -> dict[str, Any]:
    """Of a simulated plant, what was true, and whether the answer is right."""
    from ascertain.plant.simulated import SimulatedPlant
    from ascertain.policy.verdict import Certified

    plant, verdict = ended.plant, ended.run.verdict
    if not isinstance(plant, SimulatedPlant):
        return {"plant": None if plant is None else plant.name}
    labels, truth = question.true_labels(plant.start, plant.state), question.name_start(plant.start)
    right = verdict.label in labels if isinstance(verdict, Certified) and labels else None
    return {"plant": plant.name, "truth": truth, "right": right}


def tell_run(facts: dict[str, Any], as_json: bool, dry_run: bool) -> None:
    """Print the facts."""
    from ascertain.cli.show.output import print_json, print_line, print_table

    if as_json:
        print_json("observe", facts)
        return
    if dry_run and facts["verdict"] is None:
        print_line(f"next action: {facts['next_action']}")
        return
    certified = facts["verdict"] == "certified"
    print_line(f"certified: {facts['label']}" if certified else f"abstained: {facts['reason']}")
    rows = [(key, facts[key]) for key in ("readings", "actions", "cost", "alpha", "policy", "stage")]
    rows += [("faults met", len(facts["faults"]))] if facts["faults"] else []
    rows += [("state now", facts["current_state"])] if facts["current_state"] is not None else []
    rows += [("certificate", facts["certificate"])] if facts["certificate"] is not None else []
    rows += [("truth", facts["truth"])] if "truth" in facts else []
    print_table("run", rows)
