"""Mutants of Theorem 3.3: would the tests notice if the claims of a composed tree, or of a node's test, were wrong?

    python benchmarks/composition_mutants.py [WORD ...]

Each mutant is `planning/composition.py` or `planning/sequential_tests.py` with one line changed that a guarantee
depends on, written out below: a cost that forgets the loop, a minimum for a maximum, a cap that is ignored. The tests
of the file run against it in a process of its own until the first failure. With words, only the mutants that name them
all. Survivors are printed, and the exit code says whether there are any.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPOSITION, SEQUENTIAL = "ascertain.planning.composition", "ascertain.planning.sequential_tests"
TESTS = {COMPOSITION: "tests/test_composition.py", SEQUENTIAL: "tests/test_sequential_tests.py"}
TIME_LIMIT = {COMPOSITION: 180, SEQUENTIAL: 60}
"""Seconds of processor time: the tests take about 30 and 6. A mutant that takes much longer is noticed: a split that
raises the wrong threshold never ends."""

SURVIVED = "SURVIVED"


@dataclass(frozen=True)
class Mutant:
    """One change: `old`, which stands once in the module, becomes `new`."""

    module: str
    what: str
    old: str
    new: str


MUTANTS = (
    Mutant(
        COMPOSITION,
        "node cost: a round costs its share of the loop",
        "return max(costs) - self.cost_of(test.loop[1:])",
        "return max(costs) / len(test.loop)",
    ),
    Mutant(
        COMPOSITION,
        "node cost: the cheapest member",
        "return max(costs) - self.cost_of(test.loop[1:])",
        "return min(costs) - self.cost_of(test.loop[1:])",
    ),
    Mutant(
        COMPOSITION,
        "node cost: the way back of the last round is paid too",
        "return max(costs) - self.cost_of(test.loop[1:])",
        "return max(costs)",
    ),
    Mutant(
        COMPOSITION,
        "node cost: the whole last round is free",
        "return max(costs) - self.cost_of(test.loop[1:])",
        "return max(costs) - self.cost_of(test.loop)",
    ),
    Mutant(
        COMPOSITION,
        "node cost: every member, whatever its part",
        "if h is None or p == test.part[h]]",
        "]",
    ),
    Mutant(
        COMPOSITION,
        "node cost: members of other parts",
        "if h is None or p == test.part[h]]",
        "if h is None or p != test.part[h]]",
    ),
    Mutant(
        COMPOSITION,
        "node cost: an action that is not a test is free",
        "            return self.cost_of(test.loop)\n",
        "            return Fraction(0)\n",
    ),
    Mutant(
        COMPOSITION,
        "a round costs the action alone",
        "cost=(self.cost_of(loop),),",
        "cost=(self.cost_of(loop[:1]),),",
    ),
    Mutant(
        COMPOSITION,
        "own path: the cheapest hypothesis",
        "own = max(self.own_path",
        "own = min(self.own_path",
    ),
    Mutant(
        COMPOSITION,
        "own path: the dearer of a node and what follows, not their sum",
        "return own + (self.own_path(children[tests[i].part[h]], h, tests) if children else Fraction(0))",
        "return max(own, self.own_path(children[tests[i].part[h]], h, tests) if children else Fraction(0))",
    ),
    Mutant(
        COMPOSITION,
        "path sum: the largest node, not the sum",
        "return value(i) + max((self.largest_path(value, j) for j in self.sites[i].children), default=Fraction(0))",
        "return max(value(i), *(self.largest_path(value, j) for j in self.sites[i].children), Fraction(0))",
    ),
    Mutant(
        COMPOSITION,
        "path sum: the smallest path",
        "return value(i) + max((self.largest_path",
        "return value(i) + min((self.largest_path",
    ),
    Mutant(
        COMPOSITION,
        "caps: what happens off the path is free",
        "own + wrong * horizon_cost,",
        "own,",
    ),
    Mutant(
        COMPOSITION,
        "caps: one round off the path",
        "rounds = [1 if test.test is None else test.test.policy.horizon for test in tests]",
        "rounds = [1 for test in tests]",
    ),
    Mutant(
        COMPOSITION,
        "caps: one round too few",
        "else test.test.policy.horizon for test in tests]",
        "else test.test.policy.horizon - 1 for test in tests]",
    ),
    Mutant(
        COMPOSITION,
        "caps: a round off the path costs the action alone",
        "rounds[i] * self.cost_of(tests[i].loop))",
        "rounds[i] * self.cost_of(tests[i].loop[:1]))",
    ),
    Mutant(
        COMPOSITION,
        "risk split: every test has all of alpha",
        "parts = [Fraction(1, self.depth)] * len(self.sites)",
        "parts = [Fraction(1)] * len(self.sites)",
    ),
    Mutant(
        COMPOSITION,
        "risk split: every test has all of beta",
        "self.beta_of_test = beta / self.depth",
        "self.beta_of_test = beta",
    ),
    Mutant(
        COMPOSITION,
        "risk split: a child may spend what its parent spent",
        "stack += [(j, g - p) for j in self.sites[i].children]",
        "stack += [(j, g) for j in self.sites[i].children]",
    ),
    Mutant(
        COMPOSITION,
        "risk split: the cheapest child counts",
        "(c + max((table[j][g - p][0] for j in site.children), default=0.0), p)",
        "(c + min((table[j][g - p][0] for j in site.children), default=0.0), p)",
    ),
    Mutant(
        COMPOSITION,
        "risk split: one part too many",
        "if p <= g\n",
        "if p <= g + 1\n",
    ),
    Mutant(
        COMPOSITION,
        "wrong: the second of the three numbers",
        "else test.test.risk.worst[0] for test in tests]",
        "else test.test.risk.worst[1] for test in tests]",
    ),
    Mutant(
        COMPOSITION,
        "wrong: the risk of the best member",
        "else test.test.risk.worst[0] for test in tests]",
        "else min(test.test.risk.wrong) for test in tests]",
    ),
    Mutant(
        COMPOSITION,
        "abstention: as the paper has it, nothing off the path",
        "below[part] + risk.wrong[k] * (max(below) - below[part])",
        "below[part]",
    ),
    Mutant(
        COMPOSITION,
        "abstention: a truth that the test does not know never abstains",
        "            return Fraction(1)\n        k, part = alike[0]",
        "            return Fraction(0)\n        k, part = alike[0]",
    ),
    Mutant(
        COMPOSITION,
        "abstention: the test's own is forgotten",
        "min(risk.abstain[k] + below[part]",
        "min(below[part]",
    ),
    Mutant(
        COMPOSITION,
        "abstention: the luckiest hypothesis",
        "abstain = max(self.abstention",
        "abstain = min(self.abstention",
    ),
    Mutant(
        COMPOSITION,
        "abstention: more than beta is returned",
        "    if found is None or found.abstain <= beta:\n",
        "    if True:\n",
    ),
    Mutant(
        COMPOSITION,
        "abstention: a truth that the loop does not bring back is like one that it does",
        "if not alike or follow_word(self.task.model, s, node.loop) != s:",
        "if not alike:",
    ),
    Mutant(
        COMPOSITION,
        "walk: the way back is gone before the answer counts",
        "                return self._enter(self.children[v][decision.label])\n",
        "                return self._enter(self.children[v][-1 - decision.label])\n",
    ),
    Mutant(
        COMPOSITION,
        "walk: readings on the way back count",
        "        if place == 0:\n            inner",
        "        if True:\n            inner",
    ),
    Mutant(
        COMPOSITION,
        "walk: the loop is cut short",
        "(place + 1) % len(node.loop)",
        "(place + 1) % max(len(node.loop) - 1, 1)",
    ),
    Mutant(
        COMPOSITION,
        "loop: any word that keeps states apart",
        "        if here == home:\n",
        "        if len(words[here]) > 1 or here == home:\n",
    ),
    Mutant(
        COMPOSITION,
        "safety: actions that a truth off its path does not allow",
        "self.may_repeat = len(self.loops) == len(words) and self.is_safe()",
        "self.may_repeat = len(self.loops) == len(words)",
    ),
    Mutant(SEQUENTIAL, "threshold up: off by one", "if evidence >= self.up:", "if evidence > self.up:"),
    Mutant(
        SEQUENTIAL,
        "threshold down: off by one",
        "if evidence <= -self.down:\n            return Answer(0)",
        "if evidence < -self.down:\n            return Answer(0)",
    ),
    Mutant(SEQUENTIAL, "cap: off by one", "if taken >= self.cap:", "if taken > self.cap:"),
    Mutant(SEQUENTIAL, "cap: ignored", "if taken >= self.cap:", "if False:"),
    Mutant(
        SEQUENTIAL, "cap: one reading more is evaluated", "for _ in range(test.cap):", "for _ in range(test.cap + 1):"
    ),
    Mutant(
        SEQUENTIAL,
        "the thresholds enclose one point more",
        "inner = test.up + test.down - 1",
        "inner = test.up + test.down",
    ),
    Mutant(
        SEQUENTIAL, "least cap: one value of the bit only", "<= beta for value in (0, 1))", "<= beta for value in (0,))"
    ),
    Mutant(
        SEQUENTIAL,
        "least cap: one more than needed",
        "return bisect_left(range(high), True, lo=low, key=fits)",
        "return high",
    ),
    Mutant(
        SEQUENTIAL,
        "least threshold: one less",
        "    return k\n\n\ndef split_uniformly",
        "    return max(k - 1, 1)\n\n\ndef split_uniformly",
    ),
    Mutant(
        SEQUENTIAL,
        "least threshold: one more",
        "    return k\n\n\ndef split_uniformly",
        "    return k + 1\n\n\ndef split_uniformly",
    ),
    Mutant(
        SEQUENTIAL,
        "uniform split: all of alpha",
        "least_threshold(flip, alpha / m), beta / m)",
        "least_threshold(flip, alpha), beta / m)",
    ),
    Mutant(
        SEQUENTIAL,
        "uniform split: all of beta",
        "least_threshold(flip, alpha / m), beta / m)",
        "least_threshold(flip, alpha / m), beta)",
    ),
    Mutant(SEQUENTIAL, "best split: all of beta", "share, k = beta / m, [1] * m", "share, k = beta, [1] * m"),
    Mutant(SEQUENTIAL, "best split: stops above alpha", "while total > alpha:", "while total > 2 * alpha:"),
    Mutant(
        SEQUENTIAL,
        "best split: raises the dearest",
        "i = max(range(m), key=lambda j: (wrong",
        "i = min(range(m), key=lambda j: (wrong",
    ),
    Mutant(
        SEQUENTIAL,
        "best split: never lowered again",
        "if k[i] > 1 and total + wrong",
        "if k[i] > 10**6 and total + wrong",
    ),
    Mutant(
        SEQUENTIAL,
        "levels: the smaller risk",
        "LevelwiseRisk(max(refused, accepted)",
        "LevelwiseRisk(min(refused, accepted)",
    ),
    Mutant(SEQUENTIAL, "levels: abstention of one bit", "given_up = m * sum(", "given_up = sum("),
    Mutant(
        SEQUENTIAL,
        "levels: the smaller cost",
        "return max(self.cost_nominal, self.cost_other)",
        "return min(self.cost_nominal, self.cost_other)",
    ),
    Mutant(SEQUENTIAL, "levels: caps for all of beta", "beta / (2 * m * up), level)", "beta, level)"),
)


def outcome(mutant: Mutant) -> str:
    """What became of the mutant, in place of the module, when the tests ran."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(run_tests(mutant))
        finally:
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return "killed, out of time" if os.WTERMSIG(status) in {signal.SIGXCPU, signal.SIGKILL} else "killed, crashed"
    return "killed" if status else SURVIVED


