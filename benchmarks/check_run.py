"""How long the checker takes to verify run certificates of the testbed: all states of a plant of 24 bits.

    python benchmarks/check_run.py [--operations 4] [--policy readwise]

Operations of the testbed are observed on their own plants, simulated with the settings' noise, and each certificate is
then checked by `python -P -m ascertain_check` in a process of its own. Printed for each: the readings, the candidates
of the bank, the size of the certificate and the seconds of processor time of the whole command.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from ascertain.certificate.claims.run import run_claim
from ascertain.certificate.write import write_certificate
from ascertain.live.journal import Journal
from ascertain.live.session import run_session
from ascertain.observer.banks import OperationBank
from ascertain.observer.records import commitment_record
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import start_observer
from ascertain.plant.simulated import SimulatedPlant
from ascertain.task.plant_task import PlantTask, StateRule
from ascertain_paper.testbed.operations import DrawnOperation
from ascertain_paper.testbed.testbed import Testbed, load_testbed


def observe(testbed: Testbed, operation: DrawnOperation, policy: str, home: Path) -> Path | None:
    """Run the observer on the plant of an operation; the certificate, if it came to an answer."""
    drawn = testbed.plants[operation.slot.plant]
    plant = replace(drawn.plant, flip=testbed.settings.stream_flip)
    question = PlantTask(
        model=plant,
        rule=StateRule(),
        actions=tuple(drawn.probing),
        cost=(Fraction(1),) * plant.num_actions,
        alpha=Fraction(1, 2_000_000),
    )
    settings = ObserverSettings(
        question=question, alpha=question.alpha, nominal=operation.nominal_endpoint, policy=policy
    )
    make_bank = OperationBank(testbed.logged(operation), shells=8)
    with Journal(home / "journal") as journal:
        observer = start_observer(settings, journal.watch_bank(settings, make_bank))
        device = SimulatedPlant(plant, operation.true_endpoint, operation.name)
        run = run_session(observer, device, recorder=journal, commitment=commitment_record(settings, make_bank))
        acceptance = run.observer.acceptance
        if acceptance is None:
            print(f"{operation.slot.name}: {run.verdict}")
            return None
        print(
            f"{operation.slot.name}: {acceptance.share}, {len(acceptance.transcript)} readings, scored from "
            f"{acceptance.scored_from}, {len(acceptance.bank.states)} candidates"
        )
        return write_certificate(home / "run", question, [run_claim(question, acceptance, journal.records)])[0]


def main() -> int:
    parser = argparse.ArgumentParser(description="the time that checking a run takes")
    parser.add_argument("--operations", type=int, default=4)
    parser.add_argument("--policy", default="readwise")
    options = parser.parse_args()
    testbed = load_testbed()
    slots = list(testbed.slots())
    for slot in slots[:: max(1, len(slots) // options.operations)][: options.operations]:
        with tempfile.TemporaryDirectory() as home:
            certificate = observe(testbed, testbed.draw(slot), options.policy, Path(home))
            if certificate is None:
                continue
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [sys.executable, "-P", "-m", "ascertain_check", str(certificate.with_name("run.task.json"))]
            done = subprocess.run([*command, str(certificate)], capture_output=True, text=True, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(f"  {done.stdout.splitlines()[0]}, {certificate.stat().st_size} bytes, {seconds:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
