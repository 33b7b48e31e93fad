"""The checker: the corpus, whose folders are the expected verdicts, the command, and what it must survive."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ascertain_check
from ascertain_check import check, reading
from ascertain_check.__main__ import main
from ascertain_check.verdicts import Malformed

CORPUS = Path(__file__).parent / "certificates"
EXPECTED = dict(line.split("\t") for line in (CORPUS / "expected.tsv").read_text("utf-8").splitlines())
EXIT = {"verified": 0, "refuted": 1, "malformed": 2}


def texts(case: str) -> tuple[bytes, bytes]:
    """The task and the certificate of a case of the corpus."""
    return (CORPUS / f"{case}.task.json").read_bytes(), (CORPUS / f"{case}.json").read_bytes()


@pytest.mark.parametrize("case", sorted(EXPECTED))
def test_the_folder_of_a_certificate_is_its_verdict(case: str) -> None:
    verdict = check(*texts(case))
    folder = case.partition("/")[0]
    assert (verdict.word, verdict.exit_code) == (folder.upper(), EXIT[folder])
    assert str(verdict) == EXPECTED[case]


def test_every_file_of_the_corpus_is_expected() -> None:
    files = {str(path.relative_to(CORPUS)) for folder in EXIT for path in (CORPUS / folder).iterdir()}
    assert files == {case + end for case in EXPECTED for end in (".json", ".task.json")}


def run(*arguments: str | Path) -> tuple[int, str, str]:
    """The command in a process that sees a copy of the checker, and of everything else only the standard library.

    -I keeps the environment and the current directory out, -S the installed packages; None in `sys.modules` makes
    `import ascertain` fail.
    """
    home = Path(ascertain_check.__file__).parent
    program = (
        "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); sys.modules['ascertain'] = None; "
        "runpy.run_module('ascertain_check', run_name='__main__', alter_sys=True)"
    )
    command = [sys.executable, "-I", "-S", "-B", "-W", "error", "-c", program, str(home.parent), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60, env={"LC_ALL": "C", **os.environ})
    return done.returncode, done.stdout.decode("ascii"), done.stderr.decode()


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The checker copied to a directory that holds nothing else."""
    copy = tmp_path / "alone" / "ascertain_check"
    shutil.copytree(Path(ascertain_check.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(ascertain_check, "__file__", str(copy / "__init__.py"))
    return copy


@pytest.mark.parametrize(
    "case", ["verified/register-optimum", "refuted/lower-too-high", "malformed/certificate-claim-unknown"]
)
@pytest.mark.usefixtures("alone")
def test_the_checker_works_where_nothing_else_is_installed(case: str) -> None:
    code, output, errors = run(CORPUS / f"{case}.task.json", CORPUS / f"{case}.json")
    assert (code, output.splitlines()[0], errors) == (EXIT[case.partition("/")[0]], EXPECTED[case], "")


@pytest.mark.parametrize(
    ("case", "unbuffered"),
    [("verified/register-optimum", ""), ("verified/register-optimum", "1"), ("refuted/lower-too-high", "")],
)
def test_a_reader_that_has_gone_changes_neither_the_exit_code_nor_the_errors(case: str, unbuffered: str) -> None:
    files = [str(CORPUS / f"{case}{end}.json") for end in (".task", "")]
    home = Path(ascertain_check.__file__).parent.parent
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "ascertain_check", *files],
            stdout=writer,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
            env=os.environ | {"PYTHONPATH": str(home), "PYTHONUNBUFFERED": unbuffered},
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (EXIT[case.partition("/")[0]], b"")


def test_the_command_prints_one_line_where_nothing_is_verified(capsys: pytest.CaptureFixture[str]) -> None:
    for case in ("refuted/another-task", "malformed/text-nan"):
        code = main([str(CORPUS / f"{case}.task.json"), str(CORPUS / f"{case}.json")])
        assert (code, capsys.readouterr().out) == (EXIT[case.partition("/")[0]], EXPECTED[case] + "\n")


def test_the_command_exits_with_the_code_of_its_verdict(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = "refuted/lower-too-high"
    monkeypatch.setattr(sys, "argv", ["check", str(CORPUS / f"{case}.task.json"), str(CORPUS / f"{case}.json")])
    with pytest.raises(SystemExit) as stop:
        runpy.run_path(str(Path(ascertain_check.__file__).with_name("__main__.py")), run_name="__main__")
    assert (stop.value.code, capsys.readouterr().out) == (1, EXPECTED[case] + "\n")


@pytest.mark.parametrize(
    ("case", "sentences"),
    [
        (
            "register-optimum",
            [
                "the policy settles the question at a cost of at most 2",
                "no policy settles the question for less than 2",
            ],
        ),
        ("register-expected", ["the policy settles the question at a mean cost of at most 2"]),
        (
            "gate-unsolvable",
            [
                "no policy settles the question",
                "no experiment tells hypothesis 0 from hypothesis 1, and their labels differ",
                "the coarsest stable partition has 2 classes, as given",
            ],
        ),
    ],
)
def test_on_request_the_command_says_what_it_has_verified(
    case: str, sentences: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["-v", str(CORPUS / f"verified/{case}.task.json"), str(CORPUS / f"verified/{case}.json")])
    assert (code, capsys.readouterr().out.splitlines()) == (0, ["VERIFIED", *sentences])


@pytest.mark.parametrize(
    "arguments", [[], ["one"], ["one", "two", "three"], ["-v"], ["-v", "--require", "optimal", "one"]]
)
def test_the_command_needs_two_files(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().out.startswith("MALFORMED: two files are needed")


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize(
    ("culprit", "why"),
    [
        ("absent.json", "'absent.json' cannot be read: No such file or directory"),
        (".", "'.' cannot be read: "),
        ("nul\0byte", r"'nul\x00byte' cannot be read: not a path"),
        ("caf\u00e9-\udcff.json", r"'caf\xe9-\udcff.json' cannot be read: "),
        ("x" * 5000, "'" + "x" * 37 + "...' cannot be read: "),
    ],
)
def test_a_file_that_cannot_be_read_is_malformed(
    culprit: str,
    why: str,
    position: int,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = [str(CORPUS / "verified/register-optimum.task.json"), str(CORPUS / "verified/register-optimum.json")]
    paths[position] = culprit
    assert main(paths) == 2
    line = capsys.readouterr().out
    assert line.startswith(f"MALFORMED: {why}")
    assert line.isascii()


def test_a_file_that_is_too_long_is_not_read_to_its_end(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, certificate = (CORPUS / f"verified/register-optimum{end}" for end in (".task.json", ".json"))
    size = certificate.stat().st_size
    monkeypatch.setattr(reading, "MAX_BYTES", size)
    assert main([str(task), str(certificate)]) == 0
    monkeypatch.setattr(reading, "MAX_BYTES", size - 1)
    capsys.readouterr()
    assert main([str(task), str(certificate)]) == 2
    assert capsys.readouterr().out == f"MALFORMED: the certificate is longer than {size - 1} bytes\n"


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs an endless file")
def test_an_endless_file_ends(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["/dev/zero", "/dev/zero"]) == 2
    assert capsys.readouterr().out == "MALFORMED: '/dev/zero' is not a regular file\n"


@pytest.mark.parametrize("text", [b"[" * 200_000, b'{"a":' * 200_000, b"[" * 200_000 + b"]" * 200_000])
def test_nesting_without_end_is_malformed(text: bytes) -> None:
    task, _ = texts("verified/register-optimum")
    assert str(check(task, text)) == "MALFORMED: the certificate is nested too deeply"
    assert str(check(text, text)) == "MALFORMED: the task is nested too deeply"


def certificate_for(task: dict[str, Any], *claims: dict[str, Any]) -> tuple[bytes, bytes]:
    text = json.dumps(task, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    head = {"format": "ascertain-certificate", "version": 1, "made_by": "a test"}
    return text, json.dumps(head | {"task_sha256": sha256(text).hexdigest(), "claims": claims}).encode()


def test_sums_of_long_fractions_are_compared_and_never_printed() -> None:
    """Python refuses to print an integer of more than 4300 digits."""
    task = json.loads(texts("verified/twins-quotient")[0])
    policy = json.loads(texts("verified/twins-lower-on-classes")[1])["claims"][1]["policy"]
    task["cost"] = [f"1/{10**1999 + 1}", f"1/{10**1999 - 1}"]
    claims = [
        {"claim": "achieves", "cost": f"1/{10**1998}", "policy": policy},
        {"claim": "achieves", "cost": f"1/{10**1999}", "policy": policy},
        {"claim": "achieves-expected", "cost": f"1/{10**1999}", "weights": ["1"] * 4, "policy": policy},
    ]
    words = [check(*certificate_for(task, claim)).word for claim in claims]
    assert words == ["VERIFIED", "REFUTED", "REFUTED"]


def test_a_policy_that_shares_nodes_a_million_ways_is_walked_quickly() -> None:
    """Forty diamonds in a row: two to the fortieth paths, of which each hypothesis walks one."""
    task = json.loads(texts("verified/register-optimum")[0])
    chain = [{"ask": 0, "next": {"0": v + 1, "1": v + 1}} for v in range(40)]
    task["hypotheses"] = [[0, 0], [1, 0], [2, 0]]
    claim = {"claim": "achieves", "cost": "40", "policy": {"nodes": [*chain, {"answer": 0}]}}
    assert check(*certificate_for(task, claim)).word == "VERIFIED"
    assert check(*certificate_for(task, claim | {"cost": "39"})).word == "REFUTED"


def test_the_limits_are_those_of_the_format() -> None:
    assert (reading.MAX_BYTES, reading.MAX_DIGITS) == (2**28, 20)


@pytest.mark.parametrize("value", [-1, 3, True, False, 0.0, "0", None])
def test_what_is_not_an_index_is_refused_even_if_it_did_not_come_from_a_file(value: object) -> None:
    with pytest.raises(Malformed, match="an index below 3 is needed"):
        reading.read_index(value, 3, "here")


def test_long_texts_are_cut_in_messages() -> None:
    assert reading.quote("x" * 40) == repr("x" * 40)
    assert reading.quote("x" * 41) == repr("x" * 37 + "...")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.text(max_size=3) | st.sampled_from(["inf", "1/2", "0"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(EXPECTED)), json_values, st.data())
def test_whatever_stands_in_place_of_a_value_there_is_a_verdict(case: str, value: object, data: st.DataObject) -> None:
    if "text-" in case:
        return
    both = [json.loads(text) for text in texts(case)]
    which = data.draw(st.integers(0, 1))
    here = both[which]
    while True:
        keys = sorted(here) if isinstance(here, dict) else list(range(len(here)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        if not isinstance(here[key], dict | list) or data.draw(st.integers(0, 3)) == 0:
            here[key] = value
            break
        here = here[key]
    task, claims = both[0], both[1].get("claims")
    if which == 0 and isinstance(claims, list):
        verdict = check(*certificate_for(task, *claims))
    else:
        verdict = check(json.dumps(both[0]).encode(), json.dumps(both[1]).encode())
    assert verdict.word in ("VERIFIED", "REFUTED", "MALFORMED")
    assert str(verdict).isascii()


@given(st.binary(max_size=40))
def test_no_bytes_at_all_lead_to_anything_but_a_verdict(text: bytes) -> None:
    task, _ = texts("verified/register-optimum")
    assert check(task, text).word == "MALFORMED"
    assert check(text, text).word == "MALFORMED"
