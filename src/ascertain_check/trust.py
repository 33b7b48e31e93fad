"""What has to be trusted although it was verified: one sentence each, printed with every verdict that rests on it.

`docs/guarantees.md` lists the same sentences, which a test compares.
"""

from __future__ import annotations

BEFORE = "trusted, not proved: that the first record was made before the first reading (--witness shows it to others)"
RECORDED = "trusted, not proved: that actions, readings, losses and doubts are recorded as they were, and all of them"
ALONE = (
    "trusted, not proved: that no other run of the same question was made and discarded (a risk file lists its runs)"
)
MODEL = (
    "trusted, not proved: that the plant is the one named, in one of the hypotheses, and follows the model, and that "
    "its noise keeps to its laws or its bound, whatever went before"
)
BANK = "trusted, not proved: that a bank compiled from an operation is the one that the first record determines"
DETERMINISTIC = (
    "trusted, not proved: that the plant is deterministic, that it began as the hypothesis says, that a reset leads it "
    "to one state, and that what was read is recorded as it was"
)
SEED = "trusted, not proved: that the seed of the sample was fixed before the first action"
SHOWN = "trusted, not proved: that what was done and read is recorded as it was, from the hypotheses on"

FOLLOWED = (BEFORE, RECORDED, ALONE, MODEL)
"""Of a run that followed a policy."""
RUN = (*FOLLOWED, BANK)
"""Of a run whose answer rests on evidence."""
