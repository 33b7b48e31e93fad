"""Ways to spoil a true claim, for the soundness campaign. Each function changes a claim in place."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import Any

Claim = dict[str, Any]
RATIONALS = ("0", "1/3", "1/2", "1", "3/2", "2", "3", "7/2", "5", "8", "13", "1000")


def spoil_cost(rng: Random, claim: Claim) -> None:
    claim["cost"] = rng.choice([*RATIONALS, "inf"])


def shift_cost(rng: Random, claim: Claim) -> None:
    """A little less, or a little more."""
    if claim["cost"] != "inf":
        claim["cost"] = str(max(Fraction(0), Fraction(claim["cost"]) + Fraction(rng.randint(-3, 3), 2)))


def spoil_policy(rng: Random, claim: Claim) -> None:
    nodes = claim["policy"]["nodes"]
    v = rng.randrange(len(nodes))
    node = nodes[v]
    if "answer" in node:
        node["answer"] = rng.randint(0, 2)
    elif rng.random() < 0.3:
        node["ask"] = rng.randint(0, 2)
    elif node["next"] and rng.random() < 0.8:
        node["next"][rng.choice(sorted(node["next"]))] = rng.randint(v, len(nodes) - 1)
    else:
        node["next"][str(rng.randint(0, 2))] = rng.randint(v, len(nodes) - 1)


def cut_policy(rng: Random, claim: Claim) -> None:
    """A node answers early, or a reading is forgotten."""
    nodes = claim["policy"]["nodes"]
    v = rng.randrange(len(nodes))
    if nodes[v].get("next") and rng.random() < 0.5:
        nodes[v]["next"].popitem()
    else:
        nodes[v] = {"answer": rng.randint(0, 2)}


def spoil_weights(rng: Random, claim: Claim) -> None:
    if "weights" in claim:
        claim["weights"][rng.randrange(len(claim["weights"]))] = rng.choice(RATIONALS)


def pick_row(rng: Random, claim: Claim) -> dict[str, Any]:
    return rng.choice(claim["rows"]) if claim["rows"] else {"set": [], "moves": {}, "bound": "0"}


def spoil_bound(rng: Random, claim: Claim) -> None:
    pick_row(rng, claim)["bound"] = rng.choice([*RATIONALS, "inf"])


def raise_everything(rng: Random, claim: Claim) -> None:
    """All bounds and the claim rise together: the lie that is hardest to see."""
    more = Fraction(rng.randint(1, 4), 2)
    for holder, key in [(claim, "cost"), *((row, "bound") for row in claim["rows"])]:
        if holder[key] != "inf":
            holder[key] = rng.choice([str(Fraction(holder[key]) + more)] * 9 + ["inf"])


def pretend_infinite(rng: Random, claim: Claim) -> None:
    for row in claim["rows"]:
        row["bound"] = "inf"
    claim["cost"] = "inf"


def spoil_members(rng: Random, claim: Claim) -> None:
    members = pick_row(rng, claim)["set"]
    if members and rng.random() < 0.6:
        members.remove(rng.choice(members))
    if rng.random() < 0.6:
        members.append([rng.randint(0, 2), rng.randint(0, 4)])


def spoil_move(rng: Random, claim: Claim) -> None:
    moves = pick_row(rng, claim)["moves"]
    target = [rng.randint(0, 2), rng.randrange(max(1, len(claim["rows"])))]
    key = rng.choice(sorted(moves)) if moves and rng.random() < 0.7 else str(rng.randint(0, 2))
    if rng.random() < 0.2:
        moves.pop(key, None)
    else:
        moves[key] = [moves[key][0], target[1]] if key in moves and rng.random() < 0.6 else target


def spoil_rows(rng: Random, claim: Claim) -> None:
    rows = claim["rows"]
    if not rows:
        rows.append({"set": [[0, 0], [1, 1]], "bound": "1", "moves": {"0": [0, 0], "1": [0, 0], "2": [0, 0]}})
        claim["row"] = 0
    elif rng.random() < 0.4:
        rows.pop(rng.randrange(len(rows)))
    elif rng.random() < 0.5:
        claim["row"] = rng.choice([None, *range(len(rows))])
    else:
        i, j = rng.randrange(len(rows)), rng.randrange(len(rows))
        rows[i]["set"], rows[j]["set"] = rows[j]["set"], rows[i]["set"]


def spoil_block(rng: Random, claim: Claim) -> None:
    if "block" not in claim:
        return
    block, kind = claim["block"], rng.randrange(3)
    if kind == 0:
        block[rng.randrange(len(block))] = rng.randrange(len(block))
    elif kind == 1:
        merge_classes(rng, block)
    else:
        names = rng.sample(range(max(block) + 1), max(block) + 1)
        block[:] = [names[c] for c in block]


def merge_classes(rng: Random, block: list[int]) -> None:
    """Two classes become one, and the numbers close up."""
    c, d = rng.randint(0, max(block)), rng.randint(0, max(block))
    merged = [c if x == d else x for x in block]
    number = {x: i for i, x in enumerate(dict.fromkeys(merged))}
    block[:] = [number[x] for x in merged]


def drop_block(rng: Random, claim: Claim) -> None:
    if claim["claim"].startswith("lower"):
        claim.pop("block", None)


def spoil_splits(rng: Random, claim: Claim) -> None:
    splits = claim["splits"]
    if splits and rng.random() < 0.5:
        splits.pop(rng.randrange(len(splits)))
    else:
        splits.insert(rng.randint(0, len(splits)), [rng.randint(0, 3), rng.randint(0, 2)])


def spoil_pairs(rng: Random, claim: Claim) -> None:
    pairs = claim["pairs"]
    if pairs and rng.random() < 0.5:
        pairs.pop(rng.randrange(len(pairs)))
    else:
        pairs.append([rng.randint(0, 4), rng.randint(0, 4)])


def spoil_pair(rng: Random, claim: Claim) -> None:
    claim["pair"][rng.randrange(2)] = rng.randint(0, 4)


def poke(rng: Random, claim: Claim) -> None:
    """Any leaf at all gets a small value of its own kind, or of another."""
    here: Any = claim
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not keys:
            return
        key = rng.choice(keys)
        if not isinstance(here[key], dict | list):
            small = rng.randint(0, 4)
            here[key] = rng.choice([small, small, small, rng.choice(RATIONALS), None, True, "inf", -1])
            return
        here = here[key]


def spoil_weighted_members(rng: Random, claim: Claim) -> None:
    members = pick_row(rng, claim)["set"]
    if members and rng.random() < 0.6:
        members[rng.randrange(len(members))][2] = rng.choice(RATIONALS)
    elif members and rng.random() < 0.5:
        members.remove(rng.choice(members))
    else:
        members.append([rng.randint(0, 2), rng.randint(0, 4), rng.choice(RATIONALS)])


def merge_as_sets(rng: Random, claim: Claim) -> None:
    """Weights are forgotten: all are the heaviest."""
    for row in claim["rows"]:
        heaviest = max((Fraction(w) for _, _, w in row["set"]), default=Fraction(1))
        row["set"] = [[k, c, str(heaviest)] for k, c, _ in row["set"]]


def spoil_parts(rng: Random, claim: Claim) -> None:
    """A part is added, dropped, doubled, taken more often, or named for another reading; of a row or of the claim."""
    moves = pick_row(rng, claim)["moves"]
    parts = claim["parts"]
    if moves and rng.random() < 0.7:
        parts = moves[rng.choice(sorted(moves))]
    kind = rng.randrange(5)
    if kind == 0 and parts:
        parts.remove(rng.choice(parts))
    elif kind == 1 and parts:
        parts.append(list(rng.choice(parts)))
    elif kind == 2 and parts:
        rng.choice(parts)[-1] = rng.choice(RATIONALS[1:])
    elif kind == 3 and parts:
        rng.choice(parts)[-2] = rng.randrange(max(1, len(claim["rows"])))
    elif kind == 4 and parts and parts is not claim["parts"]:
        rng.choice(parts)[0] = rng.randint(0, 2)


def spoil_action(rng: Random, claim: Claim) -> None:
    """What a row says of one action is left out, or is said of another."""
    moves = pick_row(rng, claim)["moves"]
    if moves:
        said = moves.pop(rng.choice(sorted(moves)))
        if rng.random() < 0.5:
            moves[str(rng.randint(0, 2))] = said


def swap_rows(rng: Random, claim: Claim) -> None:
    rows = claim["rows"]
    if rows and rng.random() < 0.4:
        rows.pop(rng.randrange(len(rows)))
    elif rows:
        i, j = rng.randrange(len(rows)), rng.randrange(len(rows))
        rows[i]["set"], rows[j]["set"] = rows[j]["set"], rows[i]["set"]


def spoil_everywhere(claim: Claim) -> Iterator[Claim]:
    """The claim with one place changed: every value, every key left out or added, every entry dropped or doubled."""
    for path in list_places(claim):
        *way, last = path
        here: Any = claim
        for key in way:
            here = here[key]
        for value in other_values(here[last]):
            yield put(claim, path, value)
        yield put(claim, path, ...)
        if isinstance(here, list):
            yield put(claim, way, [*here[:last], here[last], *here[last:]])
        if isinstance(here[last], dict):
            yield put(claim, [*path, "surplus"], 0)


def list_places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything in nested lists and objects."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield (*path, key)
        yield from list_places(item, (*path, key))


def other_values(value: Any) -> list[Any]:
    """What may stand in the place of a value: small ones of its own kind, and some of other kinds."""
    if isinstance(value, dict | list):
        return [[], {}, None]
    near = [value + 1, value - 1] if type(value) is int else []
    own = [0, 1, *near] if type(value) is int else ["0", "1/2", "2", "x"] if isinstance(value, str) else [0, "0"]
    return [other for other in (*own, None, True, -1, "1") if type(other) is not type(value) or other != value]


def put(claim: Claim, path: Sequence[Any], value: Any) -> Claim:
    """A copy with this value in this place; `...` takes the place away."""
    spoilt = copy.deepcopy(claim)
    here: Any = spoilt
    for key in path[:-1]:
        here = here[key]
    if value is ...:
        del here[path[-1]]
    else:
        here[path[-1]] = copy.deepcopy(value)
    return spoilt


Spoiler = Callable[[Random, Claim], None]
POLICY: list[Spoiler] = [spoil_cost, shift_cost, spoil_policy, spoil_policy, cut_policy, spoil_weights, poke]
ROWS: list[Spoiler] = [spoil_bound, raise_everything, pretend_infinite, spoil_members, spoil_move, spoil_rows]
WEIGHTED: list[Spoiler] = [
    spoil_bound,
    raise_everything,
    spoil_weighted_members,
    merge_as_sets,
    spoil_parts,
    spoil_parts,
]
SPOILERS: dict[str, list[Spoiler]] = {
    "achieves": POLICY,
    "achieves-expected": POLICY,
    "lower": [*ROWS, spoil_cost, shift_cost, spoil_block, drop_block, poke],
    "lower-expected": [*WEIGHTED, spoil_action, swap_rows, shift_cost, spoil_weights, spoil_block, drop_block, poke],
    "quotient": [spoil_block, spoil_block, spoil_splits, poke],
    "obstruction": [spoil_pairs, spoil_pair, poke],
}


def shaped(claim: Claim) -> bool:
    """Whether a claim still has the shape that spoilers expect; poking may have broken it."""
    shape = {"cost": str, "policy": dict, "rows": list, "block": list, "splits": list, "pairs": list, "pair": list}
    rows = claim.get("rows", [])
    return (
        all(isinstance(claim[key], kind) for key, kind in shape.items() if key in claim)
        and all(
            isinstance(row["bound"], str) and all(isinstance(m, list) for m in row["moves"].values()) for row in rows
        )
        and all(type(c) is int and c >= 0 for c in claim.get("block", []))
        and (claim["claim"] != "lower-expected" or weighted(claim))
    )


def weighted(claim: Claim) -> bool:
    """The same for a claim of weighted rows."""
    lists = [claim["weights"], claim["parts"], *(row["set"] for row in claim["rows"])]
    lists += [parts for row in claim["rows"] for parts in row["moves"].values()]
    return (
        all(isinstance(entries, list) for entries in lists)
        and all(isinstance(entry, list) for entries in lists[1:] for entry in entries)
        and all(isinstance(w, str) and w != "inf" for row in claim["rows"] for _, _, w in row["set"])
    )
