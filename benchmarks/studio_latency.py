"""How quick the page is while a search runs: 100,000 states, a tree of 10,000 nodes and more, a real browser.

    python benchmarks/studio_latency.py [--states 100000] [--hypotheses 10000] [--rounds 20] [--seconds 60]

A random machine is written, its experiment is looked for and stopped after a while, and then looked for again:
while that search runs, tabs are switched, branches are folded, the tree is walked and searched, and letters are typed
into a field and into the problem's text. What is measured is the time from the press to the picture, in the browser,
by its own clock. The search takes one core; the page, its browser and this program take another.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

BEGAN = time.monotonic()
SETTLED = 300
"""Milliseconds between two presses: people are no faster, and what the last one has begun is over."""
WAIT = 600_000
"""Milliseconds that a search may take."""
WATCH = """([act, test]) => new Promise((done) => {
  const ready = new Function('return ' + test), began = performance.now();
  const look = () => ready() ? requestAnimationFrame(() => done(performance.now() - began)) : setTimeout(look, 1);
  new Function(act)(); look(); })"""
"""Do something and wait until a test holds and a picture of it is drawn: the milliseconds in between."""
TYPED = "document.execCommand('insertText', false, '{}')"
"""Type into what has the focus, as a keyboard does."""


def write_machine(folder: Path, states: int, hypotheses: int) -> None:
    """A random machine of three actions, which merge no states, and the question which of some states it began in."""
    draw = random.Random(1)
    steps: list[list[str]] = []
    for action in ("a", "b", "c"):
        after = draw.sample(range(states), states)
        steps += [[f"s{s}", action, str(draw.randrange(2)), f"s{t}"] for s, t in enumerate(after)]
    machine = {"format": "ascertain-model", "version": 1, "initial": "s0", "transitions": steps}
    (folder / "large.json").write_text(json.dumps(machine))
    names = ", ".join(f'"s{s}"' for s in range(hypotheses))
    (folder / "large.toml").write_text(f'model = "large.json"\n\n[task]\nhypotheses = [{names}]\n')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=100_000)
    parser.add_argument("--hypotheses", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=60, help="of the first search, which has to find a policy")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_machine(folder, chosen.states, chosen.hypotheses)
        command = [sys.executable, "-m", "ascertain", "studio", "large.toml", "--json"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            url = json.loads("".join(iter(server.stdout.readline, "}\n")) + "}")["url"]
            try:
                measure(url, chosen.rounds, chosen.seconds)
            finally:
                server.terminate()


def say(text: str) -> None:
    """How far it is: some steps take minutes."""
    print(f"{time.monotonic() - BEGAN:6.1f} s  {text}", file=sys.stderr, flush=True)


def measure(url: str, rounds: int, seconds: int) -> None:
    with sync_playwright() as driver:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.set_default_timeout(WAIT)
        page.goto(url)
        page.get_by_text("Any two hypotheses with different answers").wait_for()
        say("the question is read")
        page.get_by_role("tab", name="Experiment").click()
        page.get_by_role("button", name="Find the experiment").click()
        page.wait_for_timeout(1000 * seconds)
        page.get_by_role("button", name="Stop").click()
        say("the first search is stopped, and proves what it has found")
        page.locator(".studio-tree").wait_for()
        nodes = page.locator("text=/^[\\d,]+, \\d+$/").first.inner_text()
        page.get_by_role("button", name="Find the experiment").click()
        page.get_by_text("Searching:").wait_for()
        say("the second search runs")
        found: dict[str, list[float]] = {}
        for k in range(rounds):
            for name, milliseconds in interact(page):
                found.setdefault(name, []).append(milliseconds)
            worst = ", ".join(f"{name} {times[-1]:.0f} ms" for name, times in found.items())
            say(f"round {k + 1}: {worst}")
            page.get_by_text("Searching:").wait_for(timeout=5000)  # else the search has ended too soon
        print(f"nodes and depth of the tree: {nodes}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print("| interaction | median | 95 % | most |\n|---|---|---|---|")
        for name, times in found.items():
            ranked = sorted(times)
            high = ranked[int(0.95 * (len(ranked) - 1))]
            print(f"| {name} | {statistics.median(times):.0f} ms | {high:.0f} ms | {ranked[-1]:.0f} ms |")
        browser.close()


def interact(page: Any) -> list[tuple[str, float]]:
    """One round of presses and letters, the page left as it was."""

    def act(done: str, test: str) -> float:
        return page.evaluate(WATCH, [done, test])

    def press(selector: str, test: str) -> float:
        return act(f"document.querySelector({json.dumps(selector)}).click()", test)

    tabs, tree = "[...document.querySelectorAll('[role=tab]')]", "document.querySelector('.studio-tree')"
    page.evaluate(f"{tabs}.forEach((tab, k) => tab.id = 'tab' + k)")
    panel = "document.querySelector('.q-tab-panel').innerText.includes('{}')"
    to = ((2, "A new run"), (0, "Can it be answered?"), (1, "Find the experiment"))
    times = [("switch to another tab", press(f"#tab{k}", panel.format(text))) for k, text in to]
    branch = ".studio-tree details"
    times.append(("fold a branch", press(f"{branch} summary", f"!document.querySelector('{branch}').open")))
    times.append(("unfold it", press(f"{branch} summary", f"document.querySelector('{branch}').open")))
    for name, button in (
        ("go on below in the tree", ".studio-tree button[data-node]"),
        ("go back up", '[aria-label="Path in the tree"] button'),
    ):
        page.locator(button).first.wait_for()
        page.evaluate(f"window.before = {tree}.innerHTML")
        times.append((name, press(button, f"{tree}.innerHTML !== window.before")))
    page.get_by_label("Search the tree").focus()
    matches = "document.querySelector('.studio-matches').innerText"
    page.evaluate("window.typed = document.activeElement.value")
    times.append(
        ("type a letter into a field", act(TYPED.format("s"), "document.activeElement.value !== window.typed"))
    )
    for letter in "123":
        page.wait_for_timeout(SETTLED)
        page.evaluate(f"window.before = {matches}")
        times.append(("search the tree for one letter more", act(TYPED.format(letter), f"{matches} !== window.before")))
    page.get_by_label("Search the tree").fill("")
    page.wait_for_function(f"!{matches}.includes('found')")
    page.evaluate("document.getElementById('tab0').click()")
    page.locator(".cm-content").focus()
    page.wait_for_timeout(SETTLED)
    text = "document.querySelector('.cm-content').textContent.length"
    page.evaluate(f"window.before = {text}")
    times.append(("type a letter into the text", act(TYPED.format("#"), f"{text} !== window.before")))
    page.keyboard.press("Backspace")
    page.evaluate("document.getElementById('tab1').click()")
    page.wait_for_timeout(SETTLED)
    return times


if __name__ == "__main__":
    main()
