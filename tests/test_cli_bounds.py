"""`ascertain bounds` as a person meets it: both sides, the hardest pair, certificates, drawings and refusals."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ascertain.cli.verbs.bounds import command
from ascertain.errors import FileError, LimitError, TaskError
from ascertain.model.named import shift_register
from ascertain.pipeline.bound import Bounds, bound, bound_around, round_decimals_up
from ascertain.planning.composition import CertifiedTree
from ascertain.policy.evaluate import evaluate
from ascertain.problem.pose import pose
from ascertain.problem.problem import read_problem
from ascertain.task.task import Task
from tests.conftest import LAMP, ROOT
from tests.reference.registers import far_sensor
from tests.test_cli import answer, complaint, run

VALVE = ROOT / "examples" / "valve"
RISKS = ("--alpha", "1/1000", "--beta", "1/100")
FAR_SENSOR = pose(far_sensor(3), flip=Fraction(1, 10), about="current", alpha="1/100", beta="1/100")


def test_both_sides_are_given_by_method_and_they_are_close(tmp_path: Path) -> None:
    path = tmp_path / "lamp.json"
    facts = answer("bounds", LAMP, *RISKS, "--certificate", path)
    assert (facts["alpha"], facts["beta"], facts["vacuous"], facts["obstructed"]) == ("1/1000", "1/100", False, False)
    lower = {name: Fraction(value) for name, value in facts["lower"].items()}  # type: ignore[attr-defined]
    upper, ratio = Fraction(facts["upper"]), Fraction(facts["ratio"])  # type: ignore[arg-type]
    assert 0 < lower["pairwise"] <= lower["program"] <= lower["best"] <= upper
    assert upper == min(Fraction(value) for value in facts["upper_by_method"].values())  # type: ignore[attr-defined]
    assert 1 <= ratio <= Fraction(11, 10)
    assert abs(ratio - upper / lower["best"]) < Fraction(1, 10**6)
    assert Fraction(facts["risk"]["wrong"]) <= Fraction(1, 1000)  # type: ignore[index]
    assert Fraction(facts["risk"]["abstain"]) <= Fraction(1, 100)  # type: ignore[index]
    assert facts["certificate"] == "VERIFIED"
    kinds = [claim["claim"] for claim in json.loads(path.read_text())["claims"]]
    assert kinds == ["information", "program", "prices", "openings", "within-risk"]
    certified = facts["certified"]
    assert set(certified["lower"]) == set(lower)  # type: ignore[index]
    sure = Fraction(certified["lower"]["best"])  # type: ignore[index]
    assert lower["best"] * Fraction(999, 1000) <= sure <= lower["best"]
    assert Fraction(certified["upper"]) <= upper  # type: ignore[index]
    assert Fraction(certified["ratio"]) <= ratio * Fraction(1001, 1000)  # type: ignore[index]
    assert certified["upper_by_method"]["uniform tree"] is None  # type: ignore[index]
    claimed = {claim["claim"]: claim["cost"] for claim in json.loads(path.read_text())["claims"]}
    assert certified["lower"]["openings"] == claimed["openings"]  # type: ignore[index]
    assert run("verify", tmp_path / "lamp.task.json", path).returncode == 0


def test_every_row_says_what_the_certificate_proves_of_it_and_the_headline_is_certified(tmp_path: Path) -> None:
    shown = run("bounds", LAMP, *RISKS, "--certificate", tmp_path / "lamp.json").stdout
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.splitlines() if "│" in line]
    certified = {(side, name): sure for side, name, _, sure in rows if side in ("lower bound", "achieved")}
    assert certified["achieved", "uniform tree"] == "no"
    assert certified["lower bound", "best"] == certified["lower bound", "openings"] == "3.136"
    lines = shown.splitlines()
    best = certified["achieved", "best"]
    after = lines[lines.index("Certificate: VERIFIED") + 1]
    assert after.startswith(f"Certified: at least 3.136, at most {best}, within a factor of ")
    plain = run("bounds", LAMP, *RISKS).stdout
    assert "ertified" not in plain


def test_what_is_not_certified_is_said_to_be_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ascertain.planning.price_rows.MAX_ROWS", 2)
    monkeypatch.setattr("ascertain.planning.opening_cases.MAX_ROWS", 2)
    found = bound(LAMP, "1/1000", "1/100", certified=True)
    assert [remark.split(":")[0] for remark in found.remarks] == [
        "the bound by prices is not certified",
        "the bound by openings is not certified",
    ]
    sure = found.certified
    assert sure is not None
    assert sure.best == found.lower["program"]
    assert sure.covers("openings", found.lower["openings"]) == (False, 0)
    assert sure.covers("pairwise", found.lower["pairwise"]) == (True, found.lower["pairwise"])
    facts = found.facts()["certified"]
    assert facts["lower"]["openings"] is None
    assert Fraction(facts["ratio"]) > Fraction(found.facts()["ratio"])


def test_the_hardest_pair_is_explained_by_what_is_read_where_it_is_told_apart() -> None:
    hardest = answer("bounds", LAMP, *RISKS)["hardest"]
    assert sorted(hardest["states"]) == ["dark", "lit"]  # type: ignore[index]
    assert hardest["action"] == "look"  # type: ignore[index]
    assert {row[0]: sorted(row[1:]) for row in hardest["readings"]} == {  # type: ignore[index]
        "dark": ["1/20", "19/20"],
        "lit": ["1/20", "19/20"],
    }
    # KL of a coin of 19/20 against one of 1/20: 9/10 log 19.
    assert float(Fraction(hardest["rate"])) == pytest.approx(0.9 * 2.944438979, rel=1e-9)  # type: ignore[index]
    shown = run("bounds", LAMP, *RISKS).stdout
    assert "Hardest pair: 'dark'" in shown
    assert "nats for each unit of cost" in shown


def test_without_noise_both_sides_are_the_optimum_and_the_pair_has_its_word(tmp_path: Path) -> None:
    facts = answer("bounds", VALVE / "leak.toml", "--certificate", tmp_path / "leak.json")
    assert (facts["upper"], facts["ratio"], facts["lower"]["best"]) == ("24", "1", "24")  # type: ignore[index]
    assert facts["upper"] == answer("solve", VALVE / "leak.toml")["upper"]
    assert "vent, wait, gauge" in facts["hardest"]["why"]  # type: ignore[index]
    assert facts["certificate"] == "VERIFIED"


def test_an_obstructed_question_names_its_pair(tmp_path: Path) -> None:
    path = tmp_path / "no.json"
    facts = answer("bounds", VALVE / "serviced.toml", *RISKS, "--certificate", path, code=1)
    assert facts["obstructed"] is True
    assert facts["hardest"]["states"] == ["tight-low", "tight-low-serviced"]  # type: ignore[index]
    assert (facts["lower"]["best"], facts["upper"], facts["ratio"]) == ("inf", "inf", None)  # type: ignore[index]
    assert facts["certificate"] == "VERIFIED"
    assert "Obstructed: states 'tight-low'" in run("bounds", VALVE / "serviced.toml").stdout


def test_risks_that_ask_for_nothing_are_said_to_be_vacuous() -> None:
    done = run("bounds", LAMP, "--alpha", "1/2")
    assert (done.returncode, "vacuous" in done.stdout) == (0, True)
    for alpha, beta in (("9/20", "1/10"), ("999/1000", "0"), ("1/10", "4/5")):
        facts = bound(LAMP, alpha, beta).facts()
        assert (facts["vacuous"], facts["lower"]["best"], facts["upper"]) == (True, "0", None)


def test_an_alpha_that_is_no_probability_strictly_between_is_refused() -> None:
    assert complaint("bounds", LAMP, "--alpha=0", "--beta", "1/100").startswith("ascertain: --alpha: 0 is not")
    for alpha in ("1", "3/2", "-1/10", "nan", "1/0", ""):
        with pytest.raises(TaskError, match=r"^--alpha: "):
            command(LAMP, alpha=alpha, beta="1/100")


def test_other_bad_input_is_refused_in_one_sentence(tmp_path: Path) -> None:
    assert "--beta: 1 is not a probability in [0, 1)" in complaint("bounds", LAMP, "--beta", "1")
    assert "say how large it may be with --beta" in complaint("bounds", LAMP)
    with pytest.raises(FileError, match=r"a drawing is \.svg"):
        command(LAMP, draw=Path("a.png"))
    with pytest.raises(FileError, match="there is no directory"):
        command(LAMP, draw=tmp_path / "no" / "a.svg")
    lamp = tmp_path / "lamp.json"
    lamp.write_bytes(LAMP.read_bytes())
    assert "is an input of the question" in complaint("bounds", lamp, *RISKS, "--certificate", lamp)


@pytest.mark.slow
def test_both_sides_are_drawn_against_alpha(tmp_path: Path) -> None:
    path = tmp_path / "cost.svg"
    assert run("bounds", LAMP, *RISKS, "--draw", path).returncode == 0
    assert path.read_text().startswith("<svg")
    done = run("bounds", VALVE / "serviced.toml", *RISKS, "--draw", tmp_path / "none.svg")
    assert done.returncode == 1
    assert "not drawn" in done.stderr


def test_a_register_of_24_bits_is_bounded_through_its_factors(tmp_path: Path) -> None:
    commands = "".join(f'[[command]]\nname = "read{i}"\ngates = []\ntap = "b{i}"\n' for i in range(24))
    bits = json.dumps([f"b{i}" for i in range(24)])
    (tmp_path / "plant.toml").write_text(f'bits = {bits}\nflip = "1/10"\n{commands}')
    (tmp_path / "register.toml").write_text('model = "plant.toml"\n[risk]\nalpha = "2.5e-7"\nbeta = "1/1000"\n')
    done = run("bounds", tmp_path / "register.toml", "--json", "--certificate", tmp_path / "r.json")
    facts = json.loads(done.stdout)
    assert float(Fraction(facts["lower"]["best"])) >= 250.5
    assert float(Fraction(facts["upper"])) <= 258.8
    assert facts["hardest"]["action"] == "read0"
    assert facts["certificate"] == "VERIFIED"
    assert facts["certified"]["lower"]["best"] is None and facts["certified"]["upper"] is not None
    assert "lower bounds of a plant that is not enumerated are not certified" in done.stderr
    assert (tmp_path / "r.json").exists()


def test_the_policy_that_is_certified_keeps_to_the_risk_on_the_question_itself() -> None:
    found = bound(LAMP, "1/1000", "1/100", certified=True)
    question = found.question
    assert isinstance(question, Task)
    assert found.best is not None
    value = evaluate(question, found.policy)
    assert value.meets(Fraction(1, 1000), Fraction(1, 100))
    assert value.cost is not None
    assert found.best <= value.cost <= found.upper  # type: ignore[operator]
    assert found.remarks == ()
    assert found.certificate is not None
    assert Fraction(found.certificate["claims"][-1]["cost"]) == value.cost


def leave_out_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that trees of tests alone are left."""

    def refuse(*_: object, **__: object) -> None:
        raise LimitError("left out")

    searches = "find_short_policy", "search_prices", "bound_by_column_generation", "find_minimax_policy"
    for search in (*searches, "find_pruned_minimax_policy"):
        monkeypatch.setattr(f"ascertain.planning.noisy_search.{search}", refuse)


