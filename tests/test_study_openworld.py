"""The study of the open world: who is in it, who is misnamed, and that conformance exposes them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ascertain.conformance.sample import draw_words
from ascertain.conformance.specification import Word
from ascertain.errors import FileError
from ascertain.model import Model
from ascertain.model.build import machine_from_transitions
from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.campaign.engines import start_engine
from ascertain_paper.studies.openworld import machines as drawn
from ascertain_paper.studies.openworld.constant import (
    certify_silence,
    expose_constants,
    make_constant,
    make_constants,
)
from ascertain_paper.studies.openworld.machines import draw_family, find_population
from ascertain_paper.studies.openworld.naming import (
    WORDS,
    exposing_share,
    first_exposing,
    name_boxes,
    plan_suites,
    specify_machine,
)
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
    naming, cost, samples, constant = found.tables
    assert [row[0] for row in naming.rows] == [2, 3, 4]
    assert all(row[5] == 0 for row in naming.rows) and naming.rows[-1][1] == 5  # none misnamed; all known, all right
    assert cost.rows[0][0] == "complete:0" and cost.rows[0][3] >= cost.rows[0][4]  # type: ignore[operator]
    assert samples.rows[-1][3:] == (0, 0)
    assert [row[3] for row in constant.rows] == [0, 0, 0] and constant.rows[0][-1] == "0"


def test_a_silent_server_is_named_in_the_closed_world_and_certified_by_nothing_else() -> None:
    machines: dict[str, Model] = {}
    for name, reads, other in (("quiet", "-", "-"), ("loud", "1", "-"), ("odd", "1", "0")):
        arrows = [("s", "ask", reads, "s"), ("s", "tell", other, "t"), ("t", "ask", "0", "s"), ("t", "tell", "-", "t")]
        machines[name] = replace(machine_from_transitions(arrows), initial=(0,))
    found = expose(machines)
    assert found["silent_named"] and found["constants_named"] >= 1 and found["constants_missed"] == 0
    assert set(found["constants_missed_by"]) == {"30", "100"}
    assert not certify_silence(machines)
    # Where a machine is such a server itself, it is no outsider.
    alone: dict[str, Model] = {"mute": make_constant(("ask", "tell"), "-"), "loud": machines["loud"]}
    assert not expose(alone)["silent_named"]


def expose(known: dict[str, Model]) -> dict[str, Any]:
    specs = {name: specify_machine(machine) for name, machine in known.items()}
    boxes = make_constants(specs)

    def samples(name: str) -> dict[int, list[list[Word]]]:
        return {n: [draw_words(specs[name], "seed", n)] for n in WORDS}

    return expose_constants(boxes, name_boxes(known, boxes), specs, plan_suites(known, 0), samples)
