"""The pages of a run and of a simulation: all that was recorded is on them, and a browser really draws them."""

from __future__ import annotations

import json
import math
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import ascertain
from ascertain.errors import FileError, MissingExtraError, TaskError
from ascertain.pipeline.run_page import MOST_ROWS, LowerBound, RunStory, describe_run
from ascertain.pipeline.simulate import simulate_runs
from ascertain.pipeline.simulated_runs import Rate, SimulatedRuns
from ascertain.pipeline.simulation_page import describe_runs
from ascertain.plant.faults import InDoubt, Missing, Refused
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Abstained
from ascertain.problem.problem import read_problem
from ascertain.report.page import draw_page
from ascertain.report.record import Figure, Page, Section, Series
from tests.calls import answer, call
from tests.conftest import LAMP, ROOT

TURNTABLE = ROOT / "examples/operation/turntable.toml"
HOSTILE = "<script>document.title='hacked'</script>"
NOISY = f"""
[model]
transitions = [
  ["{HOSTILE}", "look \\u001b[31m$x$", {{ "<b>d</b>" = "19/20", l = "1/20" }}, "{HOSTILE}"],
  ["lit", "look \\u001b[31m$x$", {{ l = "19/20", "<b>d</b>" = "1/20" }}, "lit"],
]
[risk]
alpha = "1/1000"
beta = "1/20"
"""


class Flaky:
    """A lamp whose second reading is lost, and of whose fourth action nobody knows whether it ran."""

    def __init__(self, start: int, *, fails: bool = False) -> None:
        self._plant, self._number, self._fails = SimulatedPlant(read_problem(LAMP).task.model, start, 5), 0, fails

    def send(self, action: str) -> str:
        self._number += 1
        if self._number == 4:
            raise InDoubt("no answer came")
        read = self._plant.send(action)
        if self._number == 2:
            raise Missing(f"nothing could be read {HOSTILE}")
        if self._number == 5 and self._fails:
            raise Refused("purple")
        return read


def words_of(page: str) -> str:
    """What a person reads of a page: without drawings, styles and marks."""
    bare = re.sub(r"<(svg|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", bare))


def section(page: Page, name: str) -> Section:
    return next(part for part in page.sections if part.name == name)


def story(run: ascertain.Run, **words: Any) -> RunStory:
    given: dict[str, Any] = {"records": (), "plant": None, "truth": None, "right": None, "checked": None, **words}
    return RunStory(problem="p", run=run, lower=LowerBound(None, "of no interest"), **given)


def test_the_page_of_a_run_holds_all_that_was_asked_done_read_and_assumed(tmp_path: Path) -> None:
    path, proof = tmp_path / "run.html", tmp_path / "proof.json"
    done = ascertain.observe(LAMP, Flaky(1), probing="separating", report=path, certificate=proof)
    page, facts = path.read_text(), done.facts()
    told = words_of(page)
    for words in (
        f"Certified: {facts['label']}, with a risk of at most 1/1,000,000 ({facts['actions']} actions",
        "the action ran; the run went on without the reading",
        "nobody knows whether the action ran; the run went on with both cases",
        "the checker says VERIFIED",
        "python -P -m ascertain_check proof.task.json proof.json",
        "Readings were lost for reasons that have nothing to do with their values",
        "Whether an action in doubt ran",
        "No other run of the question was made and thrown away",
        "The lower bound is 5.213: no policy that is wrong with probability at most 1/1000000",
        json.loads(proof.read_text())["claims"][0]["head"],
    ):
        assert words in told, words
    steps = re.findall(r'data-name="steps".*?<tbody>(.*?)</tbody>', page, flags=re.DOTALL)[0]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in steps.split("<tr>")[1:]]
    assert [row[1] for row in rows] == [action for action, _, _ in facts["transcript"]]
    expected = [reading or ("missing" if certain else "in doubt") for _, reading, certain in facts["transcript"]]
    assert [row[2] for row in rows] == expected and rows[-1][-1] == facts["cost"]


def test_the_figures_show_evidence_that_reaches_its_threshold_and_rivals_that_run_out() -> None:
    done = ascertain.observe(LAMP, "simulated:3:lit", probing="round-robin")
    evidence, rivals = section(describe_run(story(done.run)), "evidence").figures
    against, needed = evidence.series
    assert set(needed.y) == {math.log(10**6)}
    assert against.y[-1] >= needed.y[-1] > max(against.y[:-1])
    views = [view for _, view in done.run.observer.history()]
    assert against.y[:-1] == tuple(view.evidence_nats for view in views[:-1])
    assert rivals.series[0].y == tuple(float(view.rivals or 0) for view in views) and rivals.series[0].y[-1] == 0


def test_a_run_without_noise_does_not_talk_of_nats(tmp_path: Path) -> None:
    ascertain.observe(TURNTABLE, "simulated:4", report=tmp_path / "run.html")
    told = words_of((tmp_path / "run.html").read_text())
    assert "nats" not in told and "with certainty, if the model is right" in told
    assert "the cheapest experiment costs so much in the worst case" in told and "After 1 action the fallback" in told


