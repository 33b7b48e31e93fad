"""The other side of a job: a process that takes one road and tells what it hears, a line of JSON at a time.

The first line that it reads says what to do; later ones are for the road: stop, pause, approve, a reading. When nobody
is left to talk to it ends at once, like a run whose machine has failed: the journal is the state.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any, final

from ascertain.drawing.outline import Outline
from ascertain.errors import AscertainError, LimitError
from ascertain.pipeline.bound import Bounds, bound, bound_around
from ascertain.pipeline.cheap_bound import bound_cheaply
from ascertain.pipeline.fleet import RESULTS, HostRun, observe_fleet
from ascertain.pipeline.inspect import inspect
from ascertain.pipeline.moments import Moment, Proposal
from ascertain.pipeline.observe import observe
from ascertain.pipeline.replay import replay
from ascertain.pipeline.settle import SearchProgress, Settled, settle
from ascertain.pipeline.verify import verify
from ascertain.problem.edit import save_problem
from ascertain.problem.hosts import Host
from ascertain.problem.problem import Problem, read_any_problem
from ascertain.report.answers import answer_text

EVERY = 0.2
"""Seconds between two reports of a search: as often as people see a difference."""
AROUND = 5.0
"""Seconds for both sides at each other alpha: five of them are waited for."""
MOST_NAMES = 200
"""Names of a list that are shown: more are looked for elsewhere."""
MOST_NODES = 100_000
"""Nodes of a tree that is handed over: what is larger is downloaded, and read by programs."""
MOST_DRAWN = 2000
"""Lines of a tree that is drawn as a picture: more are legible nowhere."""


@final
class Line:
    """The way back: what is said there, and what has been heard from there."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # whatever else is printed does not disturb
        self._lock, self.changed = threading.Lock(), threading.Condition()
        self.stopped = self.paused = self.each = False
        self.interrupts = True
        """Whether a stop interrupts what is computed, which then ends with the best so far; a run looks by itself."""
        self.approved = 0
        """The number of the proposal that a person has approved last."""
        self.proposed = 0
        self.typed: list[str] = []

    def say(self, event: str, **words: Any) -> None:
        """One more line."""
        with self._lock:
            self._out.write(json.dumps({"event": event, **words}, default=str) + "\n")
            self._out.flush()

    def listen(self) -> None:
        """Hear what comes until the other side is gone; then there is nothing left to do here."""
        for text in sys.stdin:
            word = json.loads(text)
            with self.changed:
                self.paused, self.each = word.get("pause", self.paused), word.get("each", self.each)
                self.approved = word.get("approve", self.approved)
                self.typed += [word["reading"]] if "reading" in word else []
                self.stopped |= bool(word.get("stop"))
                self.changed.notify_all()
            if word.get("stop") and self.interrupts:
                os.kill(os.getpid(), signal.SIGINT)
        os._exit(1)

    def wait(self, ready: Callable[[], bool]) -> None:
        """Until that is so, or the run is stopped."""
        with self.changed:
            self.changed.wait_for(lambda: self.stopped or ready())


def look(line: Line, path: str, text: str) -> dict[str, Any]:
    """What a problem's text asks, and whether that can be answered."""
    del line
    posed = read_any_problem(path, text)
    question, model = posed.question, posed.question.model
    found: dict[str, Any] = {
        "about": question.about,
        "alpha": str(question.alpha),
        "beta": str(question.beta),
        "noisy": model.is_noisy,
        "prices": [(model.actions[a], str(question.cost[a])) for a in question.actions],
        "actions": list((posed.operated or model).actions),  # the forbidden ones too
        "num_hypotheses": question.num_hypotheses,
    }
    try:
        inspected = inspect(posed)
    except LimitError as reason:  # too many states to list: what there is to say is that
        return {**found, "facts": dict(model.size_facts()), "large": str(reason), "flowchart": None, "hypotheses": []}
    listed = posed.listed_question
    first = range(min(listed.num_hypotheses, MOST_NAMES))
    named = [(listed.name_candidate(listed.candidates[h]), listed.labels[listed.label[h]]) for h in first]
    block: list[int] = inspected.quotient.hypothesis_class.tolist() if inspected.quotient is not None else []
    return {
        **found,
        "facts": inspected.facts(),
        "flowchart": inspected.flowchart,
        "hypotheses": [(*pair, block[h]) for h, pair in enumerate(named)],
    }


