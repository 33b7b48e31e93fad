"""Model files that are wrong, each with the sentence that says so."""

from __future__ import annotations

from fractions import Fraction

BAD_DOT = {
    'digraph {\n a -> b [label="x/y"]': "line 2: the file ends before the brace of line 1 is closed; add '}'",
    'digraph {\n a -> b [label="x/y"': "line 2: the file ends before the bracket of line 2 is closed; add ']'",
    'digraph {\n a -> b [label="x/y]\n}': "line 2: the string that begins here is not closed; add '\"'",
    "digraph {\n a -> b [label=<x<br/y>]\n}": "line 2: the HTML that begins here is not closed; each '<' needs its '>'",
    "digraph {\n\n /* a -> b }": "line 3: the comment that begins here is not closed; add '*/'",
    "digraph {\n a -> b-c }": "line 2: '-c' is not DOT; a name with such characters needs quotes around it",
    "digraph {\n 5a -> b }": "line 2: '5a' is not DOT; a name with such characters needs quotes around it",
    "digraph {\n a -- b }": "line 2: '--' joins nodes without direction; a transition is written '->'",
    "graph {\n a -- b }": "line 1: found 'graph'; a machine is written 'digraph { ... }'",
    "digraph { a -> node }": "line 1: found 'node' where a node, or '}' at the end, was expected; put quotes around it",
    "digraph { node }": "line 1: found '}' after 'node'; '[' was expected, or quotes around the word",
    "digraph { } digraph { }": "line 1: found 'digraph' after the closing brace; a file holds one digraph",
    'digraph { a [x="y" + z] }': "line 1: found 'z' after '+'; a string in quotes was expected",
    "hello": "line 1: found 'hello'; a machine is written 'digraph { ... }'",
    "digraph { }": "the digraph has no state; a machine needs at least one",
    "digraph { a }": "the digraph has no transition; a machine needs at least one",
    "digraph { a -> b }": "line 1: the edge from 'a' to 'b' has no label; 'input / output' was expected",
    'digraph { a -> b [label="x"] }': "line 1: the label \"x\" has a line without '/'; a transition is written "
    "'input / output'",
    'digraph { a -> b [label="/x"] }': "line 1: the label \"/x\" has no input before '/'; a transition is written "
    "'input / output'",
    r'digraph { a -> b [label="x/y\nz"] }': "line 1: the label \"x/y\\nz\" has a line without '/'; a transition is "
    "written 'input / output'",
    "digraph { a -> b [label=<<table><tr><td>x</td><td>y</td><td>z</td></tr></table>>] }": "line 1: the label "
    "<<table><tr><td>x</td><td>y</td><td>z</td></tr></table>> has a row of 3 cells; 'input', '/', 'output' were "
    "expected",
    r'digraph { a -> b [input="\d" output=x] }': 'line 1: "\\d" is not written with the escapes of a JSON string',
    'digraph { __start0 -> a\n __start1 -> a; a -> a [label="x/y"] }': "line 2: state 'a' is marked as initial again, "
    "after line 1; once is enough",
    'digraph { a -> __start0 [label="x/y"] }': "line 1: the edge leads to '__start0', which marks the initial state "
    "and is not a state",
    'digraph { a -> b [label="x/y"]\n b -> b [label="x/y"]\n a -> b [label="x/y"] }': "line 3: action 'x' in state 'a' "
    "is given again, after line 1; each transition must stand once",
    'digraph { a -> b [label="x/y"]\n a -> a [label="x/z"] }': "line 2: action 'x' in state 'a' leads to 'a' reading "
    "'z', but on line 1 to 'b' reading 'y'; a machine has one transition for each state and action",
    'digraph { a -> b [label="x/y\\nx/z"] }': "line 1: action 'x' in state 'a' leads to 'b' reading 'z', but on line 1 "
    "to 'b' reading 'y'; a machine has one transition for each state and action",
    'digraph { ascertain="{"; a -> b [label="x/y"] }': "the graph's attribute 'ascertain' is not JSON; an object in a "
    "JSON string was expected",
    'digraph { ascertain="[]"; a -> b [label="x/y"] }': "the graph's attribute 'ascertain' must hold an object with "
    "any of actions, readings, initial, origin",
    r'digraph { ascertain="{\"x\":1}"; a -> b [label="x/y"] }': "the graph's attribute 'ascertain' has the key 'x'; "
    "known are actions, readings, initial, origin",
    r'digraph { ascertain="{\"origin\":[1]}"; a -> b [label="x/y"] }': "the graph's attribute 'ascertain': origin must "
    "be an object from states to names",
    r'digraph { ascertain="{\"actions\":[\"x\",\"x\"]}"; a -> b [label="x/y"] }': "the graph's attribute 'ascertain': "
    "actions must be a list of different names",
    r'digraph { ascertain="{\"initial\":[\"a\"]}"; a -> b [label="x/y"] }': "the graph's attribute 'ascertain': "
    "initial must be an empty list",
    r'digraph { ascertain="{\"origin\":{\"a\":\"m\"}}"; a -> b [label="x/y"] }': "origin must name exactly the states; "
    "'b' is only in one of the two",
    'digraph { a [ascertain=b]; a -> b [label="x/y"] }': "the state 'b' is listed twice; names must differ",
}

