"""The first use of a verb: it imports what it uses and nothing else, and says so when a compiler makes people wait.

How long that takes is measured by `benchmarks/first_use.py`; nothing here looks at the clock.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ascertain.kernels._jit import TIERS
from ascertain.pipeline.settle import settle
from tests.conftest import ROOT

VALVE = "examples/valve/leak.toml"
NEVER = {"numba", "llvmlite", "scipy", "matplotlib", "joblib", "jinja2", "ascertain_paper"}
"""What no small question uses."""
VERBS: dict[str, tuple[list[str], set[str]]] = {
    "inspect": (["inspect", VALVE], NEVER | {"ascertain_check", "ascertain.live.session", "ascertain.search.exact"}),
    "quotient": (["quotient", VALVE], NEVER | {"ascertain.live.session"}),
    "solve": (["solve", VALVE], NEVER | {"ascertain.live.session", "ascertain.planning.two_sided"}),
    "fingerprint": (["fingerprint", "examples/servers/alder.dot", "examples/servers/elm.dot"], NEVER | {"regex"}),
    "simulate": (["simulate", VALVE, "--policy", "{plan}", "--state", "leak2-high-serviced"], NEVER),
    "verify": (["verify", VALVE, "{proof}"], NEVER),
    "bank": (["bank", "examples/operation/turntable.toml"], NEVER | {"ascertain_check", "regex"}),
    "observe": (["observe", "examples/operation/turntable.toml", "--plant", "simulated:4"], NEVER | {"regex"}),
    # Look-ahead, the default there, is long enough for its kernels to change to machine code on a busy machine.
    "observe a Boolean plant": (
        ["observe", "examples/operation/press.toml", "--plant", "simulated:3", "--probing", "round-robin"],
        NEVER,
    ),
    "observe a hidden model": (["observe", "examples/tiger/where.toml", "--plant", "simulated:7"], NEVER),
    "bounds": (
        ["bounds", "examples/plants/lamp.toml", "--alpha", "1/10", "--beta", "1/10"],
        NEVER - {"scipy"} | {"ascertain.live.session"},
    ),
}
"""The words of each verb, and what it does not import: bounds alone has linear programs to solve."""
SPY = """
import sys
sys.argv = ["ascertain", *sys.argv[1:]]
from ascertain.cli.main import main
try:
    main()
except SystemExit as end:
    print("\\nMODULES", end.code or 0, *sys.modules)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan and a certificate of the valve."""
    found = tmp_path_factory.mktemp("first")
    settled = settle(ROOT / VALVE, prove="always")
    settled.write_certificate(found / "proof.json")
    (found / "plan.json").write_text(json.dumps(settled.facts()))
    return found


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_imports_only_what_it_uses(name: str, folder: Path) -> None:
    words, unused = VERBS[name]
    files = {"{plan}": str(folder / "plan.json"), "{proof}": str(folder / "proof.json")}
    environment = {key: value for key, value in os.environ.items() if key != "ASCERTAIN_KERNELS"}
    command = [sys.executable, "-c", SPY, *(files.get(word, word) for word in words)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    last = done.stdout.splitlines()[-1].split()
    assert last[:2] == ["MODULES", "0"], done.stderr
    assert sorted(unused & set(last)) == []


def test_the_spy_sees_what_is_imported() -> None:
    command = [sys.executable, "-c", SPY, "solve", VALVE]
    environment = {**os.environ, "ASCERTAIN_KERNELS": "compiled", "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert {"numpy", "ascertain.pipeline.settle", "typer"} <= set(done.stdout.splitlines()[-1].split())


# ---- the note about compiling


@pytest.mark.skipif(TIERS.mode == "interpreted", reason="kernels are not compiled in this run")
@pytest.mark.parametrize(("seconds", "notes"), [(0.0, 1), (1e9, 0)])
def test_long_compiling_is_announced_once_and_with_what_it_is_for(seconds: float, notes: int, tmp_path: Path) -> None:
    """In a folder without machine code; two kernels are compiled, and however long it takes is too long, or is not."""
    code = (
        "import numpy as np\n"
        "from ascertain.cli.show.progress import announce_compilation\n"
        "from ascertain.kernels import _jit\n"
        "from ascertain.kernels.search.bounds import is_plain, usable_size\n"
        "from ascertain.search.configuration import no_subsets\n"
        f"_jit.LONG_COMPILING = {seconds}\n"
        "announce_compilation()\n"
        "is_plain(np.zeros(3, dtype=np.int32), np.arange(3, dtype=np.int32), 3)\n"
        "usable_size(no_subsets(), 3)\n"
    )
    environment = {**os.environ, "ASCERTAIN_KERNELS": "compiled", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    assert len(lines) == notes
    assert all("compiling search.bounds.is_plain" in line and str(tmp_path) in line for line in lines)
    again = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert again.stderr == ""  # loading what is kept is no compiling