def experiment(line: Line, path: str, text: str, out: str, around: bool) -> dict[str, Any]:
    """The cheapest experiment, or both sides under noise, and the files that the command line would write."""
    posed = read_any_problem(path, text)
    stem, folder = Path(path).stem, Path(out)
    if posed.question.model.is_noisy:
        found: Settled | Bounds = bound(posed, certified=True, tell=lambda said: line.say("doing", said=said))
        root, verb = found.controller and found.controller.outline(), "bounds"
        if found.policy is not None:
            found.write_policy(folder / f"{stem}-policy.json")
    else:
        found, verb = settle(posed, progress=_closing_in(line), prove="always"), "solve"
        root = found.outline
    if found.certificate is not None:
        found.write_certificate(folder / f"{stem}-proof.json")
    facts = found.facts()
    (folder / f"{stem}-{verb}.json").write_text(answer_text(verb, facts), "utf-8")
    nodes = [] if root is None else _flatten(root)
    for suffix in (".html", ".dot", ".txt", *([".svg"] if len(nodes) <= MOST_DRAWN else [])):
        if nodes and isinstance(found, Settled):
            found.draw(folder / f"{stem}{suffix}", stem)
        elif nodes and isinstance(found, Bounds):
            found.draw_policy(folder / f"{stem}{suffix}", stem)
    result = {
        "verb": verb,
        "facts": {key: value for key, value in facts.items() if key != "policy"},
        "nodes": nodes if len(nodes) <= MOST_NODES else [],
        "num_nodes": len(nodes),
        "obstruction": found.obstruction and found.obstruction.sentence,
        "proved": [] if found.verdict is None else list(found.verdict.proved),
        "files": sorted(file.name for file in folder.iterdir()),
    }
    line.say("found", result=result)
    if around and isinstance(found, Bounds) and found.stopped_by != "interrupt":
        _tell_around(line, found)
    return {}


def _tell_around(line: Line, found: Bounds) -> None:
    """Both sides at other risks, each when it is known."""

    def progress(k: int, n: int) -> None:
        line.say("doing", said=f"both sides at alpha {k + 1} of {n}")

    for point in bound_around(found, progress, time_limit=AROUND):
        line.say("point", alpha=str(point.question.alpha), lower=_float(point.best), upper=_float(point.upper))


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _closing_in(line: Line) -> SearchProgress:
    due = 0.0

    def show(lower: Fraction, upper: Fraction | None, stats: Any) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + EVERY
            known = "none found yet" if upper is None else str(upper)
            line.say("sides", lower=str(lower), upper=known, seconds=stats.seconds, configurations=stats.configurations)

    return show


def _flatten(root: Outline) -> list[tuple[Any, ...]]:
    """The nodes of a tree, each before those below it: its parent and what a line of it says."""
    nodes: list[tuple[Any, ...]] = []

    def add(node: Outline, parent: int) -> None:
        here = len(nodes)
        nodes.append((parent, node.reading, node.text, node.kind, node.name, node.cost, node.worst, node.number))
        for child in node.children:
            add(child, here)

    add(root, -1)
    return nodes


def run(
    line: Line, path: str, plant: str, journal: str, resume: bool, each: bool, out: str, timeout: float
) -> dict[str, Any]:
    """A run on a plant; each action is proposed, each step is told."""
    posed, line.each = read_any_problem(path), each
    stem = Path(journal).stem
    bounded = bound_cheaply(posed, posed.question.alpha)
    line.say("bound", value=None if bounded.value is None else str(bounded.value), meaning=bounded.meaning)

    def propose(proposal: Proposal) -> bool:
        line.proposed += 1
        line.say("next", number=line.proposed, **asdict(proposal))
        line.wait(lambda: not line.paused and (not line.each or line.approved == line.proposed))
        line.say("sending", action=proposal.action)
        return True

    def ask(prompt: str) -> str:
        line.say("ask", prompt=prompt)
        line.wait(lambda: bool(line.typed))
        if line.stopped:
            raise EOFError
        return line.typed.pop(0)

    observed = observe(
        posed,
        plant,
        journal=journal,
        resume=resume,
        timeout=timeout,
        propose=propose,
        stopped=lambda: line.stopped,
        ask=ask,
        watch=lambda moment: line.say("step", last=moment.last, faults=moment.faults, view=_view(moment.view)),
        note=lambda said: line.say("note", said=said),
    )
    line.say("over", facts=observed.facts())  # and what can be written about it
    page = Path(out) / f"{stem}.html" if find_spec("matplotlib") else None
    written = observe(posed, journal=journal, resume=True, certificate=Path(out) / f"{stem}.json", report=page)
    files = sorted(file.name for file in Path(out).iterdir())
    return {"facts": {**observed.facts(), "certificate": written.certificate}, "files": files}