GOOD = ["idle", "open", "ok", "idle"]
LISTED = {"states": ["idle", "open"], "actions": ["open"], "readings": ["ok"]}
BAD_DATA: list[tuple[object, str]] = [
    ([], "a list stands where a model should; a table with 'transitions' was expected"),
    ({}, "'transitions' is missing; a list of [state, action, reading, next state] was expected"),
    ({"transition": []}, "'transition' is not a key of a model; did you mean 'transitions'?"),
    ({"qqq": 1}, "'qqq' is not a key of a model; known are format, version, initial, transitions, states, actions, "
     "readings, laws, origin"),
    ({"format": "x", "transitions": []}, "format is 'x'; 'ascertain-model' was expected"),
    ({"version": 2, "transitions": []}, "version is the integer 2; this reader knows version 1"),
    ({"version": True, "transitions": []}, "version is true or false; this reader knows version 1"),
    ({"transitions": {}}, "transitions is a table; a list was expected"),
    ({"transitions": []}, "a model needs at least one state; it has none"),
    ({"transitions": ["x"]}, "transitions[0] is a string; [state, action, reading, next state] was expected"),
    ({"transitions": [GOOD[:3]]}, "transitions[0] has 3 parts; [state, action, reading, next state] was expected"),
    ({"transitions": [["a", 1, "b", "c"]]}, "transitions[0][1] is an integer; a name in quotes was expected"),
    ({"transitions": [["a", "x", None, "c"]]}, "transitions[0][2] is null; a name in quotes was expected"),
    ({"transitions": [["a", "x", 0.5, "c"]]}, "transitions[0][2] is a number with a point; a name in quotes was "
     "expected"),
    ({**LISTED, "transitions": [GOOD, ["idle", "open", "ok", "opne"]]}, "transitions[1]: action 'open' in state "
     "'idle' leads to 'opne', which is not a state; did you mean 'open'?"),
    ({**LISTED, "transitions": [["idel", "open", "ok", "idle"]]}, "transitions[0]: 'idel' is not a state; did you mean "
     "'idle'?"),
    ({**LISTED, "transitions": [["idle", "opn", "ok", "idle"]]}, "transitions[0]: 'opn' is not an action; did you mean "
     "'open'?"),
    ({**LISTED, "transitions": [["idle", "open", "zz", "idle"]]}, "transitions[0][2]: 'zz' is not a reading"),
    ({**LISTED, "initial": "idl", "transitions": [GOOD]}, "initial: 'idl' is not a state; did you mean 'idle'?"),
    ({"initial": ["idle", "idle"], "transitions": [GOOD]}, "initial lists 'idle' twice; names must differ"),
    ({"initial": 0, "transitions": [GOOD]}, "initial is an integer; a list was expected"),
    ({"states": ["a", "a"], "transitions": [GOOD]}, "states lists 'a' twice; names must differ"),
    ({"states": "a", "transitions": [GOOD]}, "states is a string; a list was expected"),
    ({"states": [True], "transitions": [GOOD]}, "states[0] is true or false; a name in quotes was expected"),
    ({"transitions": [GOOD, GOOD]}, "transitions[1]: action 'open' in state 'idle' is given in transitions[0] already; "
     "once is right"),
    ({"origin": ["m", "n"], "transitions": [GOOD]}, "origin has 2 entries; each of the 1 states needs one"),
    ({"transitions": [["s", "a", {"x": 0.5}, "s"]]}, "transitions[0][2]: the probability of 'x': 0.5 is not an exact "
        'number; write an integer or a text such as "1/50" or "0.02"'),
    ({"transitions": [["s", "a", {"x": "1/0"}, "s"]]}, "transitions[0][2]: the probability of 'x': '1/0' divides by "
        "zero"),
    ({"transitions": [["s", "a", {"x": "1e999999999"}, "s"]]}, "transitions[0][2]: the probability of 'x': "
        "'1e999999999' " 'is not a number; write it like 3, "1/50", "0.02" or "2.5e-7"'),
    ({"transitions": [["s", "a", {"x": "-1"}, "s"]]}, "transitions[0][2]: the probability of 'x' is negative"),
    ({"transitions": [["s", "a", {"x": "1/2"}, "s"]]}, "transitions[0][2]: the probabilities sum to 1/2; they must sum "
     "to 1"),
    ({"transitions": [["s", "a", {}, "s"]]}, "transitions[0][2]: the probabilities sum to 0; they must sum to 1"),
    ({"transitions": [["s", "a", {"x": 10**4000}, "s"]]}, "transitions[0][2]: the probabilities do not sum to 1; they "
     "must sum to 1"),
    ({"transitions": [["s", "a", {f"y{i}": Fraction(1, 10**900 + i) for i in range(9)}, "s"]]}, "transitions[0][2]: "
     "the probabilities need a huge common denominator; round them"),
    ({"laws": ["x"], "transitions": [GOOD]}, "laws[0] is a string; a table of readings was expected"),
    ({"laws": [{"x": 1}, {"x": 1}], "transitions": [GOOD]}, "laws[1] is listed before; each law may stand once"),
]  # fmt: skip

BAD_JSON = {
    '{"transitions": [\n  1 2]}': "line 2, column 5: this is not JSON (expecting ',' delimiter); JSON text "
    "was expected",
    '{"a": 1, "a": 2}': "the key 'a' stands twice in one object; each key may stand once",
    '{"a": NaN}': "NaN is not a number of JSON; write an integer, or a rational as '1/2'",
    '{"a": -Infinity}': "-Infinity is not a number of JSON; write an integer, or a rational as '1/2'",
    "[" * 200_000: "the JSON is nested too deeply; a model needs four levels",
    f'{{"version": {"9" * 5000}}}': "an integer has too many digits; at most 4300 are read",
    '{"states": ["\x01"]}': "line 1, column 14: this is not JSON (invalid control character at); JSON text "
    "was expected",
}
