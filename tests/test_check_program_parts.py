"""The parts of the checker of program claims, each against its formula, on tasks that are written out by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction as F
from hashlib import sha256
from typing import Any

import pytest

from ascertain_check import check
from ascertain_check.claims import program
from ascertain_check.claims.program import (
    MAX_POWER,
    Rival,
    Truth,
    check_truth,
    follow,
    load,
    payment,
    power_of,
    read_cut,
    read_rival,
    shared_cost,
)
from ascertain_check.encounters import BLOCKED, REVEALING
from ascertain_check.logarithm import binary_entropy, log_bounds
from ascertain_check.task import Task, read_task
from ascertain_check.verdicts import Malformed, Refuted

ZERO, ONE = F(0), F(1)
FAIR, NINE, TENTH, FIRST, SECOND = range(5)
LAWS = [
    [[0, "1/2"], [1, "1/2"]],
    [[0, "9/10"], [1, "1/10"]],
    [[0, "1/10"], [1, "9/10"]],
    [[0, "1"]],
    [[1, "1"]],
]


def noisy(
    law: list[list[int | None]],
    successor: list[list[int | None]] | None = None,
    *,
    labels: list[int] | None = None,
    current: list[int] | None = None,
    cost: list[str] | None = None,
) -> dict[str, Any]:
    """A task whose hypotheses are all states; every state stays where it is unless told otherwise."""
    size, num_actions = len(law), len(law[0])
    stay = [[None if number is None else s for number in row] for s, row in enumerate(law)]
    own = labels or current or list(range(size))
    return {
        "format": "ascertain-task",
        "version": 1,
        "alpha": "0",
        "beta": "0",
        "cost": cost or ["1"] * num_actions,
        "current": current,
        "labels": [f"l{k}" for k in range(size)],
        "hypotheses": [[s, own[s]] for s in range(size)],
        "model": {
            "kind": "noisy",
            "states": [f"s{s}" for s in range(size)],
            "actions": [f"a{a}" for a in range(num_actions)],
            "readings": ["y0", "y1"],
            "successor": successor or stay,
            "law": law,
            "laws": LAWS,
        },
    }


def task_of(*arguments: Any, **options: Any) -> Task:
    return read_task(noisy(*arguments, **options))


def verdict(task: dict[str, Any], *truths: dict[str, Any], cost: str, alpha: str = "1/100", beta: str = "1/50") -> str:
    text = json.dumps(task, sort_keys=True, separators=(",", ":")).encode()
    claim = {"claim": "program", "alpha": alpha, "beta": beta, "cost": cost, "truths": list(truths)}
    head = {"format": "ascertain-certificate", "version": 1, "made_by": "by hand"}
    head["task_sha256"] = sha256(text).hexdigest()
    return str(check(text, json.dumps(head | {"claims": [claim]}).encode()))


def rival_of(**changes: Any) -> Rival:
    zero = Rival(1, None, False, True, ZERO, ZERO, ZERO, ZERO, ZERO, [ZERO])
    return replace(zero, **changes)


def rival_data(**changes: Any) -> dict[str, Any]:
    return {"hypothesis": 1, "base": None, "cuts": [], "variation": "0", "coupled": ["0"]} | changes


def truth_data(**changes: Any) -> dict[str, Any]:
    rivals = changes.pop("rivals", [rival_data()])
    return {"hypothesis": 0, "weight": "1", "nodes": [[0, 1]], "potential": ["0"], "rivals": rivals} | changes


# Cuts and payments.


@pytest.mark.parametrize("point", [F(1, 4), F(1, 2), F(19, 20)])
def test_a_cut_without_a_base_is_the_tangent_at_its_point(point: F) -> None:
    sure = F(9, 10)
    entropy = binary_entropy(sure, point)
    assert entropy is not None
    sigma = F(9, 10) / point - F(1, 10) / (1 - point)
    assert read_cut([str(point), "3"], None, sure) == (entropy[0] + sigma * point, sigma, F(3))


@pytest.mark.parametrize("sure", [F(9, 10), F(1)])
@pytest.mark.parametrize("point", ["0", "1", "3/2", "2"])
def test_a_cut_touches_between_0_and_1(sure: F, point: str) -> None:
    with pytest.raises(Malformed, match="touch between"):
        read_cut([point, "1"], None, sure)


def test_a_cut_with_a_base_is_a_chord_of_integers_up_to_the_largest_power() -> None:
    sure, base = F(9, 10), F(3)
    constant = sure * 2 - F(1, 10) + F(3, 2) * (1 - F(1, 3))
    assert read_cut([2, 1, "1/5"], base, sure) == (constant, F(3, 2) * (9 - F(1, 3)), F(1, 5))
    assert MAX_POWER == 64
    for cut in ([64, 0, "1"], [0, 64, "1"]):
        read_cut(cut, base, sure)
    for cut in ([65, 0, "1"], [0, 65, "1"]):
        with pytest.raises(Malformed, match="below 65"):
            read_cut(cut, base, sure)


def test_powers_are_counted_as_far_as_the_largest() -> None:
    for m in (0, 1, 5, 64):
        assert power_of(F(3) ** m, F(3)) == m
        assert power_of(F(1, 3) ** m, F(3)) == -m
    for ratio in (F(3) ** 65, F(1, 3) ** 65, F(2)):
        with pytest.raises(Refuted, match="no power"):
            power_of(ratio, F(3))


def test_what_is_shown_pays_its_entropy_rounded_up_and_nothing_where_that_is_infinite() -> None:
    nine, tenth = (((0, x), (1, 1 - x)) for x in (F(9, 10), F(1, 10)))
    assert payment((nine, tenth), None) == F(9, 10) * log_bounds(F(9))[1] + F(1, 10) * log_bounds(F(1, 9))[1]
    assert payment((nine, tenth), F(9)) == F(8, 10)
    assert payment((nine, tenth), F(3)) == F(16, 10)
    for base in (None, F(9)):
        for shown in (BLOCKED, REVEALING, (nine, ((0, ONE),))):
            assert payment(shown, base) == 0


# Rivals.


def test_a_rival_that_something_rules_out_is_dropped_though_not_everything_does() -> None:
    """Its cuts say nothing: one reading may be worth infinitely much."""
    task = task_of([[NINE, FIRST], [TENTH, SECOND]])
    assert read_rival(task, rival_data(), 0, 1, F(9, 10)).dropped
    with pytest.raises(Refuted, match="ruled out for certain"):
        read_rival(task, rival_data(cuts=[["1/10", "1"]]), 0, 1, F(9, 10))
    assert not read_rival(task_of([[NINE, FIRST], [TENTH, FIRST]]), rival_data(), 0, 1, F(9, 10)).dropped


def test_the_best_rate_of_a_rival_counts_each_unit_of_cost_and_is_0_where_nothing_can_be_done() -> None:
    cuts = [["1/10", "1"], ["1/4", "2"]]
    task = task_of([[NINE, NINE], [TENTH, TENTH]], cost=["2", "5"])
    found = read_rival(task, rival_data(cuts=cuts, variation="1/7", coupled=["1/3"]), 0, 1, F(9, 10))
    shown = (task.laws[NINE], task.laws[TENTH])
    assert found.best == payment(shown, None) / 2
    assert (found.multiplier, found.variation, found.coupled, found.differs) == (3, F(1, 7), [F(1, 3)], True)
    parts = [read_cut(cut, None, F(9, 10)) for cut in cuts]
    assert found.gain == sum(y * b for b, _, y in parts) + F(9, 70) - F(1, 3)
    assert found.spent == sum(y * sigma for _, sigma, y in parts) + F(1, 7)
    nothing = task_of([[NINE, None], [None, NINE]])
    found = read_rival(nothing, rival_data(cuts=cuts), 0, 1, F(9, 10))
    assert (found.best, found.differs, found.dropped) == (0, False, False)


def test_a_base_may_be_as_long_as_the_limit() -> None:
    task, limit = task_of([[NINE], [NINE]]), program.MAX_BITS
    assert limit == 2000
    assert read_rival(task, rival_data(base=str(2 ** (limit - 1))), 0, 1, F(9, 10)).base == 2 ** (limit - 1)
    for base in (str(2**limit), "1", "1/2"):
        with pytest.raises(Malformed, match="a base is larger than 1"):
            read_rival(task, rival_data(base=base), 0, 1, F(9, 10))


# Edges.


PARTIAL = task_of(
    [[NINE, None, FIRST], [TENTH, NINE, SECOND], [TENTH, NINE, FIRST]],
    [[1, None, 2], [2, 0, 0], [0, 1, 1]],
)


def truth_of(*rivals: Rival, nodes: list[tuple[int | None, ...]] | None = None, **changes: Any) -> Truth:
    return replace(Truth(0, ONE, nodes or [(0, 1)], [ZERO] * 9, list(rivals)), **changes)


def test_an_action_that_the_truth_does_not_allow_is_no_edge() -> None:
    for dropped in (True, False):
        assert follow(PARTIAL, truth_of(rival_of(dropped=dropped)), (0, 1), 1) is None
        assert follow(PARTIAL, truth_of(rival_of(dropped=dropped)), (0, None), 1) is None
    assert follow(PARTIAL, truth_of(), (0,), 1) is None


def test_an_action_that_a_rival_does_not_allow_is_an_edge_only_if_the_rival_can_be_ruled_out() -> None:
    assert follow(PARTIAL, truth_of(rival_of(dropped=False)), (1, 0), 1) is None
    assert follow(PARTIAL, truth_of(rival_of(dropped=True)), (1, 0), 1) == ((0, None), [BLOCKED])
    for dropped in (True, False):
        assert follow(PARTIAL, truth_of(rival_of(dropped=dropped)), (1, None), 1) == ((0, None), [BLOCKED])


def test_a_rival_goes_along_until_a_reading_must_tell_it_apart() -> None:
    truth, laws = truth_of(rival_of(), rival_of()), PARTIAL.laws
    assert follow(PARTIAL, truth, (0, 1, 2), 0) == ((1, 2, 0), [(laws[NINE], laws[TENTH])] * 2)
    ended = follow(PARTIAL, truth, (0, 1, 2), 2)
    assert ended == ((2, None, 1), [(laws[FIRST], laws[SECOND]), (laws[FIRST], laws[FIRST])])


def test_an_edge_carries_what_its_rivals_pay_and_what_is_still_coupled() -> None:
    nine, tenth = (PARTIAL.laws[number] for number in (NINE, TENTH))
    shown, part = (nine, tenth), F(4, 5)
    rival = rival_of(base=F(9), multiplier=F(2), variation=F(3), coupled=[F(1, 2), F(5)])
    truth = truth_of(rival, nodes=[(0, 1), (1, 2)])
    assert load(truth, 0, 1, [shown]) == 2 * F(8, 10) + 3 * part - F(1, 2) + F(1, 5) * 5
    assert load(truth, 0, 2, [shown]) == 2 * F(8, 10) + 3 - F(1, 2)
    assert load(truth, 1, 2, [shown]) == 2 * F(8, 10)
    assert load(truth, 0, 1, [BLOCKED]) == 0
    alike = truth_of(replace(rival, differs=False, coupled=[ZERO, ZERO]), nodes=[(0, 1), (1, 2)])
    assert load(alike, 0, 2, [shown]) == 2 * F(8, 10)
    unused = truth_of(rival_of(base=F(2), coupled=[ZERO, ZERO]), nodes=[(0, 1), (1, 2)])
    assert load(unused, 0, 1, [shown]) == 0  # without cuts the base says nothing, so that it need not fit
    twice = truth_of(rival, rival_of(coupled=[ZERO, F(1, 3)]), nodes=[(0, 1, 1), (1, 2, 2)])
    assert load(twice, 0, 1, [shown, shown]) == load(truth, 0, 1, [shown]) + F(1, 15)


def test_edges_and_the_free_node_carry_their_weight_and_no_more() -> None:
    task = task_of([[FIRST], [SECOND]], cost=["3"])
    exact = rival_of(dropped=True, variation=F(3))
    check_truth(task, truth_of(exact))
    with pytest.raises(Refuted, match="carries more than its weight"):
        check_truth(task, truth_of(replace(exact, variation=F(301, 100))))
    twins = task_of([[NINE], [TENTH]], cost=["3"])
    paying = rival_of(base=F(9), multiplier=ONE, best=ONE)
    check_truth(twins, truth_of(paying))
    check_truth(twins, truth_of(replace(paying, best=F(2))))  # no edge leads to the free node
    away = task_of([[NINE], [TENTH]], [[1], [0]], cost=["3"])
    check_truth(away, truth_of(paying))
    with pytest.raises(Refuted, match="the free node"):
        check_truth(away, truth_of(replace(paying, best=F(2))))


# What is shared, and the whole.


def test_what_several_truths_spend_of_alpha_is_shared_by_label_but_not_about_the_current_state() -> None:
    def spending(h: int, *spent: tuple[int, int]) -> Truth:
        return replace(truth_of(*(rival_of(hypothesis=g, spent=F(x)) for g, x in spent)), hypothesis=h)

    task = task_of([[NINE]] * 4, labels=[0, 0, 1, 2])
    truths = [spending(0, (2, 5), (3, -7)), spending(1, (2, 1)), spending(3, (2, 4), (0, -1))]
    assert shared_cost(task, truths) == max(0, 5 + 1, 4) + 0 + 0
    assert shared_cost(task, []) == 0
    assert shared_cost(task, [spending(0, (2, -1)), spending(3, (2, -2))]) == 0
    assert shared_cost(task, [spending(0, (2, 2)), spending(1, (2, -5)), spending(3, (2, -1))]) == 0
    now = task_of([[NINE]] * 4, current=[0, 0, 1, 2])
    assert shared_cost(now, truths) == 5 + 1 + 4
    assert shared_cost(now, []) == 0


def test_nothing_is_claimed_by_nothing() -> None:
    coin = noisy([[NINE], [TENTH]])
    assert verdict(coin, cost="0") == "VERIFIED"
    for cost, reason in (("1", "no multiplier says anything"), ("inf", "do not show that there is no policy")):
        assert reason in verdict(coin, cost=cost)


def test_a_node_out_of_reach_may_be_listed_whatever_is_shown_there() -> None:
    """There the two could be told apart for certain, which is no power of any base."""
    apart = noisy([[NINE], [TENTH], [FIRST], [SECOND]])
    rival = rival_data(base="9", cuts=[[2, 2, "1"]], coupled=["0", "0"])
    truth = truth_data(weight="4/5", nodes=[[0, 1], [2, 3]], potential=["0", "0"], rivals=[rival])
    assert verdict(apart, truth, cost="13/5") == "VERIFIED"
    assert verdict(apart, truth, cost="14/5").startswith("REFUTED")
