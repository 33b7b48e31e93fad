"""The claim that two hypotheses with different labels cannot be told apart by any experiment.

The witness is a set P of pairs of states that holds the pair of the two hypotheses and is *closed*: for every pair
(s, t) in P and every action that both states allow, the law of the reading is the same in both, and the pair of the
successors is in P. In a task about the current state, moreover, the two labels differ at every pair in P.

*Theorem.* Whatever the observer does, the probability of answering right under one of the hypotheses is at most that of
answering wrong under the other.

*Proof.* While both hypotheses may be true, only actions that both allow can be asked. By induction on the length of the
experiment, after every transcript the two states are a pair in P, and the transcript has the same probability under
both hypotheses; so both may still be true, and what the observer does next has one law under both. When it answers,
the right answers differ: the labels of the hypotheses stay what they are, and in a task about the current state those
of the pair that was reached differ. So each transcript that is answered right under one is answered wrong under the
other. QED. An observer that errs with probability at most alpha and abstains with probability at most beta answers
right with probability at least 1 - alpha - beta, so there is none when 2 alpha + beta < 1. On a machine without noise,
no policy settles the question at any cost.
"""

from __future__ import annotations

from ascertain_check.claim import LISTED, register
from ascertain_check.reading import Object, read_index, read_list, read_object
from ascertain_check.task import Pair, Task
from ascertain_check.verdicts import Refuted
from ascertain_check.work import spend


@register("obstruction", about=LISTED)
def check_obstruction(task: Task, claim: Object) -> str:
    data = read_object(claim, "claim pair pairs", "the claim 'obstruction'")
    h, g = read_pair(data["pair"], len(task.hypotheses), "pair")
    items = read_list(data["pairs"], "pairs")
    pairs = {read_pair(item, task.num_states, "a pair of states") for item in items}
    (k, s), (m, t) = task.hypotheses[h], task.hypotheses[g]
    if k == m:
        raise Refuted(f"hypotheses {h} and {g} have the same label")
    if (s, t) not in pairs:
        raise Refuted(f"the states of hypotheses {h} and {g} are not among the pairs")
    for pair in pairs:
        check_pair(task, pairs, pair)
    return f"no experiment tells hypothesis {h} from hypothesis {g}, and their labels differ"


def check_pair(task: Task, pairs: set[Pair], pair: Pair) -> None:
    """The set is closed at this pair, and the labels differ where they follow the states."""
    s, t = pair
    if task.current is not None and task.current[s] == task.current[t]:
        raise Refuted(f"states {s} and {t} have the same label")
    spend(4 * task.num_actions)
    for a in range(task.num_actions):
        x, y = task.successor[s][a], task.successor[t][a]
        if x is None or y is None:
            continue
        if task.behaviour[s][a] != task.behaviour[t][a]:
            raise Refuted(f"action {a} tells states {s} and {t} apart")
        if (x, y) not in pairs:
            raise Refuted(f"action {a} leads from states {s} and {t} to a pair that is not listed")


def read_pair(value: object, bound: int, where: str) -> Pair:
    x, y = read_list(value, where, 2)
    return read_index(x, bound, where), read_index(y, bound, where)
