"""Boolean networks: .bnet files, enumerated machines and Boolean plants that all update alike."""

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.errors import AscertainError
from ascertain.model.expression import parse_expression
from ascertain.model.files import read_model
from ascertain.model.files.bnet import parse_bnet, write_bnet
from ascertain.model.network import BooleanNetwork
from ascertain.problem.problem import read_problem

from .reference.network import update

DAMAGE = """
targets, factors
Damage, Damage      # an input
p53, Damage & !Mdm2
Mdm2, p53 | (Mdm2 & !Damage)
Arrest, p53
"""
NAMES = ("A", "not", "c_3", "D.x", "e-1")


@st.composite
def rules(draw: st.DrawFn, names: tuple[str, ...], depth: int = 3) -> str:
    kind = draw(st.sampled_from("nncbbb!")) if depth else draw(st.sampled_from("nnc"))
    if kind == "n":
        return draw(st.sampled_from(names))
    if kind == "c":
        return draw(st.sampled_from(["0", "1", "true", "False"]))
    if kind == "!":
        return f"!{draw(rules(names, depth - 1))}"
    return f"({draw(rules(names, depth - 1))} {draw(st.sampled_from('&|'))} {draw(rules(names, depth - 1))})"


@st.composite
def networks(draw: st.DrawFn, names: tuple[str, ...] = NAMES) -> BooleanNetwork:
    used = names[: draw(st.integers(1, len(names)))]
    known = (*used, "free")  # no line updates it
    lines = [f"{name}, {draw(rules(known))}" for name in used]
    network = parse_bnet("\n".join([*lines, f"last, {draw(rules(known))}"]), "drawn")
    number = draw(st.integers(0, min(2, len(network.variables) - 1)))
    inputs = set(draw(st.permutations(network.variables))[:number])
    inputs |= {name for name, rule in zip(network.variables, network.rules, strict=True) if rule is None}
    left = [name for name in network.variables if name not in inputs]
    if not left:
        inputs.remove("last")
        left = ["last"]
    return network.declare(sorted(inputs), draw(st.permutations(left))[: draw(st.integers(1, len(left)))])


def everywhere(network: BooleanNetwork) -> list[dict[int, bool]]:
    return [dict(enumerate(bits)) for bits in product((False, True), repeat=len(network.variables))]


def spell(network: BooleanNetwork, numbers: tuple[int, ...], valuation: dict[int, bool]) -> str:
    return " ".join(f"{network.variables[v]}={int(valuation[v])}" for v in numbers)


@given(networks())
def test_machine_and_plant_update_as_the_rules_say(network: BooleanNetwork) -> None:
    machine, plant = network.machine(), network.plant()
    scratch = "0" * (plant.num_bits - len(network.bits))
    for before in everywhere(network):
        after = update(network.rules, before)
        action = spell(network, network.inputs, before) or "update"
        s = machine.states.index(spell(network, network.state_variables, before))
        a = machine.actions.index(action)
        assert machine.states[machine.successor[s, a]] == spell(network, network.state_variables, after)
        assert machine.readings[machine.output[s, a]] == spell(network, network.observed, after)
        bits = "".join(str(int(before[v])) for v in reversed(network.state_variables))
        expected = "".join(str(int(after[v])) for v in reversed(network.state_variables))
        for v in network.observed:
            command = plant.action_named(f"{action}: {network.variables[v]}")
            reached, tapped = plant.step(plant.state_named(scratch + bits), command)
            assert (plant.name_state(reached), tapped) == (scratch + expected, int(after[v]))


@given(networks(("A", "B", "C", "D", "E")))
def test_aeon_reads_what_we_write_and_we_read_what_aeon_writes(network: BooleanNetwork) -> None:
    aeon = pytest.importorskip("biodivine_aeon", reason="the oracle for .bnet files is not installed")
    theirs = aeon.BooleanNetwork.from_bnet(write_bnet(network))
    again = parse_bnet(theirs.to_bnet(), "aeon")
    assert set(again.variables) == set(network.variables)
    place = [again.variables.index(name) for name in network.variables]
    for before in everywhere(network):
        after = update(network.rules, before)
        there = update(again.rules, {place[v]: x for v, x in before.items()})
        assert {v: there[place[v]] for v in after} == after
        asynchronous = {name: before[v] for v, name in enumerate(network.variables)}
        for v, name in enumerate(network.variables):
            function = theirs.get_update_function(name)
            if function is not None:
                assert evaluate(function, asynchronous, theirs) == after[v]


