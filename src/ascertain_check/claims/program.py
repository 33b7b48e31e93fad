"""The claim that no policy within stated risks costs less in expectation, or exists at all: multipliers that add up.

Throughout: h is a *truth*, g a *rival* of it (another label), p = 1 - alpha - beta, e the probability that the label
of h is answered when g is true. The *nodes* of a truth are joint states J: the state of h, and of each rival, or none
(null) for a rival that is ruled out. An *edge* is a node and an action that h allows and every rival that cannot be
ruled out allows too; it leads to the joint state of the successors, where a rival is none if it was, if it does not
allow the action, or if the two laws have total variation 1. A joint state that is not listed is the *free* node.

Of a policy within the risks, let N(E) be the expected number of times under h that edge E is done before the joint
state is first one that is not listed, and n the expected cost of everything after that. Couple the readings under h
and under g, while they have been equal, so that the next two differ with probability TV; let f_g(E) be the part of
N(E) that is still coupled to g. Then

 1. sum of N(E) c(E) + n is at most the worst expected cost;
 2. N out of J <= N into J + 1[J is the first node], since an experiment begins once and ends anywhere;
 3. sum of N(E) KL(E) + n * (best rate of g) >= b - sigma e, by the chain rule, unless infinite KL is within reach;
 4. sum of f_g(E) TV(E) >= p - e, as answers differ only once readings have; on edges into the free node TV is 1, or 0
    if nothing that h and g can ever show differs;
 5. f_g out of J <= sum over edges into J of (1 - TV) f_g + 1[J is the first node], and f_g = 0 where g is BLOCKED;
 6. f_g(E) <= N(E);
 7. e >= 0, and the e of one g and different labels sum to at most alpha. (In a task about the current state, where the
    answers meant by different truths may be one, only each e by itself is at most alpha.)

A claim gives multipliers, none negative: `weight` for 1, `potential` u_J for 2, y for each cut of 3, `variation` z for
4, `coupled` w_J for 5. With x(E) = max(0, z TV - w_J + (1 - TV) w_J') for 6, the sum of all rows says

    sum of weights * cost >= sum over h (-u_first + sum over g (sum of y b + z p - w_first)) - alpha * sum of eta,

if on every edge sum over g of (y KL + x) - u_J + u_J' <= weight * c(E), and in the free node (u = w = 0) sum over g of
y * (best rate) <= weight. There is an eta for every g: the largest, over labels, of the sum over truths of that label
of z + sum of y sigma, or 0. (About the current state: one for every truth and rival, z + sum of y sigma, or 0.) If all
weights are 0 and the right side is positive, no policy within the risks exists.

*Cuts of row 3.* KL(P_h || P_g) >= d(p || e), which is convex in e: above its tangent at any q, so that sigma = p / q -
(1 - p) / (1 - q) and b = d(p || q) + sigma q. If every likelihood ratio that h and g can show is a power of one
rational base R > 1, KL is counted in units of log R, where it is rational, and the log-likelihood ratio is an integer
k at the end. As min over k of k + t R^-k is i + C for t = C R^i, C = R / (R - 1), the mean of k is at least p (i + C)
+ (1 - p) (j + C) - e C R^i - (1 - e) C R^j for integers j <= i; so b = p i + (1 - p) j + C (1 - R^j) and sigma = C
(R^i - R^j).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ascertain_check.claim import LISTED, register
from ascertain_check.claims.information import read_risks, say_bound
from ascertain_check.encounters import BLOCKED, Shown, entropy_of, explore, show, variation_of, weigh
from ascertain_check.logarithm import binary_entropy
from ascertain_check.reading import Object, read_index, read_list, read_object, read_rational
from ascertain_check.task import Task
from ascertain_check.verdicts import Malformed, Refuted
from ascertain_check.work import spend

Joint = tuple[int | None, ...]
MAX_POWER = 64
"""The largest power of the base that a reading or a cut may name."""
MAX_BITS = 2000
"""The longest base."""


@dataclass(frozen=True)
class Rival:
    hypothesis: int
    base: Fraction | None
    dropped: bool
    differs: bool
    """Whether anything that is explored tells it from the truth."""
    best: Fraction
    """The best KL for each unit of cost."""
    multiplier: Fraction
    """The sum of y."""
    gain: Fraction
    """The sum of y b, and z p, less w of the first node."""
    spent: Fraction
    """z and the sum of y sigma."""
    variation: Fraction
    coupled: list[Fraction]


@dataclass(frozen=True)
class Truth:
    hypothesis: int
    weight: Fraction
    nodes: list[Joint]
    potential: list[Fraction]
    rivals: list[Rival]


@register("program", about=LISTED)
def check_program(task: Task, claim: Object) -> str:
    data = read_object(claim, "claim alpha beta cost truths", "the claim 'program'")
    alpha, beta = read_risks(data)
    cost = None if data["cost"] == "inf" else read_rational(data["cost"], "cost")
    truths = [read_truth(task, value, 1 - alpha - beta) for value in read_list(data["truths"], "truths")]
    for truth in truths:
        check_truth(task, truth)
    right = sum((truth_gain(truth) for truth in truths), Fraction(0)) - alpha * shared_cost(task, truths)
    weight = sum((truth.weight for truth in truths), Fraction(0))
    if cost is None and (weight or right <= 0):
        raise Refuted("the multipliers do not show that there is no policy")
    if cost is not None and right < cost * weight:
        raise Refuted("the multipliers do not add up to that cost")
    if cost and not weight and not right:
        raise Refuted("no multiplier says anything")
    return say_bound(cost, alpha, beta)


def read_truth(task: Task, value: object, sure: Fraction) -> Truth:
    data = read_object(value, "hypothesis weight nodes potential rivals", "a truth")
    h = read_index(data["hypothesis"], len(task.hypotheses), "a truth")
    rivals = read_list(data["rivals"], "rivals")
    nodes = [read_joint(task, node, 1 + len(rivals)) for node in read_list(data["nodes"], "nodes")]
    if not nodes or len(set(nodes)) < len(nodes):
        raise Malformed("a truth needs at least one node, each listed once")
    read = [read_rival(task, rival, h, len(nodes), sure) for rival in rivals]
    if nodes[0] != tuple(task.hypotheses[k][1] for k in (h, *(rival.hypothesis for rival in read))):
        raise Malformed("the first node must hold the states of the truth and its rivals")
    potential = read_multipliers(data["potential"], len(nodes), "potential")
    return Truth(h, read_rational(data["weight"], "weight"), nodes, potential, read)


def read_joint(task: Task, value: object, size: int) -> Joint:
    items = read_list(value, "a node", size)
    if items[0] is None:
        raise Malformed("the truth is never ruled out")
    return tuple(None if s is None else read_index(s, task.num_states, "a node") for s in items)


def read_multipliers(value: object, size: int, where: str) -> list[Fraction]:
    return [read_rational(v, where) for v in read_list(value, where, size)]


def read_rival(task: Task, value: object, h: int, size: int, sure: Fraction) -> Rival:
    data = read_object(value, "hypothesis base cuts variation coupled", "a rival")
    g = read_index(data["hypothesis"], len(task.hypotheses), "a rival")
    if task.hypotheses[g][0] == task.hypotheses[h][0]:
        raise Refuted("a rival has the label of its truth")
    base = None if data["base"] is None else read_rational(data["base"], "base")
    if base is not None and (base <= 1 or base.numerator.bit_length() > MAX_BITS):
        raise Malformed("a base is larger than 1, and not too long")
    cuts = [read_cut(cut, base, sure) for cut in read_list(data["cuts"], "cuts")]
    found = explore(task, task.hypotheses[h][1], task.hypotheses[g][1])
    dropped = any(entropy_of(shown) is None for shown, _ in found)
    if cuts and dropped:
        raise Refuted("a rival that can be ruled out for certain has cuts")
    best = max((payment(shown, base) / cost for shown, cost in found), default=Fraction(0)) if cuts else Fraction(0)
    z, w = read_rational(data["variation"], "variation"), read_multipliers(data["coupled"], size, "coupled")
    gain = sum((y * b for b, _, y in cuts), z * sure - w[0])
    spent = sum((y * sigma for _, sigma, y in cuts), z)
    differs = any(variation_of(shown) for shown, _ in found)
    return Rival(g, base, dropped, differs, best, sum((y for _, _, y in cuts), Fraction(0)), gain, spent, z, w)


def read_cut(value: object, base: Fraction | None, sure: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """(b, sigma, y) of [q, y], or with a base of [i, -j, y]."""
    if base is None:
        point, y = (read_rational(v, "a cut") for v in read_list(value, "a cut", 2))
        owed = binary_entropy(sure, point) if 0 < point < 1 else None
        if owed is None:
            raise Malformed("a cut must touch between 0 and 1")
        sigma = sure / point - (1 - sure) / (1 - point)
        return owed[0] + sigma * point, sigma, y
    up, down, last = read_list(value, "a cut", 3)
    i, j = read_index(up, MAX_POWER + 1, "a cut"), -read_index(down, MAX_POWER + 1, "a cut")
    factor = base / (base - 1)
    constant = sure * i + (1 - sure) * j + factor * (1 - base**j)
    return constant, factor * (base**i - base**j), read_rational(last, "a cut")


def payment(shown: Shown, base: Fraction | None) -> Fraction:
    """KL of what is shown, rounded up: in nats, or exactly in units of the logarithm of the base.

    Of a rival that has cuts it is infinite nowhere within reach; a node out of reach may be listed, and pays nothing.
    """
    entropy = entropy_of(shown)
    if entropy is None or isinstance(shown, str):
        return Fraction(0)
    if base is None:
        return entropy[1]
    against = dict(shown[1])
    return sum((q * power_of(q / against[y], base) for y, q in shown[0]), Fraction(0))


def power_of(ratio: Fraction, base: Fraction) -> int:
    """The m with ratio = base^m."""
    spend(MAX_POWER)
    sign, rest = (1, ratio) if ratio >= 1 else (-1, 1 / ratio)
    for m in range(MAX_POWER + 1):
        if rest == 1:
            return sign * m
        rest /= base
    raise Refuted("a likelihood ratio is no power of the base")


def check_truth(task: Task, truth: Truth) -> None:
    """Every edge, and the free node, carry no more than the weight."""
    number = {node: i for i, node in enumerate(truth.nodes)}
    u = [*truth.potential, Fraction(0)]
    for i, node in enumerate(truth.nodes):
        for a, cost in enumerate(task.cost):
            move = follow(task, truth, node, a)
            if move is None:
                continue
            j = number.get(move[0], len(truth.nodes))
            if load(truth, i, j, move[1]) - u[i] + u[j] > truth.weight * cost:
                raise Refuted(f"truth {truth.hypothesis}: action {a} in node {i} carries more than its weight")
    if sum((rival.multiplier * rival.best for rival in truth.rivals), Fraction(0)) > truth.weight:
        need_closed(task, truth, number)


def need_closed(task: Task, truth: Truth, number: dict[Joint, int]) -> None:
    """What the free node would carry does not matter when no edge leads there."""
    for node in truth.nodes:
        for a in range(task.num_actions):
            move = follow(task, truth, node, a)
            if move is not None and move[0] not in number:
                raise Refuted(f"truth {truth.hypothesis}: the free node carries more than its weight")


def follow(task: Task, truth: Truth, node: Joint, action: int) -> tuple[Joint, list[Shown]] | None:
    """Where an action leads and what it shows of each rival; None where it may not be done."""
    spend(10 * len(node))
    s = node[0]
    after = None if s is None else task.successor[s][action]
    if s is None or after is None:
        return None
    states: list[int | None] = [after]
    seen: list[Shown] = []
    for rival, t in zip(truth.rivals, node[1:], strict=True):
        shown = BLOCKED if t is None else show(task, s, t, action)
        spend(5 * weigh(shown))
        if t is not None and shown == BLOCKED and not rival.dropped:
            return None
        states.append(None if t is None or variation_of(shown) in (None, 1) else task.successor[t][action])
        seen.append(shown)
    return tuple(states), seen


def load(truth: Truth, i: int, j: int, seen: list[Shown]) -> Fraction:
    """The sum over rivals of y KL + x on an edge from node i to node j."""
    total = Fraction(0)
    for rival, shown in zip(truth.rivals, seen, strict=True):
        if rival.multiplier:
            total += rival.multiplier * payment(shown, rival.base)
        part = variation_of(shown)
        if part is None:
            continue
        free = j == len(truth.nodes)
        part, after = (Fraction(rival.differs), Fraction(0)) if free else (part, rival.coupled[j])
        total += max(Fraction(0), rival.variation * part - rival.coupled[i] + (1 - part) * after)
    return total


def truth_gain(truth: Truth) -> Fraction:
    return sum((rival.gain for rival in truth.rivals), -truth.potential[0])


def shared_cost(task: Task, truths: list[Truth]) -> Fraction:
    """The sum of eta."""
    if task.current is not None:
        return sum((max(Fraction(0), rival.spent) for truth in truths for rival in truth.rivals), Fraction(0))
    spent: dict[int, dict[int, Fraction]] = {}
    for truth in truths:
        label = task.hypotheses[truth.hypothesis][0]
        for rival in truth.rivals:
            parts = spent.setdefault(rival.hypothesis, {})
            parts[label] = parts.get(label, Fraction(0)) + rival.spent
    return sum((max(Fraction(0), *parts.values()) for parts in spent.values()), Fraction(0))