def test_a_tree_of_tests_is_certified_with_what_it_costs_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out_searches(monkeypatch)
    found = bound(FAR_SENSOR, certified=True)
    assert isinstance(found.policy, CertifiedTree)
    assert str(found.verdict) == "VERIFIED"
    assert found.certificate is not None
    claim = found.certificate["claims"][-1]
    value = evaluate(FAR_SENSOR, found.policy, exact=True)
    assert claim["claim"] == "within-risk"
    assert (Fraction(claim["alpha"]), Fraction(claim["beta"]), Fraction(claim["cost"])) == (
        value.alpha,
        value.beta,
        value.cost,
    )
    assert found.upper is not None
    assert Fraction(claim["cost"]) < found.upper


def test_a_policy_that_is_too_large_to_certify_is_left_out_with_a_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ascertain.pipeline.bound.MAX_PLACES", 10)
    found = bound(FAR_SENSOR, certified=True)
    remark = "only the lower bounds are certified: the policy reaches more than 10 places (memory, label, state)"
    assert remark in found.remarks
    assert found.certificate is not None
    assert "within-risk" not in [claim["claim"] for claim in found.certificate["claims"]]


def test_where_no_policy_is_found_the_lower_bounds_are_certified_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a shift register shows is lost, so no node of a tree can be read again."""
    leave_out_searches(monkeypatch)
    task = pose(shift_register(2), about="current", flip=Fraction(1, 10), alpha="1/20", beta="1/20")
    found = bound(task, certified=True)
    assert found.policy is None
    assert "no policy was found, so that only the lower bounds are certified" in found.remarks
    assert str(found.verdict) == "VERIFIED"


def test_a_rounded_cost_is_never_below_the_cost() -> None:
    for value in (
        Fraction(1, 3),
        Fraction(10**30 + 1, 3 * 10**30),
        Fraction(7, 10**40 + 1),
        Fraction(10**20, 10**7 + 1),
    ):
        assert value <= round_decimals_up(value) <= value * (1 + Fraction(1, 10**8))


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as on Unix")
def test_an_interrupt_ends_it_with_what_was_found_so_far(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ascertain", "bounds", str(noisy_valve(tmp_path)), "--json"]
    with subprocess.Popen([*command, *STRICT], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as busy:
        time.sleep(6)  # it takes ten times as long where nothing else runs
        busy.send_signal(signal.SIGINT)
        out, err = busy.communicate(timeout=60)
    if not out:  # it had not begun to search
        assert err.decode().strip().splitlines()[-1] == "ascertain: interrupted"
    else:
        facts = json.loads(out)
        assert facts["stopped_by"] == "interrupt"
        assert Fraction(facts["lower"]["best"]) >= 0
    assert busy.returncode == 130


STRICT = ("--alpha", "1e-9", "--beta", "1/1000")


def noisy_valve(folder: Path) -> Path:
    problem = folder / "leak.toml"
    (folder / "valve.dot").write_bytes((VALVE / "valve.dot").read_bytes())
    problem.write_text((VALVE / "leak.toml").read_text() + '\n[noise]\nflip = "1/10"\n')
    return problem


def test_when_time_is_up_the_best_of_both_sides_is_the_answer(tmp_path: Path) -> None:
    facts = answer("bounds", noisy_valve(tmp_path), *STRICT, "--time", "1")
    assert facts["stopped_by"] == "time"
    assert Fraction(facts["lower"]["best"]) >= 0  # type: ignore[index]
    assert facts["upper"] is None or Fraction(facts["lower"]["best"]) <= Fraction(facts["upper"])  # type: ignore[index,arg-type]
    shown = run("bounds", noisy_valve(tmp_path), *STRICT, "--time", "0")
    assert shown.returncode == 0
    assert "Stopped by time" in shown.stdout


def test_a_plant_of_24_bits_whose_commands_move_them_is_bounded_from_below(tmp_path: Path) -> None:
    commands = "".join(
        f'[[command]]\nname = "c{i}"\ngates = [["cnot", "b{i}", "b{(i + 7) % 24}"]]\ntap = "b{i}"\n' for i in range(24)
    )
    bits = json.dumps([f"b{i}" for i in range(24)])
    (tmp_path / "plant.toml").write_text(f'bits = {bits}\nflip = "1/50"\n{commands}')
    (tmp_path / "moving.toml").write_text('model = "plant.toml"\n[risk]\nalpha = "2.5e-7"\nbeta = "1/1000"\n')
    done = run("bounds", tmp_path / "moving.toml", "--json")
    facts = json.loads(done.stdout)
    assert list(facts["lower"]) == ["pairwise", "capacity", "best"]
    assert 29.34 < float(Fraction(facts["lower"]["best"])) < 29.35
    assert (done.returncode, facts["upper"], facts["hardest"]) == (0, None, None)
    assert "capacity" in run("bounds", tmp_path / "moving.toml").stdout


def test_both_sides_at_other_alphas_come_one_by_one_and_end_where_they_are_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Fraction] = []

    def bound_quickly(question: Any, **_: Any) -> Bounds:
        asked.append(question.alpha)
        return Bounds(question, stopped_by="interrupt" if len(asked) == 2 else None)

    monkeypatch.setattr("ascertain.pipeline.bound.bound", bound_quickly)
    question = read_problem(LAMP).task
    found = Bounds(replace(question, alpha=Fraction(1, 1000), beta=Fraction(1, 100)), stopped_by="interrupt")
    points = bound_around(found)
    assert next(points).question.alpha == Fraction(1, 10**7) and asked == [Fraction(1, 10**7)]
    assert [point.question.alpha for point in points] == asked[1:] == [Fraction(1, 10**5)]
    asked[:] = [Fraction(0)] * 2  # the question itself was interrupted, which is known and ends nothing
    assert [point.question.alpha for point in bound_around(found)][2:] == [found.question.alpha, Fraction(1, 10)]
