"""The study of the open world: who is in it, who is misnamed, and that conformance exposes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ascertain.errors import FileError
from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.campaign.engines import start_engine
from ascertain_paper.studies.openworld import machines as drawn
from ascertain_paper.studies.openworld.machines import draw_family, find_population
from ascertain_paper.studies.openworld.naming import exposing_share, first_exposing, name_boxes, specify_machine
from ascertain_paper.studies.openworld.study import study
from ascertain_paper.testbed.settings import find_settings
from tests.conftest import ROOT

SERVERS = ROOT / "examples" / "servers"


def test_machines_that_nobody_can_tell_apart_are_one_class_and_boxes_add_up(tmp_path: Path) -> None:
    for path in SERVERS.glob("*.dot"):
        (tmp_path / path.name).write_text(path.read_text())
    (tmp_path / "MANIFEST.tsv").write_text("# a remark\nfile\tboxes\nalder.dot\t3\nelm.dot\t4\nbirch.dot\t2\n")
    population = find_population(tmp_path)
    assert dict(population.boxes) == {"alder": 7, "birch": 2, "cedar": 1, "dogwood": 1}
    for path in list(tmp_path.glob("*.dot"))[2:]:
        path.unlink()
    with pytest.raises(FileError, match="three or more"):
        find_population(tmp_path)


def test_our_family_is_the_same_every_time_and_its_members_differ() -> None:
    one, other = draw_family(), draw_family()
    assert one.boxes == other.boxes and len(one.machines) == drawn.FAMILY


def test_an_outsider_is_misnamed_in_the_closed_world_and_exposed_by_conformance() -> None:
    population = find_population(SERVERS)
    known = {name: machine for name, machine in population.machines.items() if name != "birch"}
    named = name_boxes(known, population.machines)
    assert named["cedar"].name == "cedar"
    taken_for = named["birch"].name
    assert taken_for is not None and taken_for != "birch"
    model, plant = (specify_machine(population.machines[name]) for name in (taken_for, "birch"))
    assert exposing_share(model, plant, 50) > 0 == exposing_share(plant, plant, 50)
    assert first_exposing([()], model, plant) is None


def test_the_quick_form_raises_no_alarm_and_prices_what_it_says() -> None:
    conditions = Conditions(settings=find_settings("small"), engine=start_engine("local", 1), models=SERVERS)
    found = study(conditions)
    assert not found.alarms and found.facts["classes"] == 4
    naming, cost, samples = found.tables
    assert [row[0] for row in naming.rows] == [2, 3, 4]
    assert all(row[5] == 0 for row in naming.rows) and naming.rows[-1][1] == 5  # none misnamed; all known, all right
    assert cost.rows[0][0] == "complete:0" and cost.rows[0][3] >= cost.rows[0][4]  # type: ignore[operator]
    assert samples.rows[-1][3:] == (0, 0)
