from __future__ import annotations

import re

import pytest

from iostudy.report.drawing import BLUE, GREEN, RED
from iostudy.report.topics.measurements import ColouredCell, PartsReport, build_heat_maps
from tests.report.parted import JOBS, cells, parted_report
from tests.report.topics.test_verdict_chart import luminance

INKS = {"#ffffff": "#1b1f24", "#14171c": "#e4e7eb"}


def parts(labels=None) -> PartsReport:
    (own_parts,) = parted_report(labels).workloads[0].parts
    return own_parts


def strength(cell: ColouredCell) -> float:
    return float(re.fullmatch(r"rgb\(\d+ \d+ \d+ / ([\d.]+)\)", cell.shade)[1])


def all_cells(maps):
    return [cell for each in maps for _, row in each.rows for cell in row]


def test_each_operation_has_a_map_for_each_configuration_and_one_for_each_change():
    heat_maps = build_heat_maps(parts(cells(["write", "read"])))
    assert [operation.name for operation in heat_maps] == ["write", "read"]
    assert [each.title for each in heat_maps[0].maps] == [
        "none: KiB/s",
        "mq-deadline: KiB/s",
        "kyber: KiB/s",
        "bfq: KiB/s",
        "mq-deadline against none, %",
        "kyber against none, %",
        "bfq against none, %",
    ]


def test_the_largest_rate_of_all_has_the_strongest_shade_and_the_smallest_none():
    (operation,) = build_heat_maps(parts(cells(["write"])))
    rated = [cell for cell in all_cells(operation.maps[:4]) if cell.text]
    by_strength = sorted(rated, key=strength)
    assert strength(by_strength[0]) == 0
    assert strength(by_strength[-1]) == pytest.approx(0.62)
    assert float(by_strength[0].text) == min(float(cell.text) for cell in rated)
    assert float(by_strength[-1].text) == max(float(cell.text) for cell in rated)


def test_better_is_green_and_worse_is_red_whichever_way_is_better():
    own_parts = parts(cells(["write"]))
    (up,) = build_heat_maps(own_parts)
    figure = own_parts.figure.model_copy(update={"higher_is_better": False})
    (down,) = build_heat_maps(own_parts.model_copy(update={"figure": figure}))
    for maps, faster, slower in (
        (up.maps, "15 149 112", "210 82 31"),
        (down.maps, "210", "15 149"),
    ):
        assert faster in all_cells(maps[5:6])[0].shade
        assert slower in all_cells(maps[6:7])[0].shade


def test_cells_that_are_missing_or_zero_are_no_error():
    own_parts = parts(cells(["write"]))
    zero = own_parts.parts[0].model_copy(
        update={"values": (0.0, None, 0.0, 1.0), "changes": (None,) * 4}
    )
    (operation,) = build_heat_maps(own_parts.model_copy(update={"parts": (zero,)}))
    texts = [cell.text for cell in all_cells(operation.maps)]
    assert texts == ["0", "", "0", "1.00", "", "", ""]


def test_parts_that_are_no_cells_have_no_map():
    assert build_heat_maps(parts(JOBS)) == ()


@pytest.mark.parametrize("page", INKS)
@pytest.mark.parametrize("colour", [BLUE, GREEN, RED])
def test_ink_can_be_read_on_the_strongest_shade(colour, page):
    own, below = ([int(c[n : n + 2], 16) for n in (1, 3, 5)] for c in (colour, page))
    mixed = [round(0.62 * a + 0.38 * b) for a, b in zip(own, below, strict=True)]
    shade = f"#{mixed[0]:02x}{mixed[1]:02x}{mixed[2]:02x}"
    lighter, darker = sorted((luminance(shade), luminance(INKS[page])), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5