def evaluate(function, valuation: dict[str, bool], network) -> bool:  # type: ignore[no-untyped-def]
    """An update function of biodivine_aeon, evaluated by its own structure."""
    if function.is_const():
        return bool(function.as_const())
    if function.is_var():
        return valuation[network.get_variable_name(function.as_var())]
    if function.is_not():
        return not evaluate(function.as_not(), valuation, network)
    op, left, right = function.as_binary()
    a, b = evaluate(left, valuation, network), evaluate(right, valuation, network)
    return {"and": a and b, "or": a or b}[op]


def test_inputs_are_variables_that_keep_themselves_or_have_no_rule() -> None:
    network = parse_bnet(DAMAGE + "Repair, Arrest & Enzyme\n", "cell")
    assert [network.variables[v] for v in network.inputs] == ["Damage", "Enzyme"]
    assert network.bits == ("p53", "Mdm2", "Arrest", "Repair")


def test_an_input_without_a_rule_may_be_used_often() -> None:
    network = parse_bnet("A, (X & B) | (X & !A)\nB, A & X & X\n", "twice")
    assert network.variables == ("A", "B", "X")
    assert network.inputs == (2,)


def test_all_state_variables_are_observed_however_inputs_are_declared_and_however_many_there_are() -> None:
    network = parse_bnet("A, B & !C\nB, A | C\nC, C\nD, D\n", "cell")
    assert [network.variables[v] for v in network.observed] == ["A", "B"]
    assert [network.variables[v] for v in network.declare(inputs=["A"]).observed] == ["B", "C", "D"]
    assert network.declare(observed=["B"]).declare(inputs=["A"]).observed == (1,)
    wide = parse_bnet("\n".join(f"v{i}, v{(i + 1) % 20}" for i in range(20)), "wide")
    assert len(wide.plant().commands) == 20
    with pytest.raises(AscertainError, match="more than 2097152 gates"):
        parse_bnet("\n".join(f"v{i}, v{i} | x & !y{i % 9}" + f" & !v{i}" * 20 for i in range(50)), "large").plant()


@pytest.mark.parametrize("sign", "&|")
def test_wide_and_deep_rules_come_back(sign: str) -> None:
    names = [f"v{i}" for i in range(60)]
    wide = f" {sign} ".join(names)
    left, right = "(" * 59 + names[0], names[-1] + ")" * 59
    left += "".join(f" {sign} {name})" for name in names[1:])
    right = "".join(f"({name} {sign} " for name in names[:-1]) + right
    for rule in (wide, left, right, "!" * 4000 + "v1", "(" * 4000 + "v1" + ")" * 4000):
        network = parse_bnet(f"A, {rule}", "wide")
        again = parse_bnet(write_bnet(network), "again")
        assert again.rules[0] is not None and network.rules[0] is not None
        assert again.rules[0].program == network.rules[0].program
    aeon = pytest.importorskip("biodivine_aeon", reason="the oracle for .bnet files is not installed")
    theirs = aeon.BooleanNetwork.from_bnet(write_bnet(parse_bnet(f"A, {wide}", "wide"))).to_bnet()
    rule = parse_bnet(theirs, "aeon").rules[0]
    assert rule is not None
    assert rule.program.count("and" if sign == "&" else "or") == 59


def test_a_rule_that_bnet_cannot_say_shortly_is_not_written() -> None:
    rule = parse_expression(" xor ".join(f"v{i % 4}" for i in range(40)), ["v0", "v1", "v2", "v3"])
    network = BooleanNetwork(("v0", "v1", "v2", "v3"), (rule, None, None, None), (1, 2, 3), (0,))
    with pytest.raises(AscertainError, match=r"more than 10000 characters in \.bnet"):
        write_bnet(network)


