"""Latencies, parts and figures without verdicts.

Parts that are cells of a matrix are tables with shades, which work on paper and without a script.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from pydantic import FiniteFloat

from iostudy.analysis.rule import Rule
from iostudy.ledger.rows import MeasuredRow
from iostudy.report.base import Interval, Known, PooledLatencies, UnderConfiguration, Value, finite
from iostudy.report.drawing import (
    BLUE,
    GREEN,
    LOGARITHMIC,
    READABLE,
    RED,
    Spec,
    encode_configuration,
    field,
    layer,
    make_chart,
)
from iostudy.report.formatting import (
    format_against,
    format_change_interval,
    format_figure,
    format_signed_change,
)
from iostudy.report.section import Chart, Section, TextTable, make_table
from iostudy.results.comparisons import decision_rule
from iostudy.results.paired_means import compare_means
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.requests import apply_configuration
from iostudy.units import format_reading
from iostudy.workloads import catalog
from iostudy.workloads.definition import Figure
from iostudy.workloads.native.latency import PERCENTILES

if TYPE_CHECKING:
    from iostudy.report.values import Report, WorkloadReport


class FigureMean(UnderConfiguration):
    """Mean of a figure that no verdict uses, under one configuration."""

    value: Known
    """Geometric mean over the blocks shared with the baseline; arithmetic if a value is 0 or
    less."""
    change: Known
    """Change against the baseline in those blocks; null for the baseline and for arithmetic
    means."""
    interval: Interval
    """Confidence interval of the change; null if unknown."""


class OtherFigure(Value):
    """A figure that no verdict uses, under every configuration in the study's order."""

    figure: Figure
    """The figure."""
    means: tuple[FigureMean, ...]
    """Means, in the study's order of configurations."""


class LatencyReport(UnderConfiguration, PooledLatencies):
    """Latencies of one operation under one configuration, pooled over the trials that count."""


class PartReport(Value):
    """A part of a workload under every configuration, in the order of ``configurations``."""

    labels: dict[str, str]
    """What distinguishes the part: its job, or the cell of a matrix."""
    values: tuple[FiniteFloat | None, ...]
    """Means as in FigureMean; null where a configuration has no such part."""
    changes: tuple[FiniteFloat | None, ...]
    """Changes against the baseline; null for the baseline. No verdict uses them."""


class PartsReport(Value):
    """One figure of all parts of a workload."""

    figure: Figure
    """The figure."""
    configurations: tuple[str, ...]
    """Labels of the configurations, the baseline first."""
    parts: tuple[PartReport, ...]
    """The parts, each with a value per configuration."""


Labels = tuple[tuple[str, str], ...]
_OF_A_CELL = ("operation", "file_size", "record_size")
"""The labels of a part that is a cell of a matrix, in any order."""


def tabulate_matrices(parts: Iterable[tuple[Mapping[str, str], str]]) -> tuple[TextTable, ...]:
    """A table of file by record size for each operation; none where any part is no cell of one.

    A cell that is missing is empty.
    """
    cells: dict[str, dict[tuple[str, str], str]] = {}
    for labels, text in parts:
        if set(labels) != set(_OF_A_CELL):
            return ()
        operation, file_size, record_size = (labels[name] for name in _OF_A_CELL)
        cells.setdefault(operation, {})[file_size, record_size] = text
    tables = []
    for operation, texts in cells.items():
        files, records = (tuple(dict.fromkeys(sizes)) for sizes in zip(*texts, strict=True))
        rows = [(file, *(texts.get((file, record), "") for record in records)) for file in files]
        tables.append(TextTable(operation, ("file \\ record", *records), rows, names=1))
    return tuple(tables)


def build_measurements(
    study: Study, request: WorkloadRequest, rows: Iterable[MeasuredRow]
) -> dict[str, Any]:
    """Other figures, latencies and parts of a workload, as fields of its WorkloadReport."""
    counted: dict[str, list[MeasuredRow]] = {c.label: [] for c in study.configurations()}
    for row in rows:
        if row.counts and row.workload == request.label and row.configuration in counted:
            counted[row.configuration].append(row)
    rule = decision_rule(study)
    definition = catalog.get(request.name)
    verdict_figures = [figure.name for figure in request.figures]
    others = (
        OtherFigure(figure=figure, means=tuple(_means(figure.name, counted, rule)))
        for figure in _known(study, request, definition.figures)
        if figure.name not in verdict_figures
    )
    parts = (
        _parts(figure, counted, rule) for figure in _known(study, request, definition.part_figures)
    )
    return {
        "others": tuple(others),
        "latencies": tuple(_pool_latencies(counted)),
        "parts": tuple(part for part in parts if part.parts),
    }