def run_tests(mutant: Mutant) -> int:
    """In the child: the mutant is imported before anything that uses it, and the tests run in silence."""
    import pytest

    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    resource.setrlimit(resource.RLIMIT_CPU, (TIME_LIMIT[mutant.module],) * 2)
    spec = importlib.util.find_spec(mutant.module)
    assert spec is not None and spec.origin is not None
    text = Path(spec.origin).read_text("utf-8")
    source = text.replace(mutant.old, mutant.new) if mutant.old else text
    module = importlib.util.module_from_spec(spec)
    sys.modules[mutant.module] = module
    parent, _, name = mutant.module.rpartition(".")
    setattr(sys.modules[parent], name, module)
    exec(compile(source, spec.origin, "exec"), module.__dict__)
    options = ["-x", "-q", "-W", "ignore::pytest.PytestAssertRewriteWarning", "-p", "no:cacheprovider"]
    options += [option for plugin in ("cov", "xdist", "benchmark") for option in ("-p", f"no:{plugin}")]
    return int(pytest.main([*options, TESTS[mutant.module]]))


def count(module: str, text: str) -> int:
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).read_text("utf-8").count(text)


def preload() -> None:
    """Import what every child needs, but not the two modules: forks then start at once."""
    import hypothesis
    import numpy
    import pytest

    import ascertain.planning.lagrangian
    import ascertain.search.exact

    assert hypothesis and numpy and pytest and ascertain.search.exact
    assert not {COMPOSITION, SEQUENTIAL} & sys.modules.keys()


def main() -> int:
    words = sys.argv[1:]
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT)]
    mutants = [mutant for mutant in MUTANTS if all(word in f"{mutant.module} {mutant.what}" for word in words)]
    preload()
    for mutant in mutants:
        if count(mutant.module, mutant.old) != 1:
            print(f"{mutant.what}: the line to change does not stand once in {mutant.module}; the mutant must follow")
            return 2
    for module in dict.fromkeys(mutant.module for mutant in mutants):
        if outcome(Mutant(module, "no change", "", "")) != SURVIVED:
            print(f"the tests of {module} fail without any mutant; nothing can be learnt")
            return 2
    started, survivors = time.monotonic(), 0
    for mutant in mutants:
        became = outcome(mutant)
        survivors += became == SURVIVED
        print(f"{became}: {mutant.module.rpartition('.')[2]}: {mutant.what}", flush=True)
    print(f"{len(mutants)} mutants, {survivors} survived, {(time.monotonic() - started) / 60:.1f} minutes")
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