def fleet(
    line: Line,
    path: str,
    plant: str,
    hosts: str,
    folder: str,
    resume: bool,
    parallel: int,
    certificates: str | None,
) -> dict[str, Any]:
    """A run on each of many plants; how they are is told now and then, those alone that have changed."""
    changed: dict[str, tuple[str, str, str]] = {}
    counted, lock, over = [0, 0], threading.Lock(), threading.Event()

    def hear(host: Host, what: Moment | HostRun | None) -> None:
        if isinstance(what, HostRun):
            row = what.row()[1:]
        else:
            row = ("running", "" if what is None else what.last or "", "" if what is None else str(what.view.cost))
        with lock:
            changed[host.name] = row

    def progress(done: int, total: int) -> None:
        counted[:] = done, total

    def tell() -> None:
        with lock:
            rows, (done, total) = [(name, *row) for name, row in changed.items()], counted
            changed.clear()
        if rows:
            line.say("rows", rows=rows, done=done, total=total)

    def keep_telling() -> None:
        while not over.wait(EVERY):
            tell()

    teller = threading.Thread(target=keep_telling, daemon=True)
    teller.start()
    try:
        found = observe_fleet(
            read_any_problem(path),
            plant,
            hosts,
            folder=folder,
            resume=resume,
            certificates=certificates,
            parallel=parallel,
            note=lambda said: line.say("note", said=said),
            progress=progress,
            hear=hear,
        )
    finally:
        over.set()
        teller.join()
        tell()
    return {"counts": found.counts(), "seconds": found.seconds, "file": RESULTS}


def _view(view: Any) -> dict[str, Any]:
    """What could be seen, as JSON can say it: nothing in place of what is infinite."""
    shown = asdict(view)
    for key in ("evidence_nats", "threshold_nats"):
        shown[key] = shown[key] if math.isfinite(shown[key]) else None
    return shown


def retell(line: Line, journal: str, path: str | None) -> dict[str, Any]:
    """A recorded run, step by step."""
    del line
    told = replay(journal, path)
    return {
        **told.recorded.facts(),
        "without": told.without,
        "views": list(map(_view, told.views)),
    }


def check(line: Line, task: str, certificate: str) -> dict[str, Any]:
    """What the checker says of a certificate."""
    del line
    given: Problem | str = read_any_problem(task) if task.endswith(".toml") else task
    verdict = verify(given, certificate)
    return {"word": verdict.word, "reason": verdict.reason, "proved": list(verdict.proved)}


def save(line: Line, path: str, text: str) -> dict[str, Any]:
    """Write a text over a problem file, if it is a problem."""
    del line
    save_problem(Path(path), text)
    return {}


JOBS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "look": look,
    "experiment": experiment,
    "run": run,
    "fleet": fleet,
    "retell": retell,
    "check": check,
    "save": save,
}
"""What can be asked for, by name."""


def main() -> None:
    """Do the job of the first line."""
    line = Line()
    asked = sys.stdin.readline()
    if not asked:
        return
    job = json.loads(asked)
    line.interrupts = job["job"] != "run"
    try:
        threading.Thread(target=line.listen, daemon=True).start()
        line.say("done", result=JOBS[job.pop("job")](line, **job))
    except AscertainError as reason:
        line.say("refused", sentence=str(reason), code=reason.exit_code)
    except KeyboardInterrupt:
        line.say("refused", sentence="stopped", code=130)
    except Exception as fault:
        line.say("refused", sentence=f"internal error: {type(fault).__name__}: {fault}", code=5)


if __name__ == "__main__":
    main()