def test_a_problem_declares_what_is_observed_and_asks_about_bits(tmp_path: Path) -> None:
    (tmp_path / "cell.bnet").write_text(DAMAGE)
    head = "model = 'cell.bnet'\n[network]\nobserved = ['Arrest']\n"
    path = tmp_path / "p.toml"
    path.write_text(head + "[task]\nlabel = { expression = 'p53 and not Mdm2' }\n[noise]\nflip = '1/10'\n")
    task = read_problem(path).task
    assert task.model.actions == ("Damage=0", "Damage=1")
    assert task.model.readings == ("Arrest=0", "Arrest=1")
    assert task.labels[task.label[task.model.states.index("p53=1 Mdm2=0 Arrest=1")]] == "true"
    path.write_text(head + "as = 'plant'\n[noise]\nflip = '1/10'\n[task]\nlabel = { bits = ['p53'] }\n")
    problem = read_problem(path)
    assert problem.question.model.kind == "boolean"
    assert problem.question.model.actions == ("Damage=0: Arrest", "Damage=1: Arrest")
    assert read_model(tmp_path / "cell.bnet").num_states == 8  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the file has no rules"),
        ("A B", r"net:1: 'A B' is not a line VARIABLE, RULE"),
        ("A,", "is not a line VARIABLE, RULE"),
        ("3A, 1", "'3A' is not the name of a variable"),
        ("A, 1\nA, 0", "net:2: variable 'A' has a second rule; the first is in line 1"),
        ("A, B &", "net:1: it ends where a variable was expected"),
        ("A, B and not C", "'and' stands where '&', '|' or the end was expected"),
        ("A, B && C", "'&' stands where a variable was expected"),
        ("A, B) & C", r"'\)' stands where '&', '|' or the end was expected"),
        ("A, (B", "a parenthesis is not closed"),
        ("A, B @ C", "'@ C' is not understood in a rule"),
        ("A, 2", "'2' is not understood in a rule"),
        ("A, " + "B" * 10_001, "10001 characters; at most 10000"),
        ("A, A", "nothing is left to be found out"),
        ("\n".join(f"v{i}, v{i + 1}" for i in range(70)), "more than 64 variables"),
        ("A, " + " & ".join(f"i{k}" for k in range(11)), "11 inputs"),
        ("\n".join(f"v{i}, v{i}" + f" | !v{i}" * 400 for i in range(15)) + "\nv, a & b & c", "too long to list"),
    ],
)
def test_what_is_wrong_with_a_network_is_said(text: str, sentence: str) -> None:
    with pytest.raises(AscertainError, match=sentence):
        parse_bnet(text, "net").machine()


@pytest.mark.parametrize(
    ("section", "sentence"),
    [
        ("observed = ['Arest']", "did you mean 'Arrest'"),
        ("inputs = []\nobserved = []", "at least one observed variable"),
        ("observed = ['Damage']", "inputs are not observed"),
        ("as = 'net'", "write one of 'machine', 'plant'"),
        ("input = ['Damage']", "did you mean 'inputs'"),
    ],
)
def test_what_is_wrong_with_a_declaration_is_said(tmp_path: Path, section: str, sentence: str) -> None:
    (tmp_path / "cell.bnet").write_text(DAMAGE)
    (tmp_path / "p.toml").write_text(f"model = 'cell.bnet'\n[network]\n{section}\n")
    with pytest.raises(AscertainError, match=sentence):
        read_problem(tmp_path / "p.toml")


def test_sections_of_one_format_are_refused_for_another(tmp_path: Path) -> None:
    (tmp_path / "lamp.kiss2").write_text(".i 1\n.o 1\n0 off on -\n1 off off 1\n0 on on 1\n")
    path = tmp_path / "p.toml"
    path.write_text("model = 'lamp.kiss2'\ndont_care = 'completed'\n")
    assert read_problem(path).task.model.successor.min() >= 0
    path.write_text("model = 'lamp.kiss2'\n")
    assert read_problem(path).task.model.successor.min() < 0
    path.write_text("model = 'lamp.kiss2'\n[network]\ninputs = []\n")
    with pytest.raises(AscertainError, match="is for one Boolean network"):
        read_problem(path)
    (tmp_path / "cell.bnet").write_text(DAMAGE)
    path.write_text("model = 'cell.bnet'\ndont_care = 'completed'\n")
    with pytest.raises(AscertainError, match="dont_care is for KISS2 files"):
        read_problem(path)
    path.write_text("model = 'cell.bnet'\nmodels = ['cell.bnet']\n")
    with pytest.raises(AscertainError, match="not both"):
        read_problem(path)


def test_words_about_a_format_hold_for_several_models_too(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.kiss2").write_text(".i 1\n.o 1\n0 off on -\n1 off off 1\n0 on on 1\n")
    (tmp_path / "cell.bnet").write_text(DAMAGE)
    path = tmp_path / "p.toml"
    path.write_text("models = ['one.kiss2', 'two.kiss2']\ndont_care = 'completed'\n")
    assert read_problem(path).task.model.successor.min() >= 0
    path.write_text("models = ['one.kiss2', 'two.kiss2']\n")
    assert read_problem(path).task.model.successor.min() < 0
    for words, sentence in (
        ("models = ['one.kiss2', 'two.kiss2']\ndont_care = 'perhaps'\n", "dont_care"),
        ("models = ['one.kiss2', 'cell.bnet']\n[network]\ninputs = []\n", "is for one Boolean network"),
        ("models = ['one.kiss2', 'cell.bnet']\ninexact_rows = 'refused'\n", "inexact_rows is for .POMDP files"),
        ("models = ['cell.bnet']\ndont_care = 'completed'\n", "dont_care is for KISS2 files"),
    ):
        path.write_text(words)
        with pytest.raises(AscertainError, match=sentence):
            read_problem(path)
