"""A file from a stranger can make us read what it names, and write or run nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

WATCHED = """
import json, os, sys
os.environ["NUMBA_DISABLE_JIT"] = "1"  # compiled kernels are kept in a cache
sys.dont_write_bytecode = True
import ascertain.cli.main as cli

ALARMS = ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn",
          "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.link", "os.symlink",
          "socket.connect", "socket.bind", "sqlite3.connect", "pickle.find_class")
home, report = sys.argv[1:3]
seen = []

def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        if arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and arguments[0] not in (os.devnull, report):
            seen.append(["write", arguments[0]])
        elif arguments[0].startswith(home):
            seen.append(["read", os.path.basename(arguments[0])])
    elif event in ALARMS:
        seen.append([event, str(arguments)])

sys.addaudithook(watch)
codes = []
for words in json.loads(sys.argv[3]):
    sys.argv = ["ascertain", words[0], home + "/p.toml", *words[1:]]
    try:
        cli.main()
    except SystemExit as ended:
        codes.append(ended.code or 0)
with open(report, "w") as file:
    json.dump([codes, seen], file)
"""
VERBS = [
    ["inspect"],
    ["bank"],
    ["task"],
    ["observe", "--plant", "simulated:3"],
    ["simulate", "--runs", "3"],
    ["bounds"],
]

PROBLEM = """
model = "lamp.dot"
[task]
label = { pattern = "^s" }
[operation]
log = "log.csv"
start = "s0"
replaced = 1
alternatives = { press = [""] }
window = { replacements = [0, 1], flips = [0, 0] }
[noise]
flip = "1/10"
[risk]
alpha = "1/10"
beta = "1/10"
"""
LAMP = """digraph {
  s0 -> s1 [label="press / click"]; s1 -> s0 [label="press / click"];
  s0 -> s0 [label="look / dark"]; s1 -> s1 [label="look / lit"];
}"""


def test_a_problem_file_makes_us_write_and_run_nothing(tmp_path: Path) -> None:
    home = tmp_path / "from a stranger"
    home.mkdir()
    (home / "p.toml").write_text(PROBLEM)
    (home / "lamp.dot").write_text(LAMP)
    (home / "log.csv").write_text("command,reading\npress,click\nlook,lit\n")
    before = {file: file.read_bytes() for file in home.iterdir()}
    report = tmp_path / "report.json"
    command = [sys.executable, "-c", WATCHED, str(home), str(report), json.dumps(VERBS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    codes, seen = json.loads(report.read_text())
    assert set(codes) <= {0, 3} and len(codes) == len(VERBS), done.stderr
    assert {name for what, name in seen if what == "read"} == {"p.toml", "lamp.dot", "log.csv"}
    assert [each for each in seen if each[0] != "read"] == []
    assert {file: file.read_bytes() for file in home.iterdir()} == before