def _means(
    figure: str, counted: Mapping[str, Iterable[MeasuredRow]], rule: Rule
) -> Iterator[FigureMean]:
    values = [
        {row.block: row.figures[figure] for row in rows if row.figures and figure in row.figures}
        for rows in counted.values()
    ]
    for label, figures in zip(counted, values, strict=True):
        means = compare_means(values[0], figures, rule)
        yield FigureMean.copy_from(means, configuration=label, value=means.mean)


def _pool_latencies(counted: Mapping[str, Sequence[MeasuredRow]]) -> Iterator[LatencyReport]:
    """Operation by operation, the configurations next to each other."""
    every = (row for rows in counted.values() for row in rows)
    for operation in dict.fromkeys(name for row in every for name in row.latencies or {}):
        for label, rows in counted.items():
            measured = ((row.latencies or {}).get(operation) for row in rows)
            histograms = list(filter(None, measured))
            if histograms:
                yield LatencyReport.pool(operation, histograms, configuration=label)


def _parts(figure: Figure, counted: Mapping[str, list[MeasuredRow]], rule: Rule) -> PartsReport:
    blocks: list[dict[Labels, dict[int, float]]] = [{} for _ in counted]
    for by_labels, rows in zip(blocks, counted.values(), strict=True):
        for row in rows:
            for part in row.parts:
                if figure.name in part.figures:
                    labels = tuple(part.labels.items())
                    by_labels.setdefault(labels, {})[row.block] = part.figures[figure.name]
    parts = []
    for labels in dict.fromkeys(labels for by_labels in blocks for labels in by_labels):
        values = [by_labels.get(labels, {}) for by_labels in blocks]
        means = [compare_means(values[0], figures, rule) for figures in values]
        report = PartReport(
            labels=dict(labels),
            values=tuple(finite(mean.mean) for mean in means),
            changes=(None, *(finite(mean.change) for mean in means[1:])),
        )
        parts.append(report)
    return PartsReport(figure=figure, configurations=tuple(counted), parts=tuple(parts))


def _known(
    study: Study, request: WorkloadRequest, figures: Callable[[Any], tuple[Figure, ...]]
) -> tuple[Figure, ...]:
    """The figures under any configuration of the study: what varies may be what is measured."""
    options = [apply_configuration(request, choice) for choice in study.configurations()]
    return tuple({figure.name: figure for option in options for figure in figures(option)}.values())


NO_VERDICT = (
    "Not used for verdicts: among many figures, some differ by chance. Means are geometric, over "
    "the blocks shared with the baseline (arithmetic and without a change where a figure is not "
    "positive)."
)
POOLED = (
    "Latencies in microseconds, pooled over all counted trials, to 4.4 %; not used for verdicts."
)


def build_part_tables(parts: PartsReport) -> tuple[TextTable, ...]:
    """A row for each part; where they are the cells of a matrix, a table for each operation."""
    tables, labels = [], [part.labels for part in parts.parts]
    for index, label in enumerate(parts.configurations):
        texts = tabulate_matrices((part.labels, format_part(part, index)) for part in parts.parts)
        shades = tabulate_matrices(zip(labels, _shade_parts(parts, index), strict=True))
        tables.append(
            [
                replace(table, title=f"{table.title}, {label}", shades=[row[1:] for row in of.rows])
                for table, of in zip(texts, shades, strict=True)
            ]
        )
    if not any(tables):
        names = dict.fromkeys(name for part in parts.parts for name in part.labels)
        rows = (
            [
                *((name, part.labels.get(name, "")) for name in names),
                *(
                    (label, format_part(part, index))
                    for index, label in enumerate(parts.configurations)
                ),
            ]
            for part in parts.parts
        )
        return (make_table(rows, names=len(names)),)
    return tuple(table for of_operation in zip(*tables, strict=True) for table in of_operation)


def format_part(part: PartReport, index: int) -> str:
    """A mean with its change, if it has one: ``1230 (+3.1 %)``; empty where there is no part."""
    value, change = part.values[index], part.changes[index]
    if value is None:
        return ""
    text = format_figure(value)
    return text if change is None else f"{text} ({format_signed_change(change)})"


def build_measurement_sections(workload: WorkloadReport, report: Report) -> Iterator[Section]:
    """Return all tables of a workload in their order."""
    if workload.latencies:
        rows = (
            {
                "operation": latency.operation,
                "configuration": latency.configuration,
                **{name: format_figure(us) for name, us in latency.percentiles_us.items()},
                "measured": latency.count,
            }
            for latency in workload.latencies
        )
        percentiles = make_table(rows, names=2)
        yield Section(
            "latency",
            "Latency",
            (POOLED,),
            tables=(percentiles,),
            draw=lambda: build_latency_charts(workload, report),
        )
    for number, parts in enumerate(workload.parts, 1):
        better = "higher" if parts.figure.higher_is_better else "lower"
        note = f"{parts.figure.name} is {parts.figure.documentation}; {better} is better. "
        tables = build_part_tables(parts)
        is_long = sum(len(table.rows) for table in tables) > 24
        yield Section(
            f"parts-{number}",
            f"{parts.figure.name} of each part, {parts.figure.unit}",
            (note + NO_VERDICT,),
            tables=() if is_long else tables,
            folded=tables if is_long else (),
        )
    rows = (
        {
            "figure": other.figure.name,
            "configuration": mean.configuration,
            "mean": format_reading(mean.value, other.figure.unit),
            format_against(workload.results[0].configuration): ""
            if mean.change is None
            else format_change_interval(mean.change, mean.interval),
        }
        for other in workload.others
        for mean in other.means
        if mean.value is not None
    )
    others = make_table(rows, "all other figures", names=2)
    if others.rows:
        yield Section("others", "Other figures", (NO_VERDICT,), folded=(others,))


