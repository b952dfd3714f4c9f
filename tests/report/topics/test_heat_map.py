from __future__ import annotations

import re
from dataclasses import replace

import pytest

from iostudy.report.drawing import BLUE, GREEN, RED
from iostudy.report.topics.measurements import PartsReport, build_part_tables
from tests.report.parted import JOBS, cells, parted_report
from tests.report.topics.test_verdict_chart import luminance

INKS = {"#ffffff": "#1b1f24", "#14171c": "#e4e7eb"}


def parts(labels=None) -> PartsReport:
    (own_parts,) = parted_report(labels).workloads[0].parts
    return own_parts


def strength(shade: str) -> float:
    return float(re.fullmatch(r"rgb\(\d+ \d+ \d+ / ([\d.]+)\)", shade)[1])


def cells_of(table):
    """Text and shade of each number of a table."""
    texts = [text for row in table.rows for text in row[1:]]
    return list(zip(texts, [shade for row in table.shades for shade in row], strict=True))


def test_the_largest_rate_of_the_baseline_has_the_strongest_shade_and_the_smallest_none():
    rated = [cell for cell in cells_of(build_part_tables(parts(cells(["write"])))[0]) if cell[0]]
    by_strength = sorted(rated, key=lambda cell: strength(cell[1]))
    assert strength(by_strength[0][1]) == 0
    assert strength(by_strength[-1][1]) == pytest.approx(0.62)
    assert float(by_strength[0][0]) == min(float(text) for text, _ in rated)
    assert float(by_strength[-1][0]) == max(float(text) for text, _ in rated)


def test_better_is_green_and_worse_is_red_whichever_way_is_better():
    up = parts(cells(["write"]))
    down = up.model_copy(update={"figure": replace(up.figure, higher_is_better=False)})
    for own, faster, slower in ((up, "15 149 112", "210 82 31"), (down, "210", "15 149")):
        *_, kyber, bfq = build_part_tables(own)
        assert faster in cells_of(kyber)[0][1]
        assert slower in cells_of(bfq)[0][1]


def test_cells_that_are_missing_or_zero_are_no_error():
    own_parts = parts(cells(["write"]))
    zero = own_parts.parts[0].model_copy(
        update={"values": (0.0, None, 0.0, 1.0), "changes": (None,) * 4}
    )
    tables = build_part_tables(own_parts.model_copy(update={"parts": (zero,)}))
    assert [text for table in tables for text, _ in cells_of(table)] == ["0", "", "0", "1.00"]
    assert not any(shade for table in tables for _, shade in cells_of(table))


def test_parts_that_are_no_cells_have_no_shades():
    assert [table.shades for table in build_part_tables(parts(JOBS))] == [()]


@pytest.mark.parametrize("page", INKS)
@pytest.mark.parametrize("colour", [BLUE, GREEN, RED])
def test_ink_can_be_read_on_the_strongest_shade(colour, page):
    own, below = ([int(c[n : n + 2], 16) for n in (1, 3, 5)] for c in (colour, page))
    mixed = [round(0.62 * a + 0.38 * b) for a, b in zip(own, below, strict=True)]
    shade = f"#{mixed[0]:02x}{mixed[1]:02x}{mixed[2]:02x}"
    lighter, darker = sorted((luminance(shade), luminance(INKS[page])), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5
