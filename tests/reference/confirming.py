"""Banks of first shells verified on a stream, plainly: every state is followed, every sum is a fraction."""

from __future__ import annotations

from fractions import Fraction

from ascertain.bank.operation import Operation
from ascertain_paper.testbed.operations import DrawnOperation
from ascertain_paper.testbed.testbed import Testbed
from tests.reference.bank import compile_naively


def list_shells(operation: Operation) -> list[list[int]]:
    """The endpoints of each shell, the best score first, by enumeration."""
    found = compile_naively(operation)
    scores = sorted({score for score, _ in found.values()})
    return [sorted(state for state, (score, _) in found.items() if score == wanted) for wanted in scores]


def weigh(shells: list[list[int]], nominal: int, *, alike: bool) -> dict[int, Fraction]:
    """All candidates alike, the nominal one of them; or 1/16 for it, the rest over shells as 1/j^3, equally within."""
    if alike:
        states = {nominal}.union(*shells)
        return dict.fromkeys(states, Fraction(1, len(states)))
    parts = [Fraction(1, j**3) for j in range(1, len(shells) + 1)]
    weight = {nominal: Fraction(1, 16)}
    for shell, part in zip(shells, parts, strict=True):
        for state in shell:
            weight[state] = weight.get(state, Fraction(0)) + Fraction(15, 16) * part / sum(parts) / len(shell)
    return weight


def verify(
    testbed: Testbed, operation: DrawnOperation, weight: dict[int, Fraction], alpha: Fraction
) -> tuple[int, int | None, int]:
    """The number of reads; the state that is then the only one not beaten, None when the stream is over; and how many
    candidates that were not beaten were taken through a command, over all reads."""
    settings, stream = testbed.settings, testbed.stream(operation)
    plant = testbed.plants[operation.slot.plant].plant
    odds = (1 - settings.stream_flip) / settings.stream_flip
    now = {state: state for state in range(2**settings.num_bits)}
    wrong, unbeaten, truth = dict.fromkeys(now, 0), set(now), operation.true_endpoint
    steps = 0
    for t, (command, noise) in enumerate(zip(stream.schedule.tolist(), stream.noise.tolist(), strict=True), start=1):
        truth, tapped = plant.step(truth, command)
        steps += len(unbeaten & set(weight))
        for state, current in now.items():
            now[state], shown = plant.step(current, command)
            wrong[state] += shown != tapped ^ noise
        # L is odds^-wrong times a factor that all states share.
        mixture = sum(w / odds ** wrong[c] for c, w in weight.items())
        enough = {m for m in range(t + 1) if mixture * odds**m >= 1 / alpha}
        unbeaten -= {state for state in unbeaten if wrong[state] in enough}
        if len(unbeaten) == 1:
            return t, unbeaten.pop(), steps
    return settings.stream_length, None, steps
