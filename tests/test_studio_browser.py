"""The page in a real browser: its five jobs from start to end, wide and narrow, light and dark, by keyboard.

With ASCERTAIN_PICTURES=docs/images the pictures of docs/studio.md are made anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.calls import free_port
from tests.conftest import ROOT
from tests.studios import make_folder, served

pytest.importorskip("nicegui", reason="the extra studio is not installed")

PATIENCE = 60_000
"""Milliseconds: a busy machine is given time, and nothing waits longer than it must."""
CONTRAST = """() => {
  const light = (c) => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255).map(x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
  const found = [];
  for (const e of document.querySelectorAll('button, .studio-text, .studio-heading, th, td, caption, .q-tab__label')) {
    if (!e.offsetParent || !e.textContent.trim() || e.closest('.disabled, [disabled]')) continue;
    let b = e; let back = 'rgba(0, 0, 0, 0)';
    while (b && /, 0\\)$/.test(back)) { back = getComputedStyle(b).backgroundColor; b = b.parentElement; }
    if (/, 0\\)$/.test(back)) back = 'rgb(255, 255, 255)';
    const [x, y] = [light(getComputedStyle(e).color), light(back)].sort((p, q) => q - p);
    const ratio = (x + 0.05) / (y + 0.05);
    if (ratio < 4.5) found.push(e.textContent.trim().slice(0, 40) + ' ' + ratio.toFixed(2) + ' ' + getComputedStyle(e).color + ' on ' + back);
  }
  return found;
}"""  # noqa: E501
"""Texts whose contrast with what is behind them is below 4.5 to 1."""
UNNAMED = """() => [...document.querySelectorAll('button, input, [role=tab], [role=slider], select, textarea')]
  .filter(e => e.offsetParent && !e.closest('.q-field__native[readonly]'))
  .filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length || e.closest('label')
    || e.closest('[aria-label]') || e.getAttribute('aria-labelledby')))
  .map(e => e.outerHTML.slice(0, 120))"""
"""Controls that a screen reader has no name for."""


@contextmanager
def window(browser: Any, url: str, width: int = 1200, scheme: str = "light") -> Iterator[Any]:
    """The page in a window; nothing on it may complain, and nothing is fetched from elsewhere."""
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 900}, accept_downloads=True, reduced_motion="reduce"
    )
    context.set_default_timeout(PATIENCE)
    page, complaints = context.new_page(), []
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    ours = ("http://127.0.0.1", "data:", "blob:")
    page.on("request", lambda asked: None if asked.url.startswith(ours) else complaints.append(asked.url))
    try:
        page.goto(url)
        yield page
        assert complaints == []
    finally:
        context.close()


def check_looks(page: Any) -> None:
    """Nothing sticks out, what is written can be read, and what can be pressed has a name."""
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate(UNNAMED) == []


def keep_picture(page: Any, name: str, tmp_path: Path, height: int = 800) -> None:
    """A picture of the page, for the documents if they are asked for."""
    place = Path(os.environ.get("ASCERTAIN_PICTURES", tmp_path)) / f"{name}.png"
    page.set_viewport_size({"width": page.viewport_size["width"], "height": height})
    page.evaluate("window.scrollTo(0, 0)")
    page.wait_for_timeout(300)
    page.screenshot(path=place, animations="disabled")
    assert 5_000 < place.stat().st_size < 150_000


def test_a_question_its_experiment_and_its_proof(browser: Any, tmp_path: Path) -> None:
    with served(make_folder(tmp_path), "leak.toml") as url, window(browser, url) as page:
        page.get_by_text("Any two hypotheses with different answers").wait_for()
        page.locator(".studio-diagram svg").wait_for()
        check_looks(page)
        keep_picture(page, "studio-question", tmp_path, 900)
        # by keyboard alone
        page.get_by_role("tab", name="Question").focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("document.activeElement.textContent.includes('Experiment')")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Find the experiment").wait_for()
        page.get_by_role("button", name="Find the experiment").focus()
        page.keyboard.press("Enter")
        page.get_by_text("The cheapest experiment costs 24 in the worst case").wait_for()
        page.locator(".studio-tree summary").first.focus()
        page.keyboard.press("Enter")
        assert page.locator(".studio-tree details").first.get_attribute("open") is None
        page.keyboard.press("Enter")
        check_looks(page)
        keep_picture(page, "studio-experiment", tmp_path, 1250)
        taken = {}
        for name in ("leak-proof.json", "leak-proof.task.json"):
            with page.expect_download() as download:
                page.get_by_role("button", name=f"Download {name}", exact=True).click()
            taken[name] = tmp_path / f"taken-{name}"
            download.value.save_as(taken[name])
        page.get_by_role("tab", name="Check").click()
        inputs = page.locator("input[type=file]")
        inputs.nth(1).set_input_files(taken["leak-proof.json"])  # one that is full is no longer there
        inputs.nth(0).set_input_files(taken["leak-proof.task.json"])
        page.get_by_text("task: taken-leak-proof.task.json").wait_for()
        page.get_by_role("button", name="Check", exact=True).click()
        page.get_by_text("VERIFIED", exact=True).wait_for()
        page.get_by_text("no policy settles the question for less than 24").last.wait_for()
        page.get_by_text("What is assumed").wait_for()
        # what was changed on the way is refused
        claim = json.loads(taken["leak-proof.json"].read_text())
        claim["claims"][0]["cost"] = "23"
        taken["leak-proof.json"].write_text(json.dumps(claim))
        page.reload()
        page.get_by_role("tab", name="Check").click()
        inputs.nth(1).set_input_files(taken["leak-proof.json"])  # one that is full is no longer there
        inputs.nth(0).set_input_files(taken["leak-proof.task.json"])
        page.get_by_text("task: taken-leak-proof.task.json").wait_for()
        page.get_by_role("button", name="Check", exact=True).click()
        page.get_by_text("REFUTED").wait_for()


@pytest.mark.slow
def test_a_run_by_hand_on_a_phone_then_its_replay(browser: Any, tmp_path: Path) -> None:
    with served(make_folder(tmp_path), "leak.toml") as url, window(browser, url, 400, "dark") as page:
        page.get_by_role("tab", name="Run").click()
        page.get_by_text("By hand").click()
        check_looks(page)
        page.get_by_role("button", name="Start the run").click()
        for reading in ("vented", "waited"):
            button = page.get_by_role("button", name=reading, exact=True)
            button.wait_for()
            assert button.bounding_box()["height"] >= 60
            button.click()
        page.get_by_role("button", name="low", exact=True).wait_for()
        check_looks(page)
        keep_picture(page, "studio-run", tmp_path, 850)
        page.reload()
        page.get_by_role("tab", name="Run").click()
        page.get_by_role("button", name="low", exact=True).click()
        for reading in ("filled", "waited", "high"):
            page.get_by_role("button", name=reading, exact=True).click()
        page.get_by_text("Answer: tight").wait_for()
        page.get_by_role("button", name="Download").first.wait_for()
        check_looks(page)
        page.get_by_role("tab", name="Replay").click()
        page.get_by_role("button", name="Replay", exact=True).click()
        page.get_by_text("Step 1 of 6").wait_for()
        page.get_by_role("button", name="Last").click()
        page.get_by_text("Step 6 of 6").wait_for()
        page.get_by_text("What was done, and what the observer knew after it").wait_for()
        check_looks(page)
        keep_picture(page, "studio-replay", tmp_path, 850)


@pytest.mark.slow
def test_a_simulated_run_says_so_all_over_the_page_and_can_be_aborted(browser: Any, tmp_path: Path) -> None:
    with served(make_folder(tmp_path), "lamp.toml") as url, window(browser, url) as page:
        page.get_by_role("tab", name="Run").click()
        page.get_by_text("Approve each action before it is sent").click()
        page.get_by_role("button", name="Start the run").click()
        page.get_by_role("button", name="Approve: look").click()
        page.get_by_text("SIMULATION: no plant is asked").wait_for()
        assert page.title().startswith("SIMULATION")
        with window(browser, url) as second:  # another window, with the address of the first
            second.get_by_text("SIMULATION: no plant is asked").wait_for()
            second.get_by_role("button", name="Abort the run").click()
        page.get_by_text("No answer: a person has stopped the run").wait_for()
        check_looks(page)


@pytest.mark.slow
def test_script_in_names_is_text_on_every_tab(browser: Any, tmp_path: Path) -> None:
    hostile = "<img src=x onerror='window.ran=1'>"
    rows = f'''["{hostile}", "{hostile}", "{hostile}", "b"], ["b", "{hostile}", "c", "b"]'''
    (tmp_path / "hostile.toml").write_text(f"[model]\ntransitions = [{rows}]\n")
    with served(tmp_path) as url, window(browser, url) as page:
        page.locator(".studio-diagram svg").wait_for()
        page.get_by_role("tab", name="Experiment").click()
        page.get_by_role("button", name="Find the experiment").click()
        page.get_by_text("The cheapest experiment costs").wait_for()
        page.get_by_role("tab", name="Run").click()
        page.get_by_role("button", name="Start the run").click()
        page.get_by_text("the answer is right (simulated)").wait_for()
        page.get_by_text("A fleet: many plants at once").click()
        page.get_by_label("Hosts", exact=True).fill("[1-2]")
        page.get_by_role("button", name="Start the run").click()
        page.get_by_text("All 2 hosts are done").wait_for()
        page.get_by_role("button", name="Replay 1").click()
        page.get_by_text("What was done, and what the observer knew after it").wait_for()
        assert page.get_by_text(hostile).first.is_visible()
        assert page.evaluate("[window.ran, document.querySelectorAll('img[src=x]').length]") == [None, 0]


@pytest.mark.slow
def test_the_valve_train_over_opc_ua(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("asyncua", reason="the extra opcua is not installed")
    folder = make_folder(tmp_path)
    port = free_port()
    wiring = (ROOT / "examples" / "opcua" / "wiring.toml").read_text().replace("4840", str(port))
    (folder / "train.toml").write_text(wiring)
    command = [sys.executable, str(ROOT / "examples" / "opcua" / "train.py"), "--leak", "2", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as train:
        try:
            assert train.stdout is not None and "valve train" in train.stdout.readline()
            with served(folder, "leak.toml") as url, window(browser, url, 900) as page:
                page.get_by_role("tab", name="Run").click()
                page.get_by_text("Wired plant").click()
                page.get_by_role("button", name="Start the run").click()
                page.get_by_role("button", name="Approve: vent").click()  # what is wired asks by itself
                page.get_by_text("Approve each action", exact=True).click()
                page.get_by_text("Answer: leak2").wait_for()
                page.get_by_text("VT-104").first.wait_for()
                page.get_by_text("VERIFIED").wait_for()
                check_looks(page)
                keep_picture(page, "studio-wired", tmp_path, 900)
                assert not page.get_by_text("SIMULATION: no plant is asked").is_visible()
        finally:
            train.terminate()
            train.wait(timeout=60)