def build_latency_charts(workload: WorkloadReport, report: Report) -> Iterator[Chart]:
    """Return a chart per operation with latencies, a line per configuration.

    The axis of shares is stretched towards 100 %, as in HdrHistogram: each further nine takes
    the same space, which shows rare slow operations.
    """
    for operation in dict.fromkeys(latency.operation for latency in workload.latencies):
        latencies = [latency for latency in workload.latencies if latency.operation == operation]
        spec = _draw_latencies(operation, latencies, report)
        yield Chart(spec, f"latency of {operation}; the table has figures", "")


def _draw_latencies(operation: str, latencies: Sequence[LatencyReport], report: Report) -> Spec:
    """One in so many is slower; the longest counts as half of one, for it has no place at 100 %."""
    curve, points = [], []
    for latency in latencies:
        label, count = latency.configuration, latency.count
        places = {f"p{p:g}": 100 / (100 - p) for p in PERCENTILES} | {"max": 2.0 * count}
        for us, within in zip(latency.upper_us, accumulate(latency.counts), strict=True):
            slower = float(f"{count / max(count - within, 0.5):.5g}")
            curve.append({"configuration": label, "us": us, "slower": slower})
        for name, us in latency.percentiles_us.items():
            if places[name] <= 2 * count:
                slower, text = float(f"{places[name]:.5g}"), f"{format_figure(us)} us"
                point = {"configuration": label, "us": us, "slower": slower, "percentile": name}
                points.append({**point, "latency": text})
    colour, shape = encode_configuration(report)
    # The marks of the axis are at 50 %, 90 %, 99 % and so on.
    shares = (2, *(10**power for power in range(1, 7)))
    marks = list(shares[: 1 + sum(share < max(t.count for t in latencies) for share in shares)])
    label = "format(100 - 100 / datum.value, '.6~g')"
    axis = {"values": marks, "labelExpr": label, "grid": True}
    x = field("slower:Q", title="percentile", axis=axis, scale=LOGARITHMIC)
    y = field("us:Q", title="latency, us", axis=READABLE, scale=LOGARITHMIC)
    tooltip = [field(name) for name in ("configuration:N", "percentile:N", "latency:N")]
    line: Spec = {"x": x, "y": y, "color": colour}
    point = line | {"shape": shape, "tooltip": tooltip}
    look = {"strokeWidth": 1.8, "interpolate": "step-before", "opacity": 0.9}
    layers = (
        layer(curve, "line", line, **look),
        layer(points, "point", point, filled=True, size=60, opacity=1),
    )
    return make_chart(layers, height=240, title=operation)


_STRONGEST = 0.62
"""Strongest shade: text on it keeps a contrast of 4.5:1 on the light and the dark page."""
_LEAST_CHANGE = 0.05
"""Smallest change with the strongest shade, so that noise alone stays pale."""


def _shade_parts(parts: PartsReport, index: int) -> Iterator[str]:
    """Yield the shade of each part under one configuration, on one scale for all of them.

    The baseline is blue by the logarithm of its value. Others are green where they are better and
    red where they are worse.
    """
    values = [part.values[0] for part in parts.parts]
    logarithms = [math.log(value) for value in values if value is not None and value > 0]
    low, high = min(logarithms, default=0.0), max(logarithms, default=0.0)
    changes = [change for part in parts.parts for change in part.changes if change is not None]
    steps = (abs(math.log1p(change)) for change in changes)
    strongest = max(math.log1p(_LEAST_CHANGE), *steps, 0.0)
    for part in parts.parts:
        value, change = part.values[index], part.changes[index]
        if change is not None:
            better = (change > 0) is parts.figure.higher_is_better
            colour, strength = GREEN if better else RED, abs(math.log1p(change)) / strongest
        elif not index and value is not None and value > 0 and high > low:
            colour, strength = BLUE, (math.log(value) - low) / (high - low)
        else:
            yield ""
            continue
        red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
        yield f"rgb({red} {green} {blue} / {min(1.0, strength) * _STRONGEST:.3f})"
