"""Cases of the corpus about prices and openings, worked out by hand: `python -m tests.reference.price_cases`.

The coin: two states that one action tells apart, wrong one time in ten. With prices 1, 100 and 1000 the rows (1, 1),
(9, 1) and (1, 9) name each other, and b0 = 2 + b1 / 5, b1 = 18.2 + 0.9 b0: every inequality is an equality. What the
checker says of each stands in `expected.tsv`; the lines are printed, and a reader decides whether they are right.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

from tests.reference.corpus import write_cases
from tests.reference.run_claims import canonical

Data = dict[str, Any]
NOISE = [[[0, "9/10"], [1, "1/10"]], [[0, "1/10"], [1, "9/10"]]]


def task(
    successor: list[list[int | None]], law: list[list[int | None]], hypotheses: list[list[int]], **more: Any
) -> Data:
    """A noisy task with two readings; costs are 1 unless they are given."""
    n, m = len(successor), len(successor[0])
    labels = 1 + max(k for _, k in hypotheses)
    return {
        "format": "ascertain-task",
        "version": 1,
        "model": {
            "kind": "noisy",
            "states": [f"s{i}" for i in range(n)],
            "actions": [f"a{i}" for i in range(m)],
            "readings": ["y0", "y1"],
            "successor": successor,
            "law": law,
            "laws": NOISE,
        },
        "hypotheses": hypotheses,
        "labels": [f"l{k}" for k in range(labels)],
        "cost": ["1"] * m,
        "alpha": "0",
        "beta": "0",
        "current": None,
    } | more


COIN = task([[0], [1]], [[0], [1]], [[0, 0], [1, 1]])
TWICE = task([[1], [0], [3], [2]], [[0], [0], [1], [1]], [[0, 0], [2, 1], [1, 0]])
"""The coin with two states for each side: {0, 1} and {2, 3}."""
GATE = task([[0, 0], [1, 1], [2, None]], [[0, 0], [1, 1], [0, None]], [[0, 0], [1, 1], [2, 0]], cost=["1", "1/10"])
"""The coin with a cheap look, which a third state, of the label of the first, does not allow."""
HOMING = task([[1], [2], [2], [3]], [[0], [0], [0], [1]], [[0, 0], [3, 1]], current=[0, 0, 1, 1])
CERTAIN: Data = COIN | {
    "model": {
        "kind": "machine",
        "states": ["s0", "s1"],
        "actions": ["a0"],
        "readings": ["y0", "y1"],
        "successor": [[0], [1]],
        "output": [[0], [1]],
    }
}


def row(members: list[list[Any]], bound: str, moves: Data | None = None) -> Data:
    return {"members": members, "bound": bound, "moves": moves or {}}


def two(x: str, y: str) -> list[list[Any]]:
    return [[0, 0, x], [1, 1, y]]


def proof(rows: list[Data], wrong: str = "100", abstain: str = "1000", start: list[Any] | None = None) -> Data:
    return {
        "prices": [[0, "1", wrong, abstain], [1, "1", wrong, abstain]],
        "start": start or [[0, "1"], [1, "1"]],
        "rows": rows,
    }


CIRCLE = [
    row(two("1", "1"), "282/41", {"0": {"0": 1, "1": 2}}),
    row(two("9", "1"), "1000/41", {"0": {"1": 0}}),
    row(two("1", "9"), "1000/41", {"0": {"0": 0}}),
]


def prices(cost: str, of: Data, first: int | None = 0, alpha: str = "1/100", beta: str = "1/2000") -> Data:
    return {"claim": "prices", "alpha": alpha, "beta": beta, "cost": cost, "proof": of, "row": first}


TIGHT = prices("159/82", proof(CIRCLE))
GATED = prices(
    "7/100",
    proof([row([*two("1", "1"), [2, 2, "0"]], "11/5")], start=[[0, "1"], [1, "1"], [2, "0"]])
    | {"prices": [[0, "1", "100", "100"], [1, "1", "100", "100"], [0, "1", "100", "100"]]},
    alpha="1/100",
    beta="3/10000",
)
"""One look and a tenth of the mass are spent, 2.2, less 2 and 0.06 for the risks, over 2."""


def case(history: int, ask: Data, answer: Data | None = None, abstain: int | None = None) -> Data:
    return {"history": history, "ask": ask, "answer": answer or {}, "abstain": abstain}


def leaf(of: int = 0, rows: Data | None = None) -> Data:
    return {"proof": of, "rows": rows or {}}


def openings(cost: str, proofs: list[Data], nodes: list[Data], alpha: str = "1/100", beta: str = "1/2000") -> Data:
    return {"claim": "openings", "alpha": alpha, "beta": beta, "cost": cost, "proofs": proofs, "nodes": nodes}


TWO_LOOKS = openings(
    "159/82",
    [proof(CIRCLE)],
    [case(0, {"0": 1}), case(2, {"0": 2}), leaf(rows={"1": 1, "3": 0})],
)
"""After y1 the coin is looked at again: (1/100, 81/100) is left open, where one step is as good as a row."""
EVERY = openings(
    "1/10",
    [proof([], "10", "10")],
    [
        case(0, {"0": 1}),
        case(1, {"0": 2}, {"0": 3}),
        case(4, {"0": 4}, {"0": 5, "1": 6}, 7),
        *([leaf()] * 5),
    ],
    alpha="1/10",
    beta="9/100",
)
"""At (9/100, 9/100) every decision is just within the risks, and so is the answer 0 at (9/10, 1/10)."""


ABSTAINING = openings(
    "23/20",
    [proof([], "10", "1")],
    [case(0, {"0": 1}), case(1, {"0": 2}), case(4, {"0": 3}, {"0": 4, "1": 5}, 6), *([leaf()] * 4)],
    alpha="9/100",
    beta="9/100",
)
"""The abstention at (9/100, 9/100) is the cheapest of all decisions: 4.28 are spent, less 1.98, over 2."""
UNLIKELY = openings(
    "4/5",
    [proof([], "10", "1")],
    [case(0, {"0": 1}), case(1, {"0": 2}, {"0": 3}), leaf(), leaf()],
    alpha="1/10",
    beta="1/5",
)
"""To abstain at (9/10, 1/10) breaks beta under one hypothesis, which is enough."""
CROSSED = openings(
    "69/100",
    [
        {
            "prices": [[1, "1", "20", "10"], [0, "1", "10", "10"]],
            "start": [[1, "1"], [0, "1"]],
            "rows": [],
        }
    ],
    [case(0, {"0": 1}), case(1, {"0": 2}, {"0": 3}), leaf(), leaf()],
    alpha="1/10",
    beta="0",
)
"""Class 1 is that of state 0, and errors cost class 0 twice as much: 4.38 are spent, less 3, over 2."""
SWAPPED = COIN | {"hypotheses": [[0, 1], [1, 0]]}
PAIRS: Data = CERTAIN | {
    "model": CERTAIN["model"]
    | {
        "states": ["s0", "s1", "s2"],
        "actions": ["a0", "a1"],
        "successor": [[0, 0], [1, 1], [2, 2]],
        "output": [[0, 1], [1, 1], [1, 0]],
    },
    "cost": ["1", "1"],
    "labels": ["l0", "l1", "l2"],
    "hypotheses": [[0, 0], [1, 1], [2, 2]],
}
"""Three states without noise: one action tells the first from the others, and one the last."""
ALL_THREE = prices(
    "5/3",
    {
        "prices": [[k, "1", "100", "100"] for k in range(3)],
        "start": [[k, "1"] for k in range(3)],
        "rows": [row([[k, k, "1"] for k in range(3)], "5")],
    },
    alpha="0",
    beta="0",
)
THREE: Data = COIN | {
    "model": COIN["model"]
    | {
        "readings": ["y0", "y1", "y2"],
        "laws": [[[0, "1/2"], [1, "1/4"], [2, "1/4"]], [[0, "1/4"], [1, "1/4"], [2, "1/2"]]],
    }
}
"""The coin with three readings: each look adds three histories."""


def swap_labels(claim: Data) -> None:
    """The first state has the second label."""
    for of in claim["proofs"]:
        of["prices"] = [[1 - k, *price] for k, *price in of["prices"]]
    for node in claim["nodes"]:
        if "answer" in node:
            node["answer"] = {str(1 - int(k)): i for k, i in node["answer"].items()}


def verified() -> Iterator[tuple[str, Data, Data]]:
    yield "prices-circle", COIN, TIGHT
    yield "prices-one-step", COIN, prices("1/2", proof([row(two("1", "1"), "4")]))
    yield "prices-no-row", COIN, prices("49/50", proof([], "2", "1000"), None, beta="0")
    yield "prices-abstaining", COIN, prices("191/200", proof([row(two("1", "1"), "2")], "3", "1"), beta="3/200")
    yield "prices-spare-move", COIN, edited(TIGHT, lambda c: c["proof"]["rows"][1]["moves"].update({"0": {"1": 0}}))
    yield "prices-scaled", COIN, edited(TIGHT, lambda c: rescale(c["proof"]["rows"][0]))
    yield "prices-classes", TWICE, edited(TIGHT, put_on_classes)
    yield "prices-counted-together", TWICE, edited(TIGHT, count_halves)
    yield "prices-gate", GATE, GATED
    yield "prices-machine", CERTAIN, prices("1", proof([row(two("1", "1"), "2")]), alpha="0", beta="0")
    yield "prices-current", HOMING, CURRENT
    yield "openings-two-looks", COIN, TWO_LOOKS
    yield "openings-every-decision", COIN, EVERY
    yield "openings-gate", GATE, GATE_OPENINGS
    yield "openings-current", HOMING, CURRENT_OPENINGS
    yield "prices-three", PAIRS, ALL_THREE
    yield "openings-abstaining", COIN, ABSTAINING
    yield "openings-unlikely", COIN, UNLIKELY
    yield "openings-crossed", COIN, CROSSED
    yield "openings-swapped", SWAPPED, edited(EVERY, swap_labels)
    yield "openings-counted-together", TWICE, edited(TWO_LOOKS, count_openings_halves)
    yield "openings-most-histories", THREE, many_histories(333, 3)
    yield "openings-classes", TWICE, edited(TWO_LOOKS, put_openings_on_classes)


CURRENT = prices(
    "1/2",
    proof([row([[0, 0, "1"], [1, 3, "1"]], "4", {"0": {"0": 1}}), row([[0, 1, "9"], [1, 3, "1"]], "10")]),
)
"""After two steps both states have one label, and answering costs nothing."""
CURRENT_OPENINGS = openings(
    "1/2",
    [CURRENT["proof"]],
    [case(0, {"0": 1}), case(1, {"0": 2}), leaf()],
)
GATE_OPENINGS = openings("7/100", [GATED["proof"]], [case(0, {"0": 1}), leaf()], beta="3/10000")


def edited(claim: Data, change: Callable[[Data], object]) -> Data:
    changed = copy.deepcopy(claim)
    change(changed)
    return changed


def rescale(one: Data) -> None:
    """Three times the vector, three times the bound."""
    one["members"], one["bound"] = two("3", "3"), "846/41"


def put_on_classes(claim: Data) -> None:
    claim["block"] = [0, 0, 1, 1]
    claim["proof"]["start"].append(None)


def put_openings_on_classes(claim: Data) -> None:
    claim["block"] = [0, 0, 1, 1]
    claim["proofs"][0]["start"].append(None)


def count_halves(claim: Data) -> None:
    """Two hypotheses of one class of states count half each."""
    claim["block"] = [0, 0, 1, 1]
    claim["proof"]["start"] = [[0, "1/2"], [1, "1"], [0, "1/2"]]


def count_openings_halves(claim: Data) -> None:
    claim["block"] = [0, 0, 1, 1]
    claim["proofs"][0]["start"] = [[0, "1/2"], [1, "1"], [0, "1/2"]]


def set_at(claim: Data, path: str, value: Any) -> Data:
    """The claim with another value at a path such as `proof.rows.0.bound`."""
    changed = copy.deepcopy(claim)
    here: Any = changed
    *way, last = path.split(".")
    for key in way:
        here = here[int(key)] if isinstance(here, list) else here[key]
    here[int(last) if isinstance(here, list) else last] = value
    return changed


def refuted() -> Iterator[tuple[str, Data, Data]]:
    yield "prices-too-much", COIN, set_at(TIGHT, "cost", "80/41")
    yield "prices-no-row-too-much", COIN, prices("1", proof([], "2", "1000"), None, beta="0")
    yield "prices-bound-above-circle", COIN, set_at(TIGHT, "proof.rows.0.bound", "283/41")
    yield "prices-bound-above-action", COIN, set_at(TIGHT, "proof.rows.1.bound", "1001/41")
    above = row(two("1", "1"), "201/100")
    yield "prices-bound-above-abstaining", COIN, prices("191/200", proof([above], "3", "1"), beta="3/200")
    yield "prices-bound-above-answer", COIN, prices("1/4", proof([row(two("1", "1"), "2")], "1", "9"), beta="0")
    yield "prices-move-missing", COIN, set_at(TIGHT, "proof.rows.0.moves", {})
    yield "prices-one-move-missing", COIN, set_at(TIGHT, "proof.rows.0.moves", {"0": {"0": 1}})
    yield "prices-row-does-not-fit", COIN, set_at(TIGHT, "proof.rows.0.moves.0.0", 2)
    yield "prices-member-gone", HOMING, set_at(CURRENT, "proof.rows.0.moves.0.0", 0)
    yield "prices-another-label", COIN, set_at(TIGHT, "proof.start", [[1, "1"], [0, "1"]])
    yield (
        "prices-no-weight",
        COIN,
        set_at(set_at(TIGHT, "proof.prices.0.1", "0"), "proof.prices.1.1", "0")
        | {
            "proof": proof([]) | {"prices": [[0, "0", "1", "1"], [1, "0", "1", "1"]]},
            "row": None,
            "cost": "0",
        },
    )
    yield "prices-nobody-counts", COIN, prices("0", proof([], start=[None, None]), None)
    yield "prices-smaller-weight", COIN, set_at(TIGHT, "proof.start.0.1", "1/2")
    yield "prices-alpha-larger", COIN, set_at(TIGHT, "alpha", "1/50")
    yield "prices-beta-larger", COIN, set_at(TIGHT, "beta", "1/1000")
    yield "prices-nothing-asked", COIN, set_at(TIGHT, "alpha", "1/2")
    yield "prices-gate-open", GATE, set_at(GATED, "proof.rows.0.members", two("1", "1"))
    yield (
        "prices-gate-zero-vector",
        GATE,
        set_at(set_at(GATED, "proof.rows.0.members", [[0, 0, "0"], [1, 1, "0"]]), "proof.rows.0.bound", "1"),
    )
    yield (
        "prices-worth-of-nothing",
        COIN,
        set_at(set_at(TIGHT, "proof.rows.0.members", two("0", "0")), "proof.rows.0.bound", "0"),
    )
    yield "prices-unstable-classes", TWICE, edited(TIGHT, put_on_classes) | {"block": [0, 1, 0, 1]}
    yield "prices-current-label", HOMING, set_at(CURRENT, "proof.rows.1.members", [[0, 2, "9"], [1, 3, "1"]])
    yield "openings-too-much", COIN, set_at(TWO_LOOKS, "cost", "80/41")
    yield "openings-action-missing", COIN, set_at(TWO_LOOKS, "nodes.1.ask", {})
    yield "openings-answer-missing", COIN, set_at(EVERY, "nodes.1.answer", {})
    yield "openings-answer-other-missing", COIN, set_at(EVERY, "nodes.2.answer", {"0": 5})
    yield "openings-abstention-missing", COIN, set_at(EVERY, "nodes.2.abstain", None)
    yield "openings-decided-twice", COIN, set_at(TWO_LOOKS, "nodes.1.history", 0)
    yield "openings-bound-above", COIN, set_at(TWO_LOOKS, "proofs.0.rows.0.bound", "283/41")
    yield "openings-row-does-not-fit", COIN, set_at(TWO_LOOKS, "nodes.2.rows", {"1": 2, "3": 0})
    yield "openings-every-too-much", COIN, set_at(EVERY, "cost", "1/9")
    yield "openings-nothing-asked", COIN, set_at(EVERY, "alpha", "1/2")
    yield "openings-gate-too-much", GATE, set_at(GATE_OPENINGS, "cost", "2/25")
    yield "openings-current-too-much", HOMING, set_at(CURRENT_OPENINGS, "cost", "1")

    yield "prices-three-too-much", PAIRS, set_at(set_at(ALL_THREE, "cost", "2"), "proof.rows.0.bound", "6")
    yield "openings-crossed-too-much", COIN, set_at(CROSSED, "cost", "7/10")
    yield "openings-abstaining-too-much", COIN, set_at(ABSTAINING, "cost", "6/5")
    nodes = [case(0, {"0": 1}), case(1, {"0": 2}), case(3, {"0": 3}), leaf()]
    yield "openings-current-answer-missing", HOMING, CURRENT_OPENINGS | {"nodes": nodes}


def malformed() -> Iterator[tuple[str, Data, Data]]:
    for name, path, value in (
        ("cost", "cost", "inf"),
        ("row", "row", 3),
        ("row-negative", "row", True),
        ("prices-short", "proof.prices.0", [0, "1", "1"]),
        ("price-label", "proof.prices.0.0", 2),
        ("price-negative", "proof.prices.0.2", "-1"),
        ("start-short", "proof.start", [[0, "1"]]),
        ("start-class", "proof.start.0.0", 2),
        ("start-amount", "proof.start.0.1", 1),
        ("start-pair", "proof.start.0", [0]),
        ("member-class", "proof.rows.0.members.0.0", 2),
        ("member-state", "proof.rows.0.members.0.1", 2),
        ("member-amount", "proof.rows.0.members.0.2", "1/-2"),
        ("member-short", "proof.rows.0.members.0", [0, 0]),
        ("member-twice", "proof.rows.0.members.1", [0, 0, "1"]),
        ("bound", "proof.rows.0.bound", "inf"),
        ("move-action", "proof.rows.0.moves", {"1": {"0": 1}}),
        ("move-reading", "proof.rows.0.moves", {"0": {"2": 1}}),
        ("move-row", "proof.rows.0.moves", {"0": {"0": 3}}),
        ("move-list", "proof.rows.0.moves", {"0": [0, 1]}),
        ("block", "block", [0, 2]),
    ):
        yield f"prices-{name}", COIN, set_at(TIGHT, path, value)
    for name, path, value in (
        ("no-nodes", "nodes", []),
        ("node-twice", "nodes.1.ask", {"0": 1}),
        ("node-unknown", "nodes.1.ask", {"0": 3}),
        ("node-action", "nodes.1.ask", {"0": 2, "1": 2}),
        ("node-label", "nodes.1.answer", {"2": 2}),
        ("node-history", "nodes.1.history", 3),
        ("node-keys", "nodes.1", {"history": 2, "ask": {"0": 2}, "answer": {}}),
        ("leaf-proof", "nodes.2.proof", 1),
        ("leaf-row", "nodes.2.rows", {"1": 3}),
        ("leaf-history", "nodes.2.rows", {"5": 1}),
        ("leaf-keys", "nodes.2", {"proof": 0, "rows": {}, "history": 0}),
        ("proofs", "proofs", {}),
        ("cost", "cost", "inf"),
    ):
        yield f"openings-{name}", COIN, set_at(TWO_LOOKS, path, value)
    yield "openings-too-many-histories", THREE, many_histories(334, 3)


def many_histories(looks: int, readings: int) -> Data:
    """The first history that the last look has added is decided, again and again."""
    nodes = [case(0 if i == 0 else readings * (i - 1) + 1, {"0": i + 1}) for i in range(looks)]
    return openings("0", [proof([])], [*nodes, leaf()], alpha="0", beta="0")


def corpus() -> Iterator[tuple[str, bytes, bytes]]:
    for folder, cases in (("verified", verified()), ("refuted", refuted()), ("malformed", malformed())):
        for name, question, claim in cases:
            text = canonical(question)
            certificate = {
                "format": "ascertain-certificate",
                "version": 1,
                "made_by": "by hand",
                "task_sha256": sha256(text).hexdigest(),
                "claims": [claim],
            }
            yield f"{folder}/{name}", text, canonical(certificate)


if __name__ == "__main__":
    write_cases(list(corpus()))
