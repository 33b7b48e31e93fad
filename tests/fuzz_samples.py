"""Small samples of every format, valid as they stand, that the fuzzer's inputs begin as."""

from __future__ import annotations

from typing import Any

KISS = b"""# a lamp
.i 2
.o 1
.s 2
.p 5
.r off
-1 off on 1
10 off off -
00 off * 0
1- on on 1
01 on off 0
.e
"""
KISSES = (
    b".i 1\n.o 1\n.s 3\n.p 5\n- up mid 1\n0 mid up 0\n1 mid low 0\n0 low low 1\n1 low up -\n",
    b".i 2\n.o 1\n-0 a b 1\n01 a c 0\n11 a d 0\n-- b a 0\n1- c d 1\n0- c a 0\n00 d a 1\n01 d b 1\n10 d c 1\n11 d d 1\n",
    b".i 3\n.o 2\n.p 5\n.s 2\n-00 a b 01\n1-1 a a 10\n010 b * 11\n--1 b a -0\n110 * b 00\n",
)
ALPHABETS = (
    b"<a><i>" + b" and on it goes, whatever is changed in it" * 6 + b"</i><i>the other one</i></a>",
    b"<a><!-- " + b"a comment that says nothing at all " * 6 + b"--><i>HELO</i><i name='AUTH'/></a>",
    b"<a><Hello name='HI'/><G name='DATA'><d><v>" + b"0x54686973206973" * 12 + b"</v></d></G><Finished/></a>",
)
MODELS: list[dict[str, Any]] = [
    {
        "format": "ascertain-model",
        "version": 1,
        "initial": "shut",
        "states": ["shut", "ajar"],
        "origin": ["m", "m"],
        "transitions": [["shut", "open", "ok", "ajar"], ["ajar", "look", {"wide": "9/10", "dark": "1/10"}, "ajar"]],
    },
    {"transitions": [["a", "x", "0", "b"], ["b", "x", "1", "a"], ["a", "y", "0", "a"]], "initial": ["a", "b"]},
    {
        "kind": "hidden",
        "initial": [{"l": "1/2", "r": "1/2"}, {"l": 1}],
        "transitions": [
            ["l", "listen", [["l", "hear-l", "17/20"], ["l", "hear-r", "3/20"]]],
            ["r", "listen", [["r", "hear-l", "3/20"], ["r", "hear-r", "17/20"]]],
        ],
    },
]
POMDP = b"""discount: 1
values: cost
states: 3
actions: go stay
observations: a b
start include: 0 1
T: go : 0 0 1/2 1/2
T: go : 1 uniform
T: go : 2 reset
T: stay identity
O: * : 0 : a 1
O: * : 1 0.25 0.75
O: go : 2 uniform
O: stay : 2
uniform
R: * : * : * : * -1
"""
EXPRESSIONS = ("b0 and not (b1 or b2)", "'b1' xor true or 0 and b2", "not not (((b0)))", "open[0] and 'and' or b.x")
RATIONALS = ("3", "1/50", "0.02", "2.5e-7", "-1_000/7", " +12.50E+3 ")
LINES = (
    b"plant lamp retry-safe last=0\n1 dark\n2 ?smoke\n3 lit%20up\n3 lit%20up\n",
    b"plant la%20mp\n1 dark\r\n1 dark\n2 !stuck\n3 ~\n",
    b"plant % last=0\n1 %\n2 a b\n4 late\n3 x\n",
)
LOG = b"""{"command": "wait", "reading": "waited", "trusted": true}
{"command": "wait", "reading": "waited"}
"""
CSV = b"""command,reading,trusted
wait,waited,true
gauge,"low, or so",no
"""
DIGRAPH = b"""digraph {
low -> low [label="wait/waited"];
low -> high [label="gauge/up"];
high -> low [label="wait/waited"];
high -> high [label="gauge/down"];
}
"""
NETWORK = b"""targets, factors
A, A
p53, A & !(M | p53)
M, p53 | (M & !A)
"""
NETWORKS = (b"up, !down & go\ndown, up\n", b"# one\nx, (!x | 0) & true\n")
PLANT = b"""bits = ["lid", "hot"]
flip = "1/50"
[[command]]
name = "shut"
gates = [["set", "lid"], ["and", "hot", "hot", "lid"]]
tap = "lid"
[[command]]
name = "look"
gates = []
tap = "hot"
"""
HIDDEN = b"""states: l r
actions: look
observations: l r
start: uniform
T: look identity
O: look
0.75 1/4
0.25 0.75
"""
TESTBED = b"""name = "tiny"
bits = 10
operations_per_family = 3
actuating = { commands = 16, gates = [1, 3] }
probing = { commands = 12, gates = 2 }
stream = { commands = 100, flip = "1/50" }
risk = { eager = "1/2000", staged = "1/4000" }
[operation]
commands = 24
alternatives = 4
replaced = 2
trusted_every = 4
flip = "1/10"
window = { replacements = [0, 0], flips = [2, 2] }
[[plant]]
name = "first"
seed = 1
actuating = { and = 10, set = 7 }
probing = { cnot = 1 }
[[family]]
name = "one"
replacements = 1
last = [1, 12]
active = 1
"""
BESIDE = {
    "before.jsonl": LOG,
    "plant.csv": b"command,reading\nshut,1\nlook,0\n",
    "one.dot": b'digraph { s -> s [label="wait/waited"] }',
    "two.dot": DIGRAPH,
    "two.bnet": NETWORK,
    "two.toml": PLANT,
    "two.pomdp": HIDDEN,
}
"""What problem files name."""
PROBLEMS = (
    b"""model = "two.dot"
undefined = "self-loop"
[task]
hypotheses = { log = "before.jsonl" }
label = { nominal = "low" }
about = "current"
actions = ["wait", "gauge"]
[cost]
default = 1
wait = "5/2"
[weights]
low = "1/3"
[reset]
action = "RESET"
reading = "again"
to = "low"
[risk]
alpha = "1/2000000"
beta = "1/100"
""",
    b"""model = "two.dot"
noise = { flip = "1/50" }
[task]
hypotheses = ["low", "high"]
[observe]
nominal = "low"
budget = 600
policy = "readwise"
threshold = 100
probing = "separating"
limits = { wait = 3 }
nominal_share = "1/2"
rejection = "1/1000"
doublings = 4
compiler = "merging"
shells = 3
[operation]
log = "before.jsonl"
start = "low"
replaced = 1
alternatives = { wait = ["", ["wait", "wait"]], "*" = ["wait"] }
window = { replacements = [0, 1], flips = [0, 4] }
""",
    b"""safety = { never = ["lit"] }
[model]
initial = "dark"
transitions = [
  ["dark", "press", "click", "lit"],
  ["lit", "look", { lit = "19/20", dark = "1/20" }, "lit"],
]
""",
    b"""model = "two.bnet"
network = { observed = ["M"], as = "plant" }
task = { label = { expression = "p53 and not M" } }
""",
    b"""model = "two.bnet"
network = { inputs = ["A"], observed = ["M"] }
task = { label = { pattern = "(A=.)" }, about = "current" }
""",
    b"""model = "two.toml"
task = { label = { bits = ["hot"] } }
operation = { log = "plant.csv", start = "00", replaced = 1, alternatives = { shut = ["", "look"] } }
""",
    b"""model = "two.pomdp"
task = { actions = ["look"], hypotheses = { beliefs = { left = { l = 1 }, some = { l = "1/2", r = "1/2" } } } }
risk = { alpha = "1/1000" }
""",
    b"""models = ["two.dot", "one.dot"]
task = { hypotheses = "initial", label = "machine", actions = "common" }
reset = { action = "RESET" }
""",
)
SMALL = 1500
"""Bytes of a certificate and its task; longer ones are rare."""
