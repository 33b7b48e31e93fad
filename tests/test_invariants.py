"""The synthetic study: its plain procedures against others, what it would find if theory were wrong, and its bytes."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.bounds.divergence import Interval
from ascertain.policy.evaluate import evaluate
from ascertain.quotients.quotient import Quotient, take_quotient
from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.campaign.engines import start_engine
from ascertain_paper.report.plain import study_data
from ascertain_paper.studies import paper
from ascertain_paper.studies.invariants import policies as invariants_policies
from ascertain_paper.studies.invariants.automata import check_automaton, compare_costs, measure
from ascertain_paper.studies.invariants.draws import draw_automaton, draw_question, draw_random_policy
from ascertain_paper.studies.invariants.policies import check_policy, examine
from ascertain_paper.studies.invariants.study import study, summarise
from ascertain_paper.studies.invariants.transcripts import chance, endings, gather, judge, judge_event, list_events
from ascertain_paper.testbed.settings import Settings, load_settings
from tests.reference.chain_rule import divergence_by_transcripts
from tests.reference.transcripts import list_transcripts

NUMBERS = st.integers(0, 10**6)


@given(NUMBERS)
@settings(max_examples=20, deadline=None)
def test_every_invariant_holds_on_automata_and_policies_beyond_those_of_the_study(number: int) -> None:
    assert check_automaton(number)["violations"] == []
    assert check_policy(number)["violations"] == []


@given(NUMBERS)
@settings(max_examples=20, deadline=None)
def test_transcripts_taken_together_diverge_as_they_do_one_by_one(number: int) -> None:
    task = draw_question(number)
    policy = draw_random_policy(number, task)
    found, slow = gather(task.model, policy, 0, 1), divergence_by_transcripts(task.model, policy, 0, 1)
    assert sum(found.weight.values()) == 1
    paid = found.divergence
    assert (paid is None) == (slow is None)
    if paid is not None and slow is not None:
        assert paid.low <= slow.high
        assert slow.low <= paid.high
        assert paid.high - paid.low < Fraction(1, 10**20)


@given(NUMBERS)
@settings(max_examples=20, deadline=None)
def test_how_a_policy_ends_is_what_listing_transcripts_and_evaluation_say(number: int) -> None:
    task = draw_question(number)
    policy = draw_random_policy(number, task)
    value, tallies = evaluate(task, policy, exact=True), list_transcripts(task, policy, depth=5)
    for h, s in enumerate(task.state.tolist()):
        law = endings(task.model, policy, s)
        right = chance(law, frozenset({int(task.label[h])}))
        assert (law.get(-1, 0), 1 - right - law.get(-1, 0)) == (value.abstain[h], value.wrong[h])
        assert (tallies[h].abstain, tallies[h].wrong) == (value.abstain[h], value.wrong[h])


def test_events_are_listed_once_with_their_complements() -> None:
    law = {-1: Fraction(1, 3), 0: Fraction(1, 3), 1: Fraction(1, 3)}
    assert {frozenset(e) for e in list_events(law, law)} == {frozenset({0}), frozenset({1}), frozenset({0, 1})}
    assert list(list_events({0: Fraction(1)}, {0: Fraction(1)})) == []


def test_a_comparison_that_intervals_leave_open_needs_a_proof_of_equality() -> None:
    one, two = Interval(Fraction(1), Fraction(2)), Interval(Fraction(3), Fraction(4))
    assert judge(two, one, equal=False) == "above"
    assert judge(one, two, equal=True) == "violated"
    assert judge(one, one, equal=False) == "undecided"
    assert judge(one, one, equal=True) == "equal"
    assert judge(None, one, equal=False) == "above"
    assert judge(one, None, equal=False) == "violated"


def test_reading_once_and_saying_what_was_read_loses_nothing() -> None:
    number = next(
        n for n in range(1000) if len(draw_question(n).model.readings) == 2 and draw_question(n).num_hypotheses == 2
    )
    task = draw_question(number)
    policy = type(draw_random_policy(number, task))((0, -1, -1), (-1, 0, 1), ({0: 1, 1: 2}, {}, {}))
    found = gather(task.model, policy, 0, 1)
    law, other = (endings(task.model, policy, s) for s in (0, 1))
    assert judge_event(found, found.divergence, frozenset({1}), law, other) == "equal"


def wrong_quotient(right: Quotient) -> Quotient:
    """The quotient with its last class taken for its first, as if nothing told them apart."""
    last = right.num_classes - 1
    block = np.where(right.block == last, 0, right.block).astype(np.int32)
    successor = np.where(right.reduced.model.successor == last, 0, right.reduced.model.successor)
    model = right.reduced.model.rebuilt(successor=successor, behaviour=right.reduced.model.behaviour)
    state = np.where(right.reduced.state == last, 0, right.reduced.state)
    pairs = list(dict.fromkeys(zip(state.tolist(), right.reduced.label.tolist(), strict=True)))
    place = {pair: i for i, pair in enumerate(pairs)}
    merged = [place[int(block[s]), int(k)] for s, k in zip(right.task.state, right.task.label, strict=True)]
    reduced = replace(
        right.reduced,
        model=model,
        state=np.array([s for s, _ in pairs], dtype=np.int32),
        label=np.array([k for _, k in pairs], dtype=np.int32),
    )
    return replace(right, block=block, reduced=reduced, hypothesis_class=np.array(merged, dtype=np.int32))


def test_a_quotient_that_joins_too_much_is_found_out() -> None:
    for number in range(5):
        task = draw_automaton(number)
        assert compare_costs(task, wrong_quotient(take_quotient(task)))["violations"]
    caught = 0
    for number in range(12):
        task = draw_question(number)
        found = examine(task, draw_random_policy(number, task), wrong_quotient(take_quotient(task)))
        caught += any(sentence.startswith("quotient violated") for sentence in found["violations"])
    assert caught >= 9  # a policy that never looks where the two differ cannot notice


def test_a_bound_that_is_too_high_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    number = next(n for n in range(100) if check_policy(n)["nonvacuous"])
    required_divergence, bound = invariants_policies.required_divergence, invariants_policies.bound_by_information
    high = Interval(Fraction(1000), Fraction(1001))
    monkeypatch.setattr(invariants_policies, "required_divergence", lambda *risks: required_divergence(*risks) and high)
    monkeypatch.setattr(
        invariants_policies, "bound_by_information", lambda *given: replace(bound(*given), value=Fraction(10**6))
    )
    found = check_policy(number)["violations"]
    assert any(sentence.startswith("pairwise bound violated") for sentence in found)
    assert any(sentence.startswith("explicit bound") for sentence in found) or check_policy(number)["closest"] is None


def test_the_cost_of_a_shift_register_is_measured_from_the_recursion_itself() -> None:
    from ascertain.model.named import shift_register
    from ascertain.problem.pose import pose

    task = pose(shift_register(3))
    whole = frozenset(zip(task.label.tolist(), task.state.tolist(), strict=True))
    same = frozenset({(0, 1), (1, 1)})
    assert measure(task, [whole, frozenset({(0, 0), (1, 4)}), same, frozenset({(0, 0), (0, 4)})]) == [3, 3, None, 0]


def conditions(workers: int) -> Conditions:
    return Conditions(settings=frozen(), engine=start_engine("local", workers))


def frozen() -> Settings:
    return load_settings("small")


def test_one_and_two_workers_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(paper.INVARIANTS, "automata", 100)
    monkeypatch.setitem(paper.INVARIANTS, "policies", 150)
    one, two = (json.dumps(study_data(replace(study(conditions(n)), seconds=0.0))) for n in (1, 2))
    assert one == two
    facts = json.loads(one)["facts"]
    assert (facts["automata"], facts["policies"], facts["violations"]) == (10, 15, 0)


def test_a_violation_is_an_alarm_with_the_number_that_draws_it_again() -> None:
    automaton, policy = check_automaton(3), check_policy(4)
    found = summarise(
        conditions(1),
        [automaton | {"violations": ["the question costs 1 and on the quotient 2"]}],
        [policy | {"violations": ["events violated: the event [1] diverges more than the transcripts"]}],
    )
    assert found.alarms == (
        "automaton 3: the question costs 1 and on the quotient 2",
        "policy 4: events violated: the event [1] diverges more than the transcripts",
    )
    rows = {row["check"]: row["violations"] for row in found.rows}
    assert (rows["distinguishing cost"], rows["events"], rows["quotient"]) == (1, 1, 0)
    assert found.facts["violations"] == 2
    assert "see the alarms" in found.findings[0]
