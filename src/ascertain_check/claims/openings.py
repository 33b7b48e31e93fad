"""The claim that no policy that draws nothing at random costs less: its first decisions, case by case, each at prices.

A policy that draws nothing at random makes one decision after each history: it asks an action, answers a label, or
abstains. A *partial policy* decides some histories and leaves the others open. History 0 is the empty one, open at
first. Deciding to ask a at an open history t adds an open history for every reading that some hypothesis may give
there, in ascending order; an answer or an abstention adds none.

*Cases.* A node of the tree of cases names an open history t and, for decisions there, other nodes. It must name one for

- every action that all hypotheses allow that may still be true after t;
- every label k, unless answering k after t is wrong with probability more than alpha under some hypothesis already;
- the abstention, unless t has probability more than beta under some hypothesis.

A policy that keeps to the risks and begins with a partial policy makes one of these decisions at t, since it never
makes the others: they break a risk, or are not allowed. So it begins with one of the partial policies of the named
nodes; by induction, every policy within the risks that draws nothing at random begins with that of some *leaf*.

*Leaves.* A leaf names a proof: prices and consistent rows, as in prices.py. For a history t of its partial policy let
q(t) be

    for an open t, what the row that the leaf names for t is worth at the vector after t; one step, where it names none;
    for an answer or an abstention, what it costs at that vector;
    where a is asked, c(a) times the mass of that vector, plus the sum of q over the histories that were added.

*Theorem.* The priced sum of a policy that begins with this partial policy, and ends with probability one, is at least
q(0). *Proof.* It is the sum of what is spent at the decided histories and of what is spent from the open ones on. From
an open one on it is at least what a row there is worth, by the theorem of prices.py, and one step, whatever the policy
does there: only histories are decided, and where a vector is met again everything is free. QED. So the prices of every
leaf prove a bound for the policies that begin like it, and the claim is the least of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from ascertain_check.claim import LISTED, register
from ascertain_check.claims.information import read_risks
from ascertain_check.claims.prices import Proof, Vector, check_rows, moves_of, read_proof
from ascertain_check.claims.quotient import Quotient, read_classes
from ascertain_check.reading import Object, read_index, read_key, read_list, read_map, read_object, read_rational
from ascertain_check.task import Task
from ascertain_check.verdicts import Malformed, Refuted
from ascertain_check.work import KEEP, spend

Chances: TypeAlias = dict[int, tuple[int, Fraction]]
"""By hypothesis that may still be true: its class of states, and the probability of the readings."""
MAX_HISTORIES = 1000
"""Of one partial policy: each leaf goes through all of its histories."""
ZERO = Fraction(0)


@dataclass(frozen=True)
class History:
    """`kind` is "open", "ask", "answer" or "abstain"; `of` is the action or the label; `after` the added histories."""

    chances: Chances
    kind: str = "open"
    of: int = 0
    after: tuple[int, ...] = ()


Partial: TypeAlias = tuple[History, ...]


@dataclass(frozen=True)
class Cases:
    """A checker at work: the task on its classes, the risks, the cost that is claimed, and the proofs."""

    task: Task
    quotient: Quotient
    alpha: Fraction
    beta: Fraction
    cost: Fraction
    proofs: list[Proof]

    def start(self) -> Partial:
        block = self.quotient.block
        return (History({h: (block[s], Fraction(1)) for h, (_, s) in enumerate(self.task.hypotheses)}),)

    def label(self, h: int, c: int) -> int:
        return self.task.hypotheses[h][0] if self.quotient.current is None else self.quotient.current[c]

    def allows(self, chances: Chances, action: int) -> bool:
        return all(self.quotient.successor[c][action] is not None for c, _ in chances.values())

    def breaks_alpha(self, chances: Chances, label: int) -> bool:
        return any(p > self.alpha and self.label(h, c) != label for h, (c, p) in chances.items())

    def breaks_beta(self, chances: Chances) -> bool:
        return any(p > self.beta for _, p in chances.values())

    def ask(self, partial: Partial, t: int, action: int) -> Partial:
        after: dict[int, Chances] = {}
        for h, (c, p) in partial[t].chances.items():
            spend(KEEP)
            for y, q, target in moves_of(self.task, self.quotient, c, action):
                after.setdefault(y, {})[h] = target, p * q
        added = tuple(range(len(partial), len(partial) + len(after)))
        if len(partial) + len(after) > MAX_HISTORIES:
            raise Malformed(f"a partial policy has more than {MAX_HISTORIES} histories")
        decided = decide(partial, t, replace(partial[t], kind="ask", of=action, after=added))
        return decided + tuple(History(after[y]) for y in sorted(after))

    def check_leaf(self, data: Object, partial: Partial) -> None:
        proof = self.proofs[read_index(data["proof"], len(self.proofs), "a leaf")]
        rows = {
            read_key(t, len(partial), "a leaf"): read_index(row, len(proof.rows), "a leaf")
            for t, row in read_map(data["rows"], "a leaf").items()
        }
        spent = [ZERO] * len(partial)
        for t in range(len(partial) - 1, -1, -1):
            one, x = partial[t], vector_of(proof, partial[t].chances)
            if one.kind == "open":
                spent[t] = proof.worth(x, rows.get(t))
            elif one.kind == "ask":
                spent[t] = sum((spent[u] for u in one.after), self.task.cost[one.of] * proof.mass(x))
            else:
                spent[t] = proof.answer(x, one.of) if one.kind == "answer" else proof.abstain(x)
        proof.conclude(spent[0], self.alpha, self.beta, self.cost)

    def list_cases(self, data: Object, partial: Partial) -> list[tuple[object, Partial]]:
        """The nodes that a node names, with their partial policies, after checking that no decision is missing."""
        t = read_index(data["history"], len(partial), "a history")
        asks = read_named(data["ask"], self.task.num_actions, "ask")
        answers = read_named(data["answer"], self.task.num_labels, "answer")
        here = partial[t]
        spend((self.task.num_actions + self.task.num_labels) * (1 + len(here.chances)))
        if here.kind != "open":
            raise Refuted("a node decides a history that is decided already")
        found: list[tuple[object, Partial]] = []
        for a in range(self.task.num_actions):
            if self.allows(here.chances, a):
                if a not in asks:
                    raise Refuted(f"a node says nothing of action {a}, which is allowed there")
                found.append((asks[a], self.ask(partial, t, a)))
        for k in range(self.task.num_labels):
            if k in answers:
                found.append((answers[k], decide(partial, t, replace(here, kind="answer", of=k))))
            elif not self.breaks_alpha(here.chances, k):
                raise Refuted(f"a node says nothing of the answer {k}, which breaks no risk there")
        if data["abstain"] is not None:
            found.append((data["abstain"], decide(partial, t, replace(here, kind="abstain"))))
        elif not self.breaks_beta(here.chances):
            raise Refuted("a node says nothing of the abstention, which breaks no risk there")
        return found


@register("openings", about=LISTED)
def check_openings(task: Task, claim: Object) -> str:
    data = read_object(claim, "claim alpha beta cost proofs nodes block?", "the claim 'openings'")
    alpha, beta = read_risks(data)
    cost = read_rational(data["cost"], "cost")
    quotient = read_classes(task, data)
    proofs = [read_proof(task, quotient, proof) for proof in read_list(data["proofs"], "proofs")]
    for proof in proofs:
        check_rows(proof)
    cases = Cases(task, quotient, alpha, beta, cost, proofs)
    nodes = read_list(data["nodes"], "nodes")
    seen: set[int] = set()
    stack: list[tuple[object, Partial]] = [(0, cases.start())]
    while stack:
        value, partial = stack.pop()
        i = read_index(value, len(nodes), "a node")
        if i in seen:
            raise Malformed(f"node {i} is named twice")
        seen.add(i)
        if "proof" in read_map(nodes[i], "a node"):
            cases.check_leaf(read_object(nodes[i], "proof rows", "a leaf"), partial)
        else:
            stack += cases.list_cases(read_object(nodes[i], "history ask answer abstain", "a node"), partial)
    risk = f"with risks of at most {alpha} and {beta}"
    return f"no policy that draws nothing at random settles the question {risk} at an expected cost of less than {cost}"


def decide(partial: Partial, t: int, decided: History) -> Partial:
    spend(KEEP + len(partial))
    return (*partial[:t], decided, *partial[t + 1 :])


def read_named(value: object, bound: int, where: str) -> dict[int, object]:
    """Nodes by the decisions that they are named for; which node it is is read where the decision is taken."""
    return {read_key(key, bound, where): node for key, node in read_map(value, where).items()}


def vector_of(proof: Proof, chances: Chances) -> Vector:
    """The vector after a history."""
    x: Vector = {}
    spend(len(chances))
    for h, (c, p) in chances.items():
        one = proof.start[h]
        if one is not None:
            x[one[0], c] = x.get((one[0], c), ZERO) + one[1] * p
    return x
