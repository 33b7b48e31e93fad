"""The command line as a person meets it: what it prints, how it ends, and one clear sentence for bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.calls import call
from tests.calls import run as run_program
from tests.conftest import ROOT

VALVE = ROOT / "examples" / "valve"
SERVERS = ROOT / "examples" / "servers"


run = partial(run_program, COLUMNS="100")


def answer(*arguments: object, code: int = 0) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def complaint(*arguments: object) -> str:
    """The one sentence on standard error of a call that must be refused."""
    done = run(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return lines[0]


def test_the_version_is_printed() -> None:
    assert run("--version").stdout.startswith("ascertain ")


def test_every_verb_teaches_with_an_example() -> None:
    from ascertain.cli.main import VERBS

    for verb in VERBS:
        assert "Example:" in run(verb, "--help").stdout, verb


def test_init_writes_a_problem_that_works(tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    assert run("init", path).returncode == 0
    facts = answer("inspect", path)
    assert (facts["states"], facts["hypotheses"], facts["obstructed"]) == (3, 3, False)
    assert "this file is there already" in complaint("init", path)
    assert run("init", path, "--force").returncode == 0


def test_inspect_of_a_model_counts() -> None:
    facts = answer("inspect", VALVE / "valve.dot")
    assert facts["schema"] == "ascertain/inspect"
    assert facts["schema_version"] == 1
    wanted = {"kind": "machine", "states": 18, "actions": 5, "readings": 8, "classes": 9, "strongly_connected": False}
    assert {key: facts[key] for key in wanted} == wanted


def test_inspect_of_a_problem_says_whether_it_is_obstructed() -> None:
    facts = answer("inspect", VALVE / "leak.toml")
    assert (facts["hypotheses"], facts["classes"], facts["obstructed"]) == (16, 8, False)
    facts = answer("inspect", VALVE / "serviced.toml", code=1)
    assert facts["obstructed"] is True
    assert facts["obstruction"]["pair"] == ["tight-low", "tight-low-serviced"]  # type: ignore[index]
    assert facts["obstruction"]["coarsening"] == [["other", "serviced"]]  # type: ignore[index]
    assert "no experiment tells them apart" in run("inspect", VALVE / "serviced.toml").stdout


def test_inspect_of_a_boolean_plant_lists_no_states(tmp_path: Path) -> None:
    path = tmp_path / "plant.toml"
    path.write_text("bits = 24\nflip = '1/50'\n[[command]]\nname = 'a'\ngates = [['set', 'b3']]\ntap = 'b0'\n")
    facts = answer("inspect", path)
    assert (facts["kind"], facts["bits"], facts["states"], facts["actions"]) == ("boolean", 24, 2**24, 1)
    path.write_text("bits = 24\n")
    assert "command" in complaint("inspect", path)


def test_quotient_lists_classes_and_writes_the_reduced_model(tmp_path: Path) -> None:
    out = tmp_path / "reduced.json"
    facts = answer("quotient", VALVE / "leak.toml", "--out", out)
    assert len(facts["classes"]) == 8  # type: ignore[arg-type]
    assert facts["classes"][0] == {"label": "tight", "members": ["tight-low", "tight-low-serviced"]}  # type: ignore[index]
    assert facts["state_classes"] == 9
    words = {tuple(row["pair"]): row["word"] for row in facts["separating"]}  # type: ignore[union-attr]
    assert len(words) == 9 * 8 // 2
    assert words[(0, 1)] == ["gauge"]
    assert answer("inspect", out)["states"] == 9
    assert "16 hypotheses in 8 classes" in run("quotient", VALVE / "leak.toml").stdout


def test_quotient_says_where_only_their_labels_keep_two_classes_apart() -> None:
    assert not answer("quotient", VALVE / "leak.toml")["obstructed"]
    assert answer("quotient", VALVE / "serviced.toml")["obstructed"]
    assert "no experiment tells class 0 from class 2," in run("quotient", VALVE / "serviced.toml").stdout


def test_task_prints_the_canonical_form_and_its_hash() -> None:
    import hashlib

    text = run("task", VALVE / "leak.toml").stdout.removesuffix("\n")
    assert hashlib.sha256(text.encode()).hexdigest() == run("task", "--sha256", VALVE / "leak.toml").stdout.strip()


def test_names_are_never_read_as_markup(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('[model]\ntransitions = [["[red]x[/]", "a\\u001b[31m", "y", "[/nope]"]]\n[task]\nabout = "start"\n')
    done = run("quotient", path)
    assert done.returncode == 0, done.stderr
    assert "[red]x[/]" in done.stdout
    assert "\x1b" not in done.stdout


def test_bad_files_get_one_sentence(tmp_path: Path) -> None:
    def file(name: str, content: bytes) -> Path:
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    assert "no such file" in complaint("inspect", tmp_path / "missing.dot")
    assert "empty" in complaint("inspect", file("empty.dot", b""))
    assert "empty" in complaint("inspect", file("empty.toml", b""))
    assert "truncated.dot" in complaint("inspect", file("truncated.dot", b'digraph g {\n s0 -> s1 [label="a / b"];\n'))
    assert "junk.dot" in complaint("inspect", file("junk.dot", bytes(range(256)) * 10))
    assert "junk.toml" in complaint("inspect", file("junk.toml", bytes(range(1, 256)) * 10))
    assert "junk.json" in complaint("inspect", file("junk.json", b"{" * 100_000))
    twice = b'digraph g {\n s0 -> s1 [label="a / b"];\n s0 -> s0 [label="a / c"];\n}\n'
    message = complaint("inspect", file("twice.dot", twice))
    assert "2" in message
    assert "3" in message
    assert "known" in complaint("inspect", file("model.xyz", b"hello"))


def test_a_line_of_200_megabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "long.dot"
    with path.open("wb") as stream:
        stream.truncate(200 * 2**20)
    assert "bytes" in complaint("inspect", path)


@pytest.mark.parametrize("suffix", [".dot", ".json", ".toml"])
def test_a_long_single_line_within_the_limit_ends_soon(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"long{suffix}"
    path.write_text("a" * 5_000_000)
    assert path.name in complaint("inspect", path)


def test_a_refused_call_leaves_nothing_behind(tmp_path: Path) -> None:
    out = tmp_path / "no" / "such" / "folder" / "reduced.json"
    assert "reduced.json" in complaint("quotient", VALVE / "leak.toml", "--out", out)
    assert "known" in complaint("quotient", VALVE / "leak.toml", "--out", tmp_path / "reduced.xyz")
    assert list(tmp_path.iterdir()) == []


def test_an_internal_error_says_so_and_ends_with_5(monkeypatch: pytest.MonkeyPatch) -> None:
    from ascertain.cli import main

    def broken() -> None:
        """Fail."""
        raise ZeroDivisionError("oh")

    monkeypatch.setitem(main.VERBS, "task", broken)
    assert "internal error: ZeroDivisionError: oh" in call("task", code=5).stderr


def test_an_interrupt_ends_with_130(tmp_path: Path) -> None:
    fifo = tmp_path / "slow.py"
    fifo.write_text(
        "import time\n"
        "from ascertain.cli import main\n"
        "def wait() -> None:\n"
        "    'Wait.'\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
        "main.VERBS['task'] = wait\n"
        "import sys; sys.argv = ['ascertain', 'task']\n"
        "main.main()\n"
    )
    process = subprocess.Popen([sys.executable, fifo], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors.strip() == "ascertain: interrupted"


def test_solve_prints_the_tree_and_proves_it(tmp_path: Path) -> None:
    proof, page = tmp_path / "proof.json", tmp_path / "tree.html"
    done = run("solve", VALVE / "leak.toml", "--certificate", proof, "--draw", page)
    assert done.returncode == 0, done.stderr
    assert "optimal worst cost 24" in done.stdout
    assert "Certificate: VERIFIED" in done.stdout
    assert "<details" in page.read_text()
    assert run("verify", VALVE / "leak.toml", proof).stdout.startswith("VERIFIED")
    assert run("verify", tmp_path / "proof.task.json", proof).returncode == 0
    checker = [sys.executable, "-P", "-m", "ascertain_check", str(tmp_path / "proof.task.json"), str(proof)]
    printed = subprocess.run(checker, capture_output=True, text=True, check=False).stdout
    assert printed.startswith("VERIFIED\n") and "for less than 24" in printed
    assert run("verify", VALVE / "serviced.toml", proof).returncode == 1
    assert run("verify", VALVE / "leak.toml", page).returncode == 2
    assert answer("verify", VALVE / "leak.toml", proof)["verdict"] == "VERIFIED"


def test_a_mean_is_called_optimal_where_it_is_proved_from_below_and_best_found_elsewhere(tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    done = run("solve", VALVE / "leak.toml", "--objective", "expected", "--certificate", proof)
    assert "leak.toml: optimal expected cost 47/2" in done.stdout
    checker = [sys.executable, "-P", "-m", "ascertain_check", "-v", str(tmp_path / "proof.task.json"), str(proof)]
    proved = subprocess.run(checker, capture_output=True, text=True, check=False).stdout
    assert "no policy settles the question at a mean cost of less than 47/2" in proved


def test_solve_as_json_gives_rationals_in_strings() -> None:
    facts = answer("solve", VALVE / "leak.toml")
    assert (facts["status"], facts["lower"], facts["upper"]) == ("solved", "24", "24")
    assert facts["stats"]["depth"] == 6  # type: ignore[index]
    facts = answer("solve", VALVE / "serviced.toml", code=1)
    assert (facts["status"], facts["lower"], facts["upper"], facts["policy"]) == ("unsolvable", "inf", "inf", None)
    assert facts["certificate"] == "VERIFIED"


def test_solve_for_expected_cost_uses_the_weights(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    run("init", path)
    text = path.read_text()
    assert answer("solve", path, "--objective", "expected")["upper"] == "3"
    path.write_text(text + "\n[weights]\nrunning = 4\n")
    assert answer("solve", path, "--objective", "expected")["upper"] == "2"
    path.write_text(text + "\n[weights]\nrunning = 0\n")
    assert "[weights] running: 0 is not positive" in complaint("solve", path, "--objective", "expected")
    path.write_text(text + "\n[weights]\nwalking = 1\n")
    assert "'walking' is not a state" in complaint("solve", path)


def test_a_limit_gives_the_interval_and_exit_3(tmp_path: Path) -> None:
    import random

    rng = random.Random(5)
    names = [str(i) for i in range(60)]
    rows = []
    for a in "abc":
        image = rng.sample(range(60), 60)
        rows += [[names[i], a, "odd" if (a, i) == ("a", 7) else "even", names[image[i]]] for i in range(60)]
    chosen = rng.sample(names, 12)
    path = tmp_path / "hard.toml"
    path.write_text(f"[model]\ntransitions = {json.dumps(rows)}\n[task]\nhypotheses = {json.dumps(chosen)}\n")
    done = run("solve", path, "--time", "0.1", "--objective", "expected")
    assert "best found: expected cost" in done.stdout
    assert "computed and not proved" in done.stdout
    assert "optimal" not in done.stdout
    done = run("solve", path, "--time", "0.1", "--objective", "expected", "--certificate", tmp_path / "mean.json")
    assert "best found: expected cost" in done.stdout
    assert "; lower bound" in done.stdout
    assert "not proved" not in done.stdout
    facts = answer("solve", path, "--time", "0.1", "--certificate", tmp_path / "proof.json", code=3)
    assert facts["status"] == "bounded"
    assert float(facts["lower"]) < float(facts["upper"])  # type: ignore[arg-type]
    assert facts["certificate"] == "VERIFIED"
    proved = answer("verify", path, tmp_path / "proof.json")["proved"]
    said = (
        f"no policy settles the question for less than {facts['lower']}",
        f"no policy costs less than {facts['lower']}: ",
    )
    assert proved[1].startswith(said)  # type: ignore[index]


def test_drawings_that_cannot_be_made_are_refused_before_the_search(tmp_path: Path) -> None:
    assert "a drawing is .svg, .html, .dot or .txt" in complaint(
        "solve", VALVE / "leak.toml", "--draw", tmp_path / "x.pdf"
    )
    assert "no directory" in complaint("solve", VALVE / "leak.toml", "--draw", tmp_path / "no" / "x.svg")


def test_simulate_walks_every_hypothesis(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(run("solve", VALVE / "leak.toml", "--json").stdout)
    walks = answer("simulate", VALVE / "leak.toml", "--policy", plan)["walks"]
    assert len(walks) == 16  # type: ignore[arg-type]
    assert all(walk["right"] for walk in walks)  # type: ignore[union-attr]
    assert max(int(walk["cost"]) for walk in walks) == 24  # type: ignore[union-attr]
    plan.write_text("{}")
    assert "nodes" in complaint("simulate", VALVE / "leak.toml", "--policy", plan)


def test_fingerprint_names_classes_and_says_none_of_these(tmp_path: Path) -> None:
    servers = sorted(SERVERS.glob("*.dot"))
    facts = answer("fingerprint", *servers)
    assert (facts["status"], facts["upper"], facts["expected"]) == ("solved", "7", "28/5")
    assert facts["classes"] == [["alder", "elm"], ["birch"], ["cedar"], ["dogwood"]]
    log = tmp_path / "seen.csv"
    log.write_text("command,reading\nHELO,999\n")
    done = run("fingerprint", *servers, "--transcript", log)
    assert (done.returncode, done.stdout.strip()) == (
        1,
        "none of these: no model explains the reading '999' of action 'HELO'",
    )
    log.write_text("command,reading\nHELO,250\nRESET,reset\nAUTH,503\nHELO,-\n")
    assert answer("fingerprint", *servers, "--transcript", log)["explained_by"] == ["dogwood"]
    assert "runs nothing" in complaint("fingerprint", *servers, "--transcript", log, "--plant", "simulated:1")
    assert "the experiment alone" in complaint(
        "fingerprint", *servers, "--transcript", log, "--draw", tmp_path / "t.svg"
    )
    assert "at least two" in complaint("fingerprint", servers[0])
    assert "'x' is not a number" in complaint("fingerprint", *servers, "--reset-cost", "x")


def test_fingerprint_weighs_machines_by_a_file(tmp_path: Path) -> None:
    servers, file = sorted(SERVERS.glob("*.dot")), tmp_path / "met.csv"
    lines = ["machine,weight", "alder,1/50", "birch,0.95", "cedar,1/100", "dogwood,0.01", "elm,1/100"]
    expected = ("fingerprint", *servers, "--objective", "expected", "--weights", file)
    file.write_text("\n".join(lines))
    facts = answer(*expected)
    assert (facts["upper"], facts["expected"], facts["certificate"]) == ("413/100", "413/100", "VERIFIED")
    assert answer("fingerprint", *servers, "--weights", file)["upper"] == "7"
    for line, change, reason in (
        (1, "ader,1", "met.csv:2: 'ader' is not a machine; did you mean 'alder'?"),
        (1, "birch,1", "met.csv:3: 'birch' stands twice; once is right"),
        (2, "birch,0", "met.csv:3: the weight of 'birch' is 0; a weight must be positive"),
        (2, "birch,often", "met.csv:3: the weight of 'birch': 'often' is not a number"),
        (5, "", "met.csv: 'elm' has no weight; every machine needs one, such as 1"),
    ):
        file.write_text("\n".join([*lines[:line], change, *lines[line + 1 :]]))
        assert reason in complaint(*expected)
    assert "--weights are for finding" in complaint(*expected, "--plant", "ask")


def test_no_output_is_written_over_an_input(tmp_path: Path) -> None:
    model, problem = tmp_path / "v.dot", tmp_path / "v.toml"
    model.write_text((VALVE / "valve.dot").read_text())
    problem.write_text((VALVE / "leak.toml").read_text().replace("valve.dot", "v.dot"))
    before = model.read_text()
    for words in (("solve", problem, "--draw", model), ("quotient", problem, "--out", model)):
        assert "is an input of the question" in complaint(*words)
    assert "is an input" in complaint("fingerprint", model, SERVERS / "elm.dot", "--draw", model)
    assert model.read_text() == before


def test_inspect_names_the_verb_that_answers_what_is_left_open(tmp_path: Path) -> None:
    noisy = tmp_path / "noisy.toml"
    noisy.write_text('[model]\ntransitions = [["a", "p", "x", "a"], ["b", "p", "y", "b"]]\n[noise]\nflip = "1/9"\n')
    assert "`ascertain solve`" in run("inspect", VALVE / "leak.toml").stdout
    assert "`ascertain bounds`" in run("inspect", noisy).stdout  # the solver refuses noise


def test_a_question_that_no_experiment_settles_cannot_be_simulated() -> None:
    done = run("simulate", VALVE / "serviced.toml")
    assert (done.returncode, done.stdout) == (1, "") and "no experiment settles the question" in done.stderr


def test_a_network_too_large_to_list_is_named(tmp_path: Path) -> None:
    net = tmp_path / "large.bnet"
    net.write_text("".join(f"x{i}, !x{(i + 1) % 25}\n" for i in range(25)))
    for words in (("inspect", net), ("sequence", "uio", net)):
        assert "large.bnet: the network has 25 state variables" in complaint(*words)


def test_whoever_leaves_out_what_is_needed_is_told_what() -> None:
    assert "add --runs FILE" in complaint("calibrate", VALVE / "leak.toml")
    dial = ROOT / "examples/sequences/dial.dot"
    assert complaint("sequence", "uio", dial, "--out", "w.txt") == "ascertain: w.txt: the result is .json"
    assert "none found" in run("sequence", "uio", dial, "--nodes", "1").stdout
    assert "is not a kind of sequence (adaptive-distinguishing, preset-" in complaint(
        "sequence", "uois", SERVERS / "elm.dot"
    )


def test_an_output_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    conform = ("conform", SERVERS / "cedar.dot", "--plant", "simulated:1", "--complete", "0")
    said = complaint(*conform, "--certificate", tmp_path / "none" / "x.json")  # one line: no price, so no word was run
    assert "none/x.json: the file cannot be written (No such file" in said
    both = ("--certificate", tmp_path / "x.json", "--policy-out", tmp_path / "x.json")
    assert "two outputs of this call" in complaint("solve", VALVE / "leak.toml", *both)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", ["", ".", "/", "y" * 300])
def test_a_folder_or_a_name_too_long_is_no_journal_and_no_model(place: str) -> None:
    observed = ("observe", VALVE / "leak.toml", "--plant", "simulated:1", "--journal")
    for words in (("journal",), observed, ("learn", "--plant", "manual:", "--actions", "a", "--out")):
        said = complaint(*words, place)
        assert any(word in said for word in ("folder", "irectory", "not a regular file", "too long")), said


def test_a_policy_that_asks_what_is_forbidden_is_refused(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text('{"nodes":[{"action":"light","next":{"bang":1}},{"answer":"tight"}]}')
    message = complaint("simulate", VALVE / "leak.toml", "--policy", plan)
    assert "plan.json" in message
    assert "the policy asks 'light', which is forbidden" in message


def test_risk_is_not_passed_over_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    run("init", path)
    path.write_text(path.read_text() + "\n[risk]\nalpha = '1/3'\n")
    assert "alpha and beta are not used" in run("solve", path).stderr


def test_an_answer_that_cannot_be_written_is_said_so() -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "ascertain", "task", str(VALVE / "leak.toml")]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "the answer cannot be written" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["solve"], "PROBLEM"),
        (["solve", "x.toml", "--time", "-1"], "--time"),
        (["solve", "x.toml", "--objective", "best"], "--objective"),
        (["solve", "x.toml", "--bogus"], "--bogus"),
        (["inspekt", "x"], "inspect"),
    ],
)
def test_what_is_typed_wrongly_gets_one_sentence_too(arguments: list[str], word: str) -> None:
    assert word in complaint(*arguments)


def test_nothing_at_all_is_answered_with_help() -> None:
    done = run()
    assert done.returncode == 0
    assert "solve" in done.stdout


@pytest.mark.parametrize(("file", "code"), [("leak.toml", 0), ("serviced.toml", 1)])
def test_a_reader_that_goes_changes_nothing(file: str, code: int) -> None:
    command = [sys.executable, "-m", "ascertain", "solve", str(VALVE / file)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None
    running.stdout.close()  # before anything is written
    assert running.wait(timeout=120) == code
    assert running.stderr is not None
    assert b"Traceback" not in running.stderr.read()
    running.stderr.close()


@pytest.mark.parametrize("module", ["ascertain.cli.main", "typer", "numpy"])
def test_an_interrupt_while_modules_load_is_clean(tmp_path: Path, module: str) -> None:
    # A module of this name that interrupts its own process stands first on the path.
    folder = tmp_path / "first"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import builtins, os, signal\n"
        "original = builtins.__import__\n"
        "def load(name, *rest, **more):\n"
        f"    if name == {module!r}:\n"
        "        builtins.__import__ = original\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return original(name, *rest, **more)\n"
        "builtins.__import__ = load\n"
    )
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "ascertain", "solve", str(VALVE / "leak.toml")]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (130, "ascertain: interrupted\n")


@pytest.mark.parametrize(("presses", "whole"), [(1, True), (2, False)])
def test_an_import_is_not_cut_off_by_an_interrupt_but_by_two(tmp_path: Path, presses: int, whole: bool) -> None:
    # A module that is cut off in the middle stays broken, and what was found could not be written down.
    (tmp_path / "late.py").write_text(f"import os, signal, time\n{'os.kill(os.getpid(), signal.SIGINT);' * presses}\n")
    (tmp_path / "wait.py").write_text(
        "import sys, time\n"
        "from ascertain.interruption import whole_loading\n"
        "try:\n"
        "    with whole_loading():\n"
        "        import late\n"
        "        time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    print('late' in sys.modules)\n"
    )
    command = [sys.executable, "wait.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=50, check=False)
    assert (done.stdout, done.stderr) == (f"{whole}\n", "")


def test_help_keeps_what_stands_in_brackets() -> None:
    assert "section [operation] names" in " ".join(run("bank", "--help").stdout.split())


def test_usage_errors_point_to_the_help_of_the_verb() -> None:
    assert complaint("solve", VALVE / "leak.toml", "--nonsense").endswith("see `ascertain solve --help`")
    assert complaint("slove").endswith("see `ascertain --help`")


def test_the_shell_completes_verbs() -> None:
    environment = {
        **os.environ,
        "_ASCERTAIN_COMPLETE": "complete_bash",
        "COMP_WORDS": "ascertain fin",
        "COMP_CWORD": "1",
    }
    command = [sys.executable, "-m", "ascertain"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)
    assert done.stdout.split() == ["fingerprint"]


def test_solve_names_the_verbs_for_noise() -> None:
    sentence = complaint("solve", ROOT / "examples" / "plants" / "lamp.toml")
    assert "`ascertain bounds`" in sentence
    assert "`ascertain observe`" in sentence


def test_simulate_solves_by_itself_and_counts_runs() -> None:
    assert len(answer("simulate", VALVE / "leak.toml")["walks"]) == 16
    facts = answer("simulate", VALVE / "leak.toml", "--runs", 200)
    assert (facts["runs"], facts["wrong"]["count"]) == (200, 0)
    shown = run("simulate", VALVE / "leak.toml", "--runs", 200).stdout
    assert "mean cost" in shown
    assert "█" in shown
    assert "--runs" in complaint("simulate", VALVE / "leak.toml", "--runs", 0)


def test_every_verb_and_certificate_points_to_what_is_guaranteed() -> None:
    for verb in ("solve", "observe", "verify", "calibrate"):
        assert "docs/guarantees.md" in run(verb, "--help").stdout, verb
    assert "docs/guarantees.md" in run("solve", VALVE / "leak.toml").stdout
