"""Reports: tables in every format, figures that are the same each time, and a page that a browser really draws."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ascertain.report.tables import Table, is_text, show, show_ratio
from ascertain_check import check
from ascertain_paper.report.figures import draw_figure
from ascertain_paper.report.folder import prepare_folder, write_results
from ascertain_paper.report.page import draw_page
from ascertain_paper.report.plain import study_data
from ascertain_paper.report.summary import summarise
from ascertain_paper.report.tables import to_csv, to_latex, to_markdown
from ascertain_paper.studies.story.run import live_through
from ascertain_paper.studies.story.study import tell
from ascertain_paper.study import Excerpt, OpenChoice, Study
from ascertain_paper.testbed.settings import load_settings
from ascertain_paper.testbed.testbed import load_testbed
from tests.conftest import ROOT
from tests.test_report_figures import BARS, POINTS

STAGES = ("nominal", "fallback")
TABLE = Table(
    "beside",
    "Reads & steps",
    ("policy", "reads", "paper", "steps", "paper", "verdict"),
    (
        ("eager", 95.25, 104.25, 302_427_000, 8.6, "better"),
        ("<b>staged</b>|_", Fraction(177, 2), None, Fraction(12), 1.6, "differs: open world"),
        ("kept", 0.0004, 1.0, 3, 2.0, "kept"),
    ),
    "Within 5 % is reproduced.",
)
STUDY = Study(
    name="example",
    title="An <i>example</i>",
    settings_hash="a" * 64,
    quick=True,
    seconds=1.25,
    rows=({"policy": "eager", "mean_reads": Fraction(1, 3)},),
    tables=(TABLE,),
    figures=(POINTS, BARS),
    findings=("Found & told.",),
    choices=(OpenChoice("what", "this", "that"),),
    excerpts=(Excerpt("A log", "first <line>\nsecond\x1b[31m line", "a note"),),
    attachments={"proof.json": b"{}"},
)


@pytest.fixture(scope="module")
def story() -> Study:
    return replace(tell(live_through(load_testbed("small"))), settings_hash="b" * 64, seconds=1.0)


def test_cells_are_shown_as_people_read_them() -> None:
    cells = (None, "word", 1234567, Fraction(6, 2), Fraction(1, 3), 12345.6, 0.5, 0.00012, True)
    shown = [show(cell) for cell in cells]
    assert shown == ["-", "word", "1,234,567", "3", "0.333", "12,346", "0.500", "0.00012", "True"]


def test_markdown_and_latex_escape_what_would_break_them() -> None:
    markdown = to_markdown(TABLE)
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(rows) == 5 and all(len(re.findall(r"(?<!\\)\|", row)) == 7 for row in rows)
    assert "Within 5 %" in markdown
    latex = to_latex(TABLE)
    assert r"Reads \& steps" in latex and r"\_" in latex and latex.count(r"\\") == 4
    assert latex.index(r"\end{tabular}") < latex.index(r"Within 5 \% is reproduced.") < latex.index(r"\end{table}")


def test_latex_takes_every_sign_that_it_would_read_as_a_command() -> None:
    cell = "1/j^3 \\ a~b {c} 50 % <x> |y| ±1 & #2 $3 _"
    latex = to_latex(Table("signs", "T", (cell,), ((cell,),)))
    body = latex.split(r"\midrule")[1].split(r"\\")[0]
    expected = (
        r"1/j\textasciicircum{}3 \textbackslash{} a\textasciitilde{}b \{c\} 50 \% \textless{}x\textgreater{} "
        r"\textbar{}y\textbar{} $\pm$1 \& \#2 \$3 \_"
    )
    assert body.strip() == expected
    assert not re.search(r"(?<!\\)[&#_%^~]", body)


def test_a_column_of_counts_out_of_a_total_is_one_of_numbers() -> None:
    rows = (("staged", "72/72", 3, "never"), ("eager", "100/101", None, 4.5), ("x", None, None, 2))
    table = Table("t", "T", ("policy", "correct", "n", "crossing"), rows)
    assert [is_text(table, column) for column in range(4)] == [True, False, False, False]
    page = draw_page([replace(STUDY, tables=(table,), figures=())])
    assert '<td class="number ">72/72</td>' in page and '<th class="number">correct</th>' in page


def test_the_page_shows_the_command_that_makes_a_section_again() -> None:
    plain = replace(STUDY, figures=())
    assert "<code>ascertain reproduce" not in draw_page([plain])
    command = "ascertain reproduce example --full --settings small"
    assert f"<code>{command}</code>" in draw_page([replace(plain, command=command)])


def test_csv_keeps_rationals_and_tells_columns_of_one_name_apart() -> None:
    rows = list(csv.reader(io.StringIO(to_csv(TABLE))))
    assert rows[0] == ["policy", "reads", "reads (paper)", "steps", "steps (paper)", "verdict"]
    assert rows[2][1:4] == ["177/2", "", "12"]


def test_a_page_is_whole_by_itself_and_hostile_names_stay_text() -> None:
    page = draw_page([STUDY])
    assert "<b>staged</b>" not in page and "&lt;b&gt;staged" in page
    assert "\x1b" not in page and "first &lt;line&gt;\nsecond" in page
    outside = re.findall(r"(?:src|href)=\"(?!#)([^\"]*)\"|url\((?!#)([^)]*)\)|@import", page)
    assert outside == [] and "<script" not in page
    names = re.findall(r"\bid=\"([^\"]+)\"", page)
    assert len(names) == len(set(names))


def test_the_page_begins_with_what_was_asked_what_came_out_and_what_differs() -> None:
    asked = replace(STUDY, figures=(), question="Does it hold?", answer="It holds.")
    page = draw_page([asked, replace(asked, name="other", question="", answer="", tables=(), findings=("Second.",))])
    first = page[: page.index("<section>")]
    assert "Does it hold?" in first and "It holds." in first and "Second." in first
    assert "1 better" in first and "1 differs<" in first and "no figures of the paper" in first
    assert "open world: 1 figure in" in first
    for link in re.findall(r'href="#([^"]+)"', page):
        assert f'id="{link}"' in page
    assert 'href="#example"' in first and 'href="#example-beside"' in first
    calm, loud = summarise([asked, replace(asked, alarms=("WRONG",))])
    assert (calm.verdicts, calm.differences) == (loud.verdicts, loud.differences)
    [difference] = calm.differences
    assert (difference.reason, difference.number, difference.tables) == ("open world", 1, (TABLE,))
    assert 'class="violated">1</td>' in draw_page([loud.study])


def test_alarms_are_at_the_top_of_the_page() -> None:
    assert "No alarms" in draw_page([STUDY])
    loud = Study(name="x", title="x", settings_hash="a", quick=True, seconds=0, rows=(), tables=(), alarms=("WRONG",))
    page = draw_page([STUDY, loud])
    assert "No alarms" not in page and page.index("x: WRONG") < page.index("<section>")


def test_results_are_written_whole_with_all_that_belongs_to_them(tmp_path: Path) -> None:
    prepare_folder(tmp_path / "out")
    page = write_results(tmp_path / "out", [STUDY], latex=True)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    tables = {"example-beside.csv", "example-beside.md", "example-beside.tex"}
    assert names == {"example.json", "report.html", "proof.json", "example-points.svg", "example-bars.svg", *tables}
    data = json.loads((tmp_path / "out" / "example.json").read_text())
    assert data["study"] == "example" and data["rows"] == [{"policy": "eager", "mean_reads": "1/3"}]
    assert data["attachments"] == ["proof.json"] and page.read_text().startswith("<!doctype html>")
    assert study_data(STUDY)["excerpts"][0]["title"] == "A log"


def test_the_worked_operation_is_right_and_a_stranger_verifies_it(story: Study, tmp_path: Path) -> None:
    assert story.alarms == ()
    assert story.facts["label"] == story.facts["truth"] and story.facts["checked"] == "VERIFIED"
    write_results(tmp_path, [story])
    command = [sys.executable, "-P", "-m", "ascertain_check", str(tmp_path / "operation.task.json")]
    done = subprocess.run([*command, str(tmp_path / "operation.json")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()[0]) == (0, "VERIFIED")


def test_the_story_shows_evidence_that_reaches_its_threshold_and_rivals_that_run_out(story: Study) -> None:
    evidence, rivals = story.figures
    against, needed = evidence.series[:2]
    assert against.y[-1] >= needed.y[0] > against.y[-2]
    assert rivals.series[0].y[0] == 1023 and rivals.series[0].y[-1] >= 1
    assert all(a >= b for a, b in zip(rivals.series[0].y, rivals.series[0].y[1:], strict=False))
    trigger, bound = evidence.series[2:]
    assert trigger.y[-1] > bound.y[0] >= max(trigger.y[:-1], default=bound.y[0])
    log = story.excerpts[0].text
    assert log.count("<- replaced by") == 2 and story.facts["certificate_sha256"] in story.excerpts[1].text


@pytest.mark.slow
def test_the_picture_of_the_readme_is_the_storys() -> None:
    rivals = tell(live_through(load_testbed("testbed"))).figures[1]
    assert draw_figure(rivals) == (ROOT / "docs/images/story-rivals.svg").read_text(encoding="utf-8")


def test_the_storys_risk_is_that_of_the_run_and_not_of_the_stage_that_answered(story: Study) -> None:
    run = {str(name): str(value) for name, value in story.tables[1].rows}
    alpha, shares = run["alpha, the risk of the run"], [run[f"share of the {name} stage"] for name in STAGES]
    assert sum(Fraction(share.replace(",", "")) for share in shares) == Fraction(alpha.replace(",", ""))
    assert alpha not in shares and Fraction(story.facts["alpha"]) == Fraction(alpha.replace(",", ""))
    assert f"risk of at most {alpha};" in story.answer and f"was at most {alpha}, of which" in story.findings[-1]
    assert math.isclose(story.facts["threshold_nats"], math.log(1 / Fraction(shares[1].replace(",", ""))))


def test_the_readme_gives_the_risk_that_the_story_prints() -> None:
    alpha = show_ratio(2 * load_settings("testbed").staged_risk)
    paragraphs = (ROOT / "README.md").read_text(encoding="utf-8").split("\n\n")
    [told] = [paragraph for paragraph in paragraphs if "ascertain reproduce story" in paragraph]
    assert alpha in told


def test_a_certificate_of_the_story_that_was_touched_is_refuted(story: Study) -> None:
    claim = json.loads(story.attachments["operation.json"])
    claim["claims"][0]["label"] = "0" * len(claim["claims"][0]["label"])
    forged = json.dumps(claim, sort_keys=True, separators=(",", ":")).encode()
    assert str(check(story.attachments["operation.task.json"], forged)).startswith(("REFUTED", "MALFORMED"))


@pytest.fixture(scope="module")
def page_path(tmp_path_factory: pytest.TempPathFactory, story: Study) -> Path:
    return write_results(tmp_path_factory.mktemp("page"), [story, STUDY])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_draws_every_table_and_figure_without_the_network(
    browser: Any, page_path: Path, story: Study, scheme: str
) -> None:
    context = browser.new_context(color_scheme=scheme, offline=True, viewport={"width": 1100, "height": 900})
    page = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(page_path.as_uri())
    tables = page.locator("table.data")
    shown = {tables.nth(i).get_attribute("data-name"): i for i in range(tables.count())}
    for table in (*story.tables, *STUDY.tables):
        drawn = tables.nth(shown[table.name])
        assert drawn.locator("tbody tr").count() == len(table.rows)
        assert drawn.locator("thead th").count() == len(table.columns)
        box = drawn.bounding_box()
        assert box["width"] > 100 and box["height"] > 20 * len(table.rows)
    figures = page.locator("figure svg:visible")
    assert figures.count() == len(story.figures) + len(STUDY.figures)
    for i in range(figures.count()):
        box = figures.nth(i).bounding_box()
        assert box["width"] > 500 and box["height"] > 250
        assert figures.nth(i).locator("path").count() > 10
    background, ink = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    bright = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (background, ink)]
    light, dark = bright if scheme == "light" else reversed(bright)
    assert light > 600 and dark < 200
    letters = "document.querySelector('figure svg g[id*=text] :is(path, use)')"
    lettering = page.evaluate(f"getComputedStyle({letters}).fill")
    assert lettering == ink
    assert complaints == [] and asked == [page_path.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    context.close()


def test_on_paper_the_page_is_black_on_white_and_nothing_is_cut_off(browser: Any, page_path: Path) -> None:
    context = browser.new_context(color_scheme="dark", viewport={"width": 720, "height": 1000})
    page = context.new_page()
    page.emulate_media(media="print")
    page.goto(page_path.as_uri())
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert page.locator(".back").first.is_hidden() and page.locator("table.summary").is_visible()
    assert page.locator("figure .wide svg").first.is_visible() and page.locator("figure .narrow").first.is_hidden()
    widths = page.evaluate("[...document.querySelectorAll('table')].map(t => t.getBoundingClientRect().right)")
    assert widths and max(widths) <= 720
    paper = page.pdf(format="A4")
    assert paper.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", paper)) >= 3
    context.close()


def test_tables_as_wide_as_the_studies_show_their_verdicts_at_1200_pixels(browser: Any, tmp_path: Path) -> None:
    long = "differs: compiling is 26 % of readwise's clock here"
    figures = (104.25, 95.097, 1_234_567, 302.427, 84.024, 20, 20)
    wide = Table(
        "wide", "As many columns as any", ("metric", *(f"figure {k} (M)" for k in range(7)), "reads are", "banks are"),
        (("separating, readwise 1000", *figures, "differs: later switch, other plants", long),) * 3,
    )  # fmt: skip
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.goto(write_results(tmp_path, [replace(STUDY, tables=(TABLE, wide), figures=())]).as_uri())
    hidden = "[...document.querySelectorAll('.scroll')].map(box => box.scrollWidth - box.clientWidth)"
    assert max(page.evaluate(hidden)) <= 0
    edges = page.evaluate("[...document.querySelectorAll('td')].map(cell => cell.getBoundingClientRect().right)")
    assert max(edges) <= 1200
    context.close()


def test_on_a_narrow_screen_wide_tables_scroll_by_themselves(browser: Any, page_path: Path) -> None:
    context = browser.new_context(viewport={"width": 380, "height": 700})
    page = context.new_page()
    page.goto(page_path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    right = "[...document.querySelectorAll('.summary td, .choices td')].map(cell => cell.getBoundingClientRect().right)"
    assert max(page.evaluate(right)) <= 380
    context.close()


@pytest.mark.parametrize(("width", "least"), [(400, 11.0), (1280, 11.0)])
def test_the_letters_of_axes_are_legible_on_narrow_and_wide_screens(
    browser: Any, page_path: Path, width: int, least: float
) -> None:
    """A drawing scales with the page: 9-point letters are 9 parts of the height of its view box, in points."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto(page_path.as_uri())
    figures = page.locator("figure svg:visible")
    assert figures.count() > 2
    for i in range(figures.count()):
        shown = figures.nth(i).bounding_box()
        assert shown["width"] <= width
        across = float(figures.nth(i).get_attribute("viewBox").split()[2])
        assert 9 * shown["width"] / across >= least
    context.close()