def test_a_run_that_follows_a_policy_says_what_is_proved_of_it(tmp_path: Path) -> None:
    problem, journal, page = tmp_path / "x.toml", tmp_path / "run.journal", tmp_path / "run.html"
    problem.write_text(NOISY)
    ascertain.observe(problem, "simulated:1", policy="certified", journal=journal, report=page)
    told = words_of(page.read_text())
    for words in (
        "it collects no evidence",
        "the policy is wrong with probability at most",
        "the checker says VERIFIED",
    ):
        assert words in told, words
    assert "nothing fits" not in told and "needed" not in told
    ascertain.observe(problem, journal=journal, resume=True, report=tmp_path / "later.html")
    assert "the checker says VERIFIED" in words_of((tmp_path / "later.html").read_text())


def test_a_page_is_drawn_from_a_journal_later_and_no_plant_is_needed(tmp_path: Path) -> None:
    journal, first, later = tmp_path / "run.journal", tmp_path / "first.html", tmp_path / "later.html"
    ascertain.observe(LAMP, Flaky(1), probing="separating", journal=journal, report=first)
    before = journal.read_bytes()
    call("observe", LAMP, "--probing", "separating", "--journal", journal, "--resume", "--report", later)
    assert journal.read_bytes() == before
    told = words_of(later.read_text())
    assert "recorded in the journal, which keeps no more of a fault" in told and "in doubt" in told
    pattern = r'data-name="(steps|proof|actions)".*?</table>'
    again = [found.group() for found in re.finditer(pattern, later.read_text(), flags=re.DOTALL)]
    assert again == [found.group() for found in re.finditer(pattern, first.read_text(), flags=re.DOTALL)]


def test_a_run_that_has_not_ended_needs_its_plant_or_a_dry_run(tmp_path: Path) -> None:
    journal, page = tmp_path / "run.journal", tmp_path / "run.html"

    def stop(moment: Any) -> None:
        if moment.view.actions == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ascertain.observe(LAMP, "simulated:3", journal=journal, watch=stop)
    with pytest.raises(TaskError, match="--plant PLANT is needed"):
        ascertain.observe(LAMP, journal=journal, resume=True, report=page)
    assert not page.exists()
    ascertain.observe(LAMP, journal=journal, resume=True, dry_run=True, report=page)
    assert "Not ended yet: 2 actions, 2 readings, cost 2; the next action is look." in words_of(page.read_text())
    bare = call("observe", LAMP, code=2)
    assert bare.stderr.count("\n") == 1 and "--plant PLANT is needed" in bare.stderr


def test_a_plant_that_fails_is_told_with_the_fault_that_ended_the_run(tmp_path: Path) -> None:
    done = ascertain.observe(LAMP, Flaky(1, fails=True), probing="separating", report=tmp_path / "run.html")
    told = words_of((tmp_path / "run.html").read_text())
    assert done.run.plant_failed and [number for number, _ in done.run.met] == [2, 4, 5]
    assert "purple" in told and "the run ended without an answer" in told and "There is no certificate" in told


def test_a_long_run_is_listed_from_both_ends_and_drawn_in_part() -> None:
    problem = read_problem(LAMP)
    settings, make_bank = ascertain.pose_observer(problem, budget=5000)
    observer = ascertain.start_observer(settings, make_bank)
    press = problem.task.model.actions.index("press the switch")
    click = problem.task.model.readings.index("click")
    for _ in range(2050):
        observer = observer.update(press, click)
    page = describe_run(story(ascertain.Run(Abstained("enough"), observer)))
    [table] = section(page, "done").tables
    assert len(table.rows) == MOST_ROWS and table.rows[0][0] == 1 and table.rows[-1][0] == 2050
    assert "of 2,050 actions" in table.note
    assert section(page, "evidence").figures[0].series[0].x[-1] == 2050
    assert len(section(page, "evidence").figures[0].series[0].x) == 1025


def test_names_from_a_hostile_file_stay_text(tmp_path: Path) -> None:
    problem, page = tmp_path / "x.toml", tmp_path / "run.html"
    problem.write_text(NOISY)
    ascertain.observe(problem, "simulated:1", policy="eager", report=page)
    simulate_runs(problem, runs=5, state=HOSTILE, report=tmp_path / "sim.html")
    for text in (page.read_text(), (tmp_path / "sim.html").read_text()):
        assert "<script" not in text and "\x1b" not in text and "<b>d" not in text
        assert "&lt;script&gt;" in text
        outside = re.findall(r"(?:src|href)=\"(?!#)([^\"]*)\"|url\((?!#)([^)]*)\)|@import", text)
        assert outside == []
        names = re.findall(r"\bid=\"([^\"]+)\"", text)
        assert len(names) == len(set(names))


