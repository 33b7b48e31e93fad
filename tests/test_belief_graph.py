"""How belief graphs are built: numbers of information states, and which node stands for one that is not expanded."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ascertain.planning.belief_graph import GraphBuilder
from ascertain.planning.information_state import UNIT, tabulate_likelihoods
from ascertain.planning.pruning import find_modest
from ascertain.policy.automaton import NOWHERE
from ascertain.problem.pose import pose
from tests.reference.registers import sensor_bank
from tests.reference.suite import TENTH

small_rows = st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=12)
TABLES = tabulate_likelihoods(pose(sensor_bank(3), flip=TENTH))


@given(st.lists(small_rows, max_size=4))
def test_information_states_are_numbered_batch_by_batch(batches: list[list[tuple[int, ...]]]) -> None:
    builder, met = GraphBuilder(TABLES, 20.0, 1e-3), list[tuple[int, ...]]()
    for batch in batches:
        penalty = np.array(batch, dtype=np.int64).reshape(-1, 3)
        index, (_, fresh) = builder.intern(np.zeros(penalty.shape, dtype=np.int32), penalty)
        before = len(met)
        met += sorted(set(batch) - set(met))
        assert index.tolist() == [met.index(row) for row in batch]
        assert [tuple(row) for row in fresh.tolist()] == met[before:]


@given(small_rows, small_rows.filter(bool), st.sampled_from([1, 60 * UNIT]))
def test_a_node_is_rounded_to_the_one_with_the_most_evidence_that_claims_no_more(
    rows: list[tuple[int, ...]], candidates: list[tuple[int, ...]], scale: int
) -> None:
    penalty, known = (np.array(x, dtype=np.int64).reshape(-1, 3) * scale for x in (rows, candidates))
    for row, found in zip(penalty.tolist(), find_modest(penalty, known).tolist(), strict=True):
        modest = [k for k, other in enumerate(known.tolist()) if all(p <= q for p, q in zip(other, row, strict=True))]
        evidence = [sum(min(p, 100 * UNIT) for p in known[k].tolist()) for k in modest]
        assert found == (modest[evidence.index(max(evidence))] if modest else NOWHERE)
