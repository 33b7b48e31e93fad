"""Files that ask the checker for much: for every kind of claim one that grows with a number, honest or not.

Each is a task and a certificate whose sizes grow about linearly with the number, while what they ask for grows faster.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from tests.reference.run_claims import canonical, head_of

Files = tuple[bytes, bytes]


def machine(successor: list[list[Any]], output: list[list[Any]], **parts: Any) -> dict[str, Any]:
    """A task whose first two states are its hypotheses."""
    num_readings = 1 + max(y for row in output for y in row)
    return {
        "format": "ascertain-task",
        "version": 1,
        "model": {
            "kind": "machine",
            "states": names("s", len(successor)),
            "actions": names("a", len(successor[0])),
            "readings": names("y", num_readings),
            "successor": successor,
            "output": output,
        },
        "hypotheses": [[0, 0], [1, 1]],
        "labels": ["l", "m"],
        "cost": ["1"] * len(successor[0]),
        "alpha": "1/10",
        "beta": "0",
        "current": None,
    } | parts


def noisy(task: dict[str, Any], laws: list[Any]) -> dict[str, Any]:
    """The task with laws in place of readings."""
    model = dict(task["model"])
    law = model.pop("output")
    readings = names("y", 1 + max(y for one in laws for y, _ in one))
    return task | {"model": model | {"kind": "noisy", "law": law, "laws": laws, "readings": readings}}


def names(prefix: str, number: int) -> list[str]:
    return [f"{prefix}{i}" for i in range(number)]


def files(task: dict[str, Any], *claims: dict[str, Any]) -> Files:
    text = canonical(task)
    head = {"format": "ascertain-certificate", "version": 1, "made_by": "", "claims": list(claims)}
    return text, canonical(head | {"task_sha256": sha256(text).hexdigest()})


COINS = [[[0, "1/2"], [1, "1/2"]], [[0, "1/3"], [1, "2/3"]]]


def two_rings(n: int) -> dict[str, Any]:
    """Two rings whose lengths have no common factor: a pair of states goes through all pairs."""
    successor = [[(i + 1) % n] for i in range(n)] + [[n + (i + 1) % (n + 1)] for i in range(n + 1)]
    task = machine(successor, [[0]] * n + [[1]] * (n + 1))
    return noisy(task, COINS) | {"hypotheses": [[0, 0], [n, 1]]}


def pairs(n: int) -> Files:
    risks = {"alpha": "1/10", "beta": "0", "cost": "0"}
    return files(two_rings(n), {"claim": "information", "pair": [0, 1], **risks})


def programs(n: int) -> Files:
    rival = {"hypothesis": 1, "base": None, "cuts": [], "variation": "0", "coupled": ["0"]}
    truth = {"hypothesis": 0, "weight": "1", "nodes": [[0, n]], "potential": ["0"], "rivals": [rival]}
    return files(two_rings(n), {"claim": "program", "alpha": "1/10", "beta": "0", "cost": "0", "truths": [truth]})


def places(n: int) -> Files:
    """A walk of n nodes that any of n states may be at."""
    task = noisy(machine([[i] for i in range(n)], [[0]] * n), COINS)
    task |= {"hypotheses": [[s, 0] for s in range(n)], "labels": ["l"]}
    nodes: list[Any] = [{"ask": 0, "next": {"0": i + 1, "1": i + 1}} for i in range(n)]
    policy = {"nodes": [*nodes, {"answer": 0}]}
    return files(task, {"claim": "within-risk", "alpha": "0", "beta": "0", "cost": str(n), "policy": policy})


def walks(n: int) -> Files:
    task = machine([[i] for i in range(n)], [[0]] * n) | {"hypotheses": [[s, 0] for s in range(n)], "labels": ["l"]}
    nodes: list[Any] = [{"ask": 0, "next": {"0": i + 1}} for i in range(n)]
    return files(task, {"claim": "achieves", "cost": str(n), "policy": {"nodes": [*nodes, {"answer": 0}]}})


def splits(n: int) -> Files:
    task = machine([[i] for i in range(n)], [[0]] * n)
    return files(task, {"claim": "quotient", "block": list(range(n)), "splits": [[0, 0]] * n})


def members(n: int) -> Files:
    """Rows with few members about many actions."""
    task = machine([[0] * n, [1] * n], [[0] * n, [1] * n])
    row = {"set": [[0, 0], [1, 1]], "bound": "1", "moves": {}}
    return files(task, {"claim": "lower", "cost": "1", "row": 0, "rows": [row] * n})


def contradictions(n: int) -> Files:
    task = machine([[i] for i in range(n)], [[0]] * n) | {"hypotheses": [[s, 0] for s in range(n)], "labels": ["l"]}
    return files(task, {"claim": "none-of-these", "transcript": [[0, 0]] * n})


def shares(n: int) -> Files:
    task = machine(
        [[(i + 1) % n] for i in range(n)] + [[n + (i + 1) % (n + 1)] for i in range(n + 1)], [[0]] * (2 * n + 1)
    )
    task |= {"hypotheses": [[0, 0], [n, 1]]}
    parts: dict[str, Any] = {"labels": [], "states": [], "potential": [], "rivals": [1], "reference": 0}
    return files(task, {"claim": "shares", "cost": "0", **parts})


def joint_states(n: int) -> Files:
    """Cycles whose lengths have nothing in common: together they come back after the product of these."""
    successor: list[list[int]] = []
    starts: list[int] = []
    for length in (p for p in range(2, n) if all(p % q for q in range(2, math.isqrt(p) + 1))):
        if len(successor) + length > n:
            break
        starts.append(len(successor))
        successor += [[starts[-1] + (i + 1) % length] for i in range(length)]
    task = machine(successor, [[0]] * len(successor)) | {"hypotheses": [[s, 0] for s in starts]}
    parts: dict[str, Any] = {"labels": [], "states": [], "potential": [], "rivals": [], "readings": [0]}
    return files(task, {"claim": "shares", "cost": "0", "joint": list(range(len(starts))), **parts})


def prices(n: int) -> Files:
    task = noisy(machine([[0] * n, [1] * n], [[0] * n, [1] * n]), COINS)
    row = {"members": [[0, 0, "1"], [1, 1, "1"]], "bound": "0", "moves": {}}
    proof = {"prices": [[0, "1", "1", "1"], [1, "1", "1", "1"]], "start": [[0, "1"], [1, "1"]], "rows": [row] * n}
    return files(task, {"claim": "prices", "alpha": "1/10", "beta": "0", "cost": "0", "proof": proof, "row": 0})


def openings(n: int) -> Files:
    """A history after another, each decided by asking."""
    task = noisy(machine([[0], [1]], [[0], [1]]), COINS)
    proof = {"prices": [[0, "1", "9", "9"], [1, "1", "9", "9"]], "start": [[0, "1"], [1, "1"]], "rows": []}
    nodes: list[Any] = []
    for i in range(min(n, 480)):
        nodes.append({"history": 2 * i, "ask": {"0": i + 1}, "answer": {}, "abstain": None})
    nodes.append({"proof": 0, "rows": {}})
    return files(
        task,
        {"claim": "openings", "alpha": "0", "beta": "0", "cost": "0", "proofs": [proof], "nodes": nodes},
    )


def long_sums(n: int) -> Files:
    """A law whose denominators have nothing in common: their sum is as long as the file."""
    values = [f"1/{10**1500 + 2 * i + 1}" for i in range(n)]
    law = [[i, value] for i, value in enumerate(values)]
    task = noisy(machine([[0]], [[0]]), [law]) | {"hypotheses": [[0, 0]]}
    return files(task, {"claim": "quotient", "block": [0], "splits": []})


def samples(n: int) -> Files:
    task = machine([[0, 0], [1, 1]], [[0, 0], [1, 1]])
    data = {"hypothesis": 0, "reset": 0, "actions": [1], "classes": [0, None], "access": [[]], "stop": 2, "first": 0}
    steps = [[1, 0], [0, 0]] * n
    return files(
        task,
        {
            "claim": "sampled", **data, "transcript": steps, "seed": "x" * n, "words": n, "confidence": "0",
            "bound": f"1/{10**1000 + 1}",
        },
    )  # fmt: skip


def suites(n: int) -> Files:
    """A ring that is observed word by word."""
    task = machine([[(i + 1) % n, 0] for i in range(n)], [[int(i == 0), 0] for i in range(n)])
    size = int(n**0.5) + 1
    steps: list[list[int]] = []
    state = 0
    for k in range(size):
        for _ in range(k):
            steps.append([0, int(state == 0)])
            state = (state + 1) % n
        steps.append([1, 0])
        state = 0
    data = {"hypothesis": 0, "reset": 1, "actions": [0], "classes": list(range(n)), "access": [[]], "extra": size - 3}
    return files(task, {"claim": "conforms", **data, "transcript": steps})


def run(task: dict[str, Any], label: str, steps: list[list[Any]], bank: Any, **settings: Any) -> Files:
    digest = sha256(canonical(task)).hexdigest()
    common = {
        "format": "ascertain-observer", "version": 1, "task": digest, "policy": "eager", "nominal": None,
        "alpha": "1/10", "nominal_share": "1/2", "doubts": [20, "1/2"], "threshold": "1000", "rejection": "1/1000",
        "budget": 10**9, "limits": [], "probing": "",
    }  # fmt: skip
    first = {"record": "commitment", "format": "ascertain-journal", "version": 1, "task_sha256": digest, "made_by": ""}
    records: list[dict[str, Any]] = [first | {"settings": common | settings, "bank": {"kind": "by hand"}}]
    stage = {"record": "stage", "stage": "fallback", "after": 0, "why": ""}
    eager = (common | settings)["policy"] == "eager"
    records += [stage | {"bank_sha256": sha256(canonical(bank)).hexdigest()}] if eager else []
    for a, y, certain in steps:
        outcome = {"record": "reading", "action": a, "reading": y} if certain else {"record": "doubt", "action": a}
        records += [{"record": "intent", "action": a}, outcome]
    records.append({"record": "verdict", "verdict": "certified", "label": label, "reason": None})
    shares = {"fallback": "1/10"} if eager else {"nominal": "1/20", "fallback": "1/20"}
    claim = {"claim": "run", "label": label, "shares": shares, "share": next(iter(shares)), "bank": bank}
    claim |= {"scored_from": 0, "transcript": steps, "records": records, "head": head_of(records)}
    return files(task, claim)


def long_runs(n: int) -> Files:
    task = noisy(machine([[0], [1]], [[0], [1]]), COINS)
    return run(task, "l", [[0, i % 2, True] for i in range(n)], [[0, "1"]], policy="staged", nominal=0)


def wide_runs(n: int) -> Files:
    task = noisy(machine([[i] for i in range(n)], [[i % 2] for i in range(n)]), COINS)
    task |= {"hypotheses": [[s, s % 2] for s in range(n)]}
    return run(task, "l", [[0, 0, True]] * n, [[0, "1"]])


def doubted_runs(n: int) -> Files:
    """Every case is in a place of its own."""
    size = 5000
    task = noisy(machine([[(s + 1) % size, (2 * s) % size] for s in range(size)], [[0, 1]] * size), COINS)
    doubts = [[i % 2, None, False] for i in range(min(12, n // 4))]
    return run(task, "l", doubts + [[0, 0, True]] * n, [[1, "1"]], policy="staged", nominal=1)


def plant(bits: int, gates: list[Any], flip: str, **parts: Any) -> dict[str, Any]:
    model = {"kind": "boolean", "bits": names("b", bits), "commands": [["c", gates, 0]], "flip": flip}
    task = {"format": "ascertain-task", "version": 1, "model": model, "hypotheses": None, "label": ["bits", [0]]}
    common = {"about": "start", "actions": [0], "never": [], "cost": ["1"], "alpha": "1/10", "beta": "0"}
    return task | common | parts


def gates(n: int) -> Files:
    task = plant(10, [["not", 1]] * n, "1/10")
    return run(task, "b0=0", [[0, 0, True]] * n, [[0, "1"]])


def powers(n: int) -> Files:
    task = plant(2, [], f"1/{10**1900 + 1}")
    return run(task, "b0=0", [[0, 0, True]] * n, [[0, "1"]])


def expressions(n: int) -> Files:
    """So many values at once on the stack, each a plane of 26 bits."""
    depth = min(n, 256)
    program = [word for i in range(depth) for word in (i % 26, "not")] + ["or"] * (depth - 1)
    task = plant(26, [], "1/10", label=["expression", program])
    return run(task, "true", [[0, 0, True]] * 3, [[0, "1"]])


def unsafe(n: int) -> Files:
    task = plant(16, [], "1/10", never=list(range(1, n + 1)))
    return run(task, "b0=0", [[0, 0, True]] * n, [[0, "1"]])


def hidden_laws(n: int) -> Files:
    """One law of n entries in n places."""
    size = int(n**0.5) + 2
    law = [[t, 0, f"1/{size}"] for t in range(size)]
    model = {"kind": "hidden", "states": names("s", size), "actions": names("a", size), "readings": ["y"]}
    model |= {"law": [[0] * size] * size, "laws": [law]}
    hypotheses = [["h", [[0, "1"]], 0], ["g", [[1, "1"]], 1]]
    task = {"format": "ascertain-task", "version": 1, "labels": ["l", "m"], "cost": ["1"] * size, "alpha": "1/10"}
    task |= {"beta": "0", "model": model, "hypotheses": hypotheses}
    return run(task, "l", [[i % size, 0, True] for i in range(n)], [[0, "1"]], policy="staged", nominal=0)


def words(n: int) -> Files:
    """Every two of n states are compared along a word of n actions."""
    task = machine([[i] for i in range(n)], [[i % 2] for i in range(n)])
    task |= {"hypotheses": [[s, s % 2] for s in range(n)]}
    claim = {"claim": "words", "shows": "separated", "words": [[0] * n], "of": [[0]] * n}
    return files(task, claim)


def bit_tests(n: int) -> Files:
    """Levels whose walks have about as many nodes as the square of the number, up to the format's limit; the file
    grows, and with it what may be spent, by the name of the command."""
    task, side = plant(1, [], "1/10", label=["nominal", 0], beta="1/10"), min(n, 990)
    task["model"]["commands"] = [["c" * n, [], 0]]
    levels = {"actions": ["c" * n], "nominal": [0], "up": 3, "down": side, "caps": [side] * 3}
    risks = {"alpha": "1/10", "beta": "1/10", "cost": "1"}
    return files(task, {"claim": "within-risk", **risks, "policy": {"levels": levels}})


def short_claims(n: int) -> Files:
    """Each of them looks at the whole task."""
    task = machine([[i] for i in range(n)], [[0]] * n) | {"hypotheses": [[0, 0]]}
    return files(task, *[{"claim": "lower", "cost": "0", "row": None, "rows": []}] * n)


def wide_laws(n: int) -> Files:
    """Every hypothesis can read n things at every step."""
    law = [[y, f"1/{n}"] for y in range(n)]
    task = noisy(machine([[i] for i in range(n)], [[0]] * n), [law])
    task |= {"hypotheses": [[s, 0] for s in range(n)], "labels": ["l"]}
    return files(task, {"claim": "none-of-these", "transcript": [[0, n - 1]] * n})


def silent_policies(n: int) -> Files:
    """A policy of one action, whose reading is lost; it may be any of n in each of n states."""
    law = [[y, f"1/{n}"] for y in range(n)]
    task = noisy(machine([[i] for i in range(n)], [[0]] * n), [law]) | {"hypotheses": [[0, 0]], "labels": ["l"]}
    policy = {"nodes": [{"ask": 0, "next": {str(y): 1 for y in range(n)}}, {"answer": 0}]}
    risk = {"claim": "within-risk", "alpha": "0", "beta": "0", "cost": "1", "policy": policy}
    digest = sha256(canonical(task)).hexdigest()
    settings = {"format": "ascertain-controller", "version": 1, "task": digest, "policy": "", "controller": policy}
    settings |= {"alpha": "0", "beta": "0", "budget": 1, "limits": []}
    records: list[dict[str, Any]] = [
        {
            "record": "commitment", "format": "ascertain-journal", "version": 1, "task_sha256": digest, "made_by": "",
            "settings": settings, "bank": None,
        },
        {"record": "intent", "action": 0},
        {"record": "reading", "action": 0, "reading": None},
        {"record": "verdict", "verdict": "certified", "label": "l", "reason": None},
    ]  # fmt: skip
    claim = {"claim": "followed", "label": "l", "risk": risk, "transcript": [[0, None, True]]}
    return files(task, claim | {"records": records, "head": head_of(records)})


def seeds(n: int) -> Files:
    """Words that a long seed draws: whoever draws them reads it for every letter."""
    task, seed = machine([[0, 0]], [[0, 0]]) | {"hypotheses": [[0, 0]]}, "x" * n
    steps: list[list[int]] = []
    for j in range(n):
        k = 2
        while int.from_bytes(sha256(f"{seed}:{j}:{k}".encode()).digest(), "big") % 2:
            k += 2
        steps += [[1, 0]] * (k // 2) + [[0, 0]]
    claim = {"claim": "sampled", "hypothesis": 0, "reset": 0, "actions": [1], "classes": [0], "transcript": steps}
    sample = {"access": [[]], "seed": seed, "stop": 2, "words": n, "first": 0, "confidence": "0", "bound": "0"}
    return files(task, claim | sample)


def letters(n: int) -> Files:
    """A word of n letters over n actions."""
    task = machine([[0] * n], [[0] * n]) | {"hypotheses": [[0, 0]]}
    claim = {"claim": "conforms", "hypothesis": 0, "reset": 0, "actions": list(range(1, n)), "classes": [0]}
    return files(task, claim | {"transcript": [], "access": [[], [1] * n], "extra": 0})


def crowds(n: int) -> Files:
    """Cases of the decisions after a history of one hypothesis, beside histories of n that do not count."""
    sure, other = [[0, "1/2"], [1, "1/4"], [2, "1/4"]], [[0, "1/2"], [1, "1/2"]]
    task = noisy(machine([[i] for i in range(n)], [[0]] + [[1]] * (n - 1)), [sure, other])
    num_labels = 20
    task |= {"hypotheses": [[s, 0] for s in range(n)], "labels": names("l", num_labels)}
    nodes: list[Any] = [{"history": 0, "ask": {"0": 1}, "answer": {"0": 2}, "abstain": None}, None]
    nodes += [{"proof": 0, "rows": {}}] * n
    named, history = 2, 3
    nodes[1], last = {"history": history, "ask": {}, "answer": {}, "abstain": None}, 1
    named += 1
    while named + num_labels + 2 < len(nodes):  # the first history of those that this one adds is decided next
        answers = {str(k): named + k for k in range(num_labels)}
        abstain, after = named + num_labels, named + num_labels + 1
        nodes[last] = {"history": history, "ask": {"0": after}, "answer": answers, "abstain": abstain}
        history, last, named = (4 if history == 3 else history + 3), after, after + 1
    start: list[Any] = [[0, "1"]] + [None] * (n - 1)
    nodes[last] = {"proof": 0, "rows": {}}
    proof = {"prices": [[0, "1", "0", "0"]], "start": start, "rows": []}
    risks = {"alpha": "1/3", "beta": "1/4", "cost": "0"}
    return files(task, {"claim": "openings", **risks, "proofs": [proof], "nodes": nodes[:named]})


def nominal_gates(n: int) -> Files:
    """The nominal is led through n gates n times to see when it is left."""
    task = plant(1, [["not", 0]] * 2 * n, "1/10")
    return run(task, "b0=0", [[0, 0, True]] * n, [[0, "1"]], policy="staged", nominal=0)


def drifts(n: int) -> Files:
    """Nothing is read, and where the nominal of a hidden model is becomes a longer number with every step."""
    d, e = 10**300 + 1, 10**300 + 3
    laws = [[[0, 0, f"2/{d}"], [1, 0, f"{d - 2}/{d}"]], [[0, 0, f"{e - 2}/{e}"], [1, 0, f"2/{e}"]]]
    model = {"kind": "hidden", "states": ["s", "t"], "actions": ["a"], "readings": ["y"], "law": [[0], [1]]}
    task = {"format": "ascertain-task", "version": 1, "model": model | {"laws": laws}, "labels": ["l"]}
    task |= {"hypotheses": [["h", [[0, "1/3"], [1, "2/3"]], 0]], "cost": ["1"], "alpha": "1/10", "beta": "0"}
    return run(task, "l", [[0, None, True]] * n, [[0, "1"]], policy="staged", nominal=0, losses=n)


FAMILIES: dict[str, Callable[[int], Files]] = {
    f.__name__: f
    for f in (
        pairs, programs, places, walks, splits, members, contradictions, shares, joint_states, prices, openings,
        long_sums, samples, suites, long_runs, wide_runs, doubted_runs, gates, powers, expressions, unsafe, hidden_laws,
        words, bit_tests, short_claims, wide_laws, silent_policies, seeds, letters, crowds, nominal_gates, drifts,
    )
}  # fmt: skip
"""By name, what grows."""