def test_the_page_of_a_simulation_has_rates_with_intervals_and_a_histogram(tmp_path: Path) -> None:
    problem, path = tmp_path / "x.toml", tmp_path / "sim.html"
    problem.write_text(NOISY)
    facts = answer("simulate", problem, "--runs", "60", "--report", path)
    told = words_of(path.read_text())
    assert "60 runs cost" in told and "95 % interval" in told
    assert f"abstentions {facts['abstained']['count']}" in told and f"wrong answers {facts['wrong']['count']}" in told
    for cost, number in facts["costs"][:2]:
        assert f"{cost} {number}" in told
    call("simulate", problem, "--report", path, code=2)


def test_many_costs_are_drawn_in_ranges_that_hold_every_run() -> None:
    rates = Rate(0, 7140), Rate(0, 7140)
    counted = SimulatedRuns({Fraction(k, 3): k for k in range(1, 120)}, *rates)
    bars = counted.histogram(4)
    assert sum(n for _, _, n in bars) == 7140 == sum(counted.costs.values())
    assert [low for low, _, _ in bars[1:]] == [high for _, high, _ in bars[:-1]]
    assert (bars[0][0], bars[-1][1]) == (Fraction(1, 3), Fraction(119, 3))
    for low, high, number in bars[:-1]:
        assert number == sum(n for cost, n in counted.costs.items() if low <= cost < high)
    page = describe_runs(counted, read_problem(LAMP).task, "p", "given", 0)
    [figure] = section(page, "cost").figures
    assert sum(figure.series[0].y) == 7140 and figure.series[0].mark == "steps"


def test_what_cannot_be_drawn_or_written_is_refused_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Untouched:
        def send(self, action: str) -> str:
            raise AssertionError(f"{action} was sent")

    for path, why in (
        (tmp_path / "none/run.html", "there is no folder"),
        (tmp_path, "this is a folder"),
        ("\0", "cannot be the name"),
    ):
        with pytest.raises(FileError, match=why):
            ascertain.observe(LAMP, Untouched(), report=path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ascertain\[plots\]'"):
        ascertain.observe(LAMP, Untouched(), report=tmp_path / "run.html")
    with pytest.raises(MissingExtraError):
        simulate_runs(LAMP, runs=5, report=tmp_path / "sim.html")


def test_a_page_does_not_overwrite_what_it_is_about(tmp_path: Path) -> None:
    problem = tmp_path / "x.toml"
    problem.write_text(NOISY)
    same = ["--plant", "simulated:1", "--journal", str(tmp_path / "j"), "--report", str(tmp_path / "j")]
    for arguments in (["observe", str(problem), "--plant", "simulated:1", "--report", str(problem)],
                      ["observe", str(problem), *same],
                      ["simulate", str(problem), "--runs", "3", "--report", str(problem)]):  # fmt: skip
        call(*arguments, code=2)
    assert problem.read_text() == NOISY


def test_bars_keep_their_names() -> None:
    bars = Figure("f", "t", "x", "y", (Series("s", ("first", "second"), (1.0, 2.0), mark="bars"),))
    page = draw_page(Page("t", "a", good=True, sections=(Section("s", "s", figures=(bars,)),)))
    assert "<!-- first -->" in page and "<!-- second -->" in page


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("pages")
    problem = folder / f"a-rather-long-name-{'x' * 90}.toml"
    problem.write_text(NOISY)
    ascertain.observe(LAMP, Flaky(1), probing="separating", report=folder / "run.html")
    eager = {"policy": "eager", "certificate": folder / "proof.json"}
    ascertain.observe(problem, "simulated:1", report=folder / "hostile.html", **eager)
    simulate_runs(problem, runs=40, report=folder / "sim.html")
    return [folder / name for name in ("run.html", "hostile.html", "sim.html")]


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (400, "dark")])
def test_a_browser_draws_the_pages_wide_narrow_light_and_dark(
    browser: Any, pages: list[Path], width: int, scheme: str
) -> None:
    context = browser.new_context(color_scheme=scheme, offline=True, viewport={"width": width, "height": 900})
    for path in pages:
        page = context.new_page()
        complaints: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message, said=complaints: said.append(message.text))
        page.on("pageerror", lambda error, said=complaints: said.append(str(error)))
        page.on("request", lambda request, seen=asked: seen.append(request.url))
        page.goto(path.as_uri())
        assert page.title() != "hacked" and complaints == [] and asked == [path.as_uri()]
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        figures = page.locator("figure svg:visible")
        assert figures.count() == (1 if path.name == "sim.html" else 2)
        for i in range(figures.count()):
            shown = figures.nth(i).bounding_box()
            across = float(figures.nth(i).get_attribute("viewBox").split()[2])
            assert 9 * shown["width"] / across >= 11  # letters of 9 points are legible
            assert figures.nth(i).locator("path").count() > 10
        for name in ("answer", "asked", "cost"):
            assert page.locator(f"#{name}").is_visible()
        background, ink, letters = page.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,"
            " getComputedStyle(document.querySelector('figure svg g[id*=text] :is(path, use)')).fill]"
        )
        bright = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (background, ink)]
        light, dark = bright if scheme == "light" else reversed(bright)
        assert light > 600 and dark < 200 and letters == ink
    context.close()
