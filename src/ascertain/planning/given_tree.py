"""A tree of tests that someone has written: what to ask, in which order, and how wrong each test may be.

    {"tree": [{"action": "gauge", "alpha": "1/1000", "beta": "1/100", "cost": "9", "next": {"low": 1, "high": 2}},
              {"answer": "tight"}, {"answer": "leak1"}]}

The tree is that of the noiseless skeleton: at each node the likeliest reading says where to go on. A node that tells
parts apart is a question of its own, *which part?*; a sequential test is found for it that is wrong with probability at
most `alpha` and abstains with at most `beta`, and whose expected cost is at most `cost`, if that is given. They compose
as in `composition.py`. Nothing of this has to be believed: what the whole tree does is evaluated place by place.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

from ascertain.errors import FileError
from ascertain.model.files.json_text import as_list, named
from ascertain.planning.composition import NodeTest, compose_given
from ascertain.planning.exported import as_table
from ascertain.policy.automaton import AbstractNodes, Automaton
from ascertain.policy.plain import parse_policy
from ascertain.rational import rational_field
from ascertain.task.task import Task

RISKS = ("alpha", "beta")
"""What a node that tests says of its test; `cost` may be left out."""


def parse_tree(data: object, task: Task, where: str) -> AbstractNodes:
    """The tree of tests that plain data describes, composed, as one table."""
    nodes = as_list(data, f"{where}: tree", "a list of nodes")
    bare = [_without_numbers(node) for node in nodes]
    skeleton = parse_policy({"nodes": bare}, task, f"{where}: tree")
    if not isinstance(skeleton, Automaton):
        raise FileError(f"{where}: tree: children come after their parents in a tree")
    risks: dict[int, tuple[Fraction, Fraction]] = {}
    limits: dict[int, Fraction] = {}
    for v, node in enumerate(cast("list[dict[str, Any]]", nodes)):
        spot = f"{where}: tree: node {v}"
        if any(key in node for key in (*RISKS, "cost")):
            alpha, beta = (_risk(node, key, spot) for key in RISKS)
            risks[v] = alpha, beta
        elif len(skeleton.children[v]) > 1:
            raise FileError(f"{spot}: a node that tells parts apart needs alpha and beta, the risks of its test")
        if "cost" in node:
            limits[v] = rational_field(node["cost"], f"{spot}: cost", FileError)
    tree = compose_given(task, skeleton, risks)
    for v, test in zip(tree.origin, tree.node, strict=True):
        _check_cost(task, test, limits.get(v), f"{where}: tree: node {v}")
    return as_table(task, tree)


def _without_numbers(node: object) -> object:
    if not isinstance(node, dict):
        return node
    return {key: value for key, value in cast("dict[str, Any]", node).items() if key not in (*RISKS, "cost")}


def _risk(node: dict[str, Any], key: str, where: str) -> Fraction:
    if key not in node:
        raise FileError(f"{where}: {key} is missing; a test has both alpha and beta")
    risk = rational_field(node[key], f"{where}: {key}", FileError)
    if not 0 < risk < 1:
        raise FileError(f"{where}: {key}: {named(node[key])} is not a probability inside (0, 1)")
    return risk


def _check_cost(task: Task, node: NodeTest, limit: Fraction | None, where: str) -> None:
    """c_v: what the test may cost whoever belongs there."""
    if limit is None or node.test is None:
        return
    round_trip = sum((task.cost[a] for a in node.loop[1:]), Fraction(0))
    cost = max(node.test.risk.cost) - round_trip
    if cost > limit:
        raise FileError(f"{where}: cost: the best test found at these risks costs {float(cost):.6g}, more than {limit}")
