"""Heat maps of matrix parts: tables with shaded cells.

The cells contain the numbers, so they work on paper and for screen readers, without a script.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from iostudy.report.drawing import BLUE, GREEN, RED
from iostudy.report.formatting import format_against, format_figure, format_signed_change
from iostudy.report.topics.measurements import (
    CORNER,
    Matrix,
    PartReport,
    PartsReport,
    build_part_matrices,
)

_STRONGEST = 0.62
"""Strongest shade: text on it keeps a contrast of 4.5:1 on the light and the dark page."""
_LEAST_CHANGE = 0.05
"""Smallest change with the strongest shade, so that noise alone stays pale."""


@dataclass(frozen=True)
class ColouredCell:
    """A number as text, and the colour behind it as CSS; both empty where there is no part."""

    text: str
    shade: str


@dataclass(frozen=True)
class HeatMap:
    """One configuration's cells, or their changes: a row a file size, a column a record size."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[ColouredCell, ...]], ...]


@dataclass(frozen=True)
class OperationMaps:
    """All maps of one operation: the configurations' own, then their changes."""

    name: str
    maps: tuple[HeatMap, ...]


def build_heat_maps(parts: PartsReport) -> tuple[OperationMaps, ...]:
    """One for each operation; none where the parts are no cells of a matrix."""
    return tuple(
        OperationMaps(matrix.operation, (*_values(matrix, parts), *_changes(matrix, parts)))
        for matrix in build_part_matrices(parts)
    )


def _values(matrix: Matrix[PartReport], parts: PartsReport) -> Iterator[HeatMap]:
    """Shaded by the logarithm, on one scale for all configurations."""
    logarithms = [
        math.log(value)
        for part in matrix.cells.values()
        for value in part.values
        if value is not None and value > 0
    ]
    low, high = min(logarithms, default=0.0), max(logarithms, default=0.0)

    def cell(value: float) -> ColouredCell:
        strength = (math.log(value) - low) / (high - low) if value > 0 and high > low else 0.0
        return ColouredCell(format_figure(value), _shade(BLUE, strength))

    for index, label in enumerate(parts.configurations):
        values = {key: part.values[index] for key, part in matrix.cells.items()}
        yield _map(f"{label}: {parts.figure.unit}", matrix, values, cell)


def _changes(matrix: Matrix[PartReport], parts: PartsReport) -> Iterator[HeatMap]:
    """Green is better and red is worse, on one scale for all configurations."""
    found = [change for part in matrix.cells.values() for change in part.changes]
    strongest = _strongest(change for change in found if change is not None)
    up, down = GREEN, RED
    if not parts.figure.higher_is_better:
        up, down = down, up

    def cell(change: float) -> ColouredCell:
        strength = min(1.0, abs(math.log1p(change)) / strongest)
        shade = _shade(up if change > 0 else down, strength)
        return ColouredCell(format_signed_change(change).removesuffix(" %"), shade)

    for index, label in enumerate(parts.configurations[1:], 1):
        title = f"{label} {format_against(parts.configurations[0])}, %"
        changes = {key: part.changes[index] for key, part in matrix.cells.items()}
        yield _map(title, matrix, changes, cell)


def _strongest(changes: Iterable[float]) -> float:
    largest = max((abs(math.log1p(change)) for change in changes), default=0.0)
    return max(largest, math.log1p(_LEAST_CHANGE))


def _map(
    title: str,
    matrix: Matrix[PartReport],
    values: Mapping[tuple[str, str], float | None],
    cell: Callable[[float], ColouredCell],
) -> HeatMap:
    def at(row: str, column: str) -> ColouredCell:
        value = values.get((row, column))
        return ColouredCell("", "") if value is None else cell(value)

    rows = tuple(
        (row, tuple(at(row, column) for column in matrix.record_sizes)) for row in matrix.file_sizes
    )
    return HeatMap(title, (CORNER, *matrix.record_sizes), rows)


def _shade(colour: str, strength: float) -> str:
    """Return a colour of the palette with this strength, over any background."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgb({red} {green} {blue} / {strength * _STRONGEST:.3f})"
