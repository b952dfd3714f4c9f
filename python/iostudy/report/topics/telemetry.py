"""Means of telemetry by configuration, with their section and charts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from pydantic import FiniteFloat

from iostudy.ledger.rows import RunRow, TrialRow
from iostudy.report.base import OfConfiguration
from iostudy.report.drawing import (
    compute_row_pixels,
    encode_configuration,
    field,
    has_many_configurations,
    layer,
    make_chart,
    make_label_axis,
)
from iostudy.report.formatting import format_figure, round_value
from iostudy.report.section import Chart, Section, TextTable, make_table
from iostudy.results.trial_contexts import find_members
from iostudy.study.model import Study
from iostudy.telemetry.stack import Direction, build_flow

if TYPE_CHECKING:
    from iostudy.report.values import Report, WorkloadReport


class TelemetryReport(OfConfiguration):
    """Means of telemetry over the counted trials of one configuration on one workload."""

    trials: int
    """Number of counted trials."""
    devices: dict[str, dict[str, FiniteFloat | None]]
    """iostat's figures by device; the tested device has the name in the report's ``device``."""
    machine: dict[str, FiniteFloat | None]
    """Figures of the whole host."""


T = TypeVar("T")

MACHINE = "all CPUs, and pressure"

_UNITS = {
    "_await": "ms",
    "areq-sz": "KiB",
    "aqu-sz": "requests",
    "_some": "% of time",
    "_full": "% of time",
}
"""Units of figures by the end of their names."""
_KIB = "kB"
"""iostat's kB are 1024 bytes; they are shown as MiB."""


def build_telemetry(study: Study, rows: Sequence[TrialRow]) -> Iterator[TelemetryReport]:
    """Yield one for each workload and configuration with a counted trial, in the study's order."""
    tested = find_tested_device(rows)
    for (workload, configuration), trials in group_counted_trials(study, rows).items():
        by_name = [
            rename_tested_device(row.summary.devices if row.summary else {}, row.device, tested)
            for row in trials
        ]
        devices = dict.fromkeys(name for figures in by_name for name in figures)
        if trials:
            yield TelemetryReport(
                workload=workload,
                configuration=configuration,
                trials=len(trials),
                devices={name: _mean(trial.get(name, {}) for trial in by_name) for name in devices},
                machine=_mean(row.summary.machine for row in trials if row.summary),
            )


def group_counted_trials(
    study: Study, rows: Iterable[TrialRow]
) -> dict[tuple[str, str], list[TrialRow]]:
    """The trials that count by workload and configuration, in the study's order."""
    pairs = [(w.label, c.label) for w in study.workloads for c in study.configurations()]
    trials: dict[tuple[str, str], list[TrialRow]] = {pair: [] for pair in pairs}
    for row in rows:
        if row.counts and (group := trials.get((row.workload, row.configuration))) is not None:
            group.append(row)
    return trials


def find_tested_device(rows: Sequence[TrialRow | RunRow]) -> str:
    """Return the device that the trials name, or "".

    Several where a loop-back disk has another name after --resume, or where configurations lie on
    different disks: ``loop1 or loop0``, each trial on its own.
    """
    return " or ".join(dict.fromkeys(device for row in rows for device in row.devices[:1]))


def rename_tested_device(devices: Mapping[str, T], device: str, tested: str) -> dict[str, T]:
    """Rename the tested device ``device`` to ``tested`` in values by device."""
    return {tested if name == device else name: value for name, value in devices.items()}


def _mean(figures: Iterable[Mapping[str, float]]) -> dict[str, float | None]:
    """Arithmetic means by name, each over the trials that have the figure."""
    values: dict[str, list[float]] = {}
    for figure in figures:
        for name, value in figure.items():
            values.setdefault(name, []).extend([value] if math.isfinite(value) else [])
    return {name: math.fsum(of) / len(of) if of else None for name, of in values.items()}


def group_meters(
    telemetry: Sequence[TelemetryReport],
) -> dict[str, dict[str, tuple[float | None, ...]]]:
    """Transpose the telemetry of one workload: by device or `MACHINE`, and name of the figure."""
    devices = dict.fromkeys(name for report in telemetry for name in report.devices)
    groups = {name: [report.devices.get(name, {}) for report in telemetry] for name in devices}
    groups[MACHINE] = [report.machine for report in telemetry]
    return {
        title: {
            format_meter_name(name): tuple(
                convert_meter_value(name, column.get(name)) for column in columns
            )
            for name in dict.fromkeys(name for column in columns for name in column)
        }
        for title, columns in groups.items()
        if any(columns)
    }


def format_meter_name(name: str) -> str:
    """iostat's name, with the unit that it lacks: ``rMiB/s`` for rkB/s, ``aqu-sz, requests``."""
    units = (unit for ending, unit in _UNITS.items() if name.endswith(ending))
    return ", ".join((name.replace(_KIB, "MiB"), *units))


def convert_meter_value(name: str, value: float | None) -> float | None:
    """The value of iostat's name in the unit of ``format_meter_name``."""
    return value / 1024 if value is not None and _KIB in name else value


METERS = {
    "device": ("rkB/s", "wkB/s", "r_await", "w_await", "aqu-sz", "%util"),
    "machine": ("%iowait", "%system", "io_some"),
}
"""Figures of the device and of the machine with charts of their own."""


def build_telemetry_charts(workload: WorkloadReport, report: Report) -> Iterator[Chart]:
    """One small chart for each meter that moved: every counted trial, and the mean.

    None with more configurations than a small chart can label; the table has all of them.
    """
    if has_many_configurations(report):
        return
    trials = [t for t in report.trials if t.workload == workload.label and t.counts]
    labels = [configuration.label for configuration in report.configurations]
    colour, shape = encode_configuration(report, legend=False)
    y = field("configuration:N", title=None, sort=labels, axis=make_label_axis(labels))
    x = field("value:Q", title=None, axis={"tickCount": 4}, scale={"zero": True})
    tooltip = [field("configuration:N"), field("number:Q")]
    shown = field("value:Q", format=".3s", title="value")
    mean = field("value:Q", aggregate="mean", title=None)
    tick = {"y": y, "x": x, "color": colour, "tooltip": [*tooltip, shown]}
    said = [tooltip[0], mean | {"format": ".3s", "title": "mean value"}]
    point = {"y": y, "x": mean, "color": colour, "shape": shape, "tooltip": said}
    for owner, meter in ((owner, meter) for owner, meters in METERS.items() for meter in meters):
        figures = (t.machine if owner == "machine" else t.devices.get(t.device, {}) for t in trials)
        rows = [
            {
                "configuration": trial.configuration,
                "number": trial.number,
                "value": round_value(convert_meter_value(meter, value)),
            }
            for trial, of_trial in zip(trials, figures, strict=True)
            if (value := of_trial.get(meter)) is not None
        ]
        if any(row["value"] for row in rows):
            height = compute_row_pixels(labels, 22) * len({row["configuration"] for row in rows})
            title = f"{format_meter_name(meter)} of the {owner}"
            layers = (
                layer(rows, "tick", tick, opacity=0.55, size=12, thickness=1.5),
                layer(rows, "point", point, filled=True, size=70, opacity=1),
            )
            spec = make_chart(layers, height=height, title=title)
            yield Chart(spec, f"{title} of every configuration", "", name="telemetry")


_OF_DEVICE = ("%util", "aqu-sz", "r_await", "w_await")
_OF_MACHINE = ("%user", "%system", "%iowait", "%steal", "%idle", "cpu_", "io_", "memory_")


_UTILIZATION = (
    "Means over the counted trials, by iostat’s names (MiB instead of kB). %util is the share of "
    "time with a request in flight; a device that serves requests in parallel may have headroom at "
    "100 %. aqu-sz is the mean number of requests queued or in service. Pressure (some, full) is "
    "the share of time in which tasks were stalled. Figures that are always 0 are omitted."
)


def _stack(telemetry: Sequence[TelemetryReport], report: Report) -> Iterator[TextTable]:
    """Requests on their way from the volume under test down to the disks, if it is a volume."""
    below = find_members(report.circumstances)
    rows = []
    for means in telemetry if report.device in below else ():
        devices = {
            name: {figure: value or 0.0 for figure, value in figures.items()}
            for name, figures in means.devices.items()
        }
        for direction in Direction:
            flow = build_flow(direction, report.device, below, devices)
            if flow is not None and flow.layers[0].requests_in:
                rows += [
                    {
                        report.noun: means.configuration,
                        "requests": direction,
                        "devices": ", ".join(layer.devices),
                        "in/s": format_figure(layer.requests_in),
                        "out/s": format_figure(layer.requests_out),
                        "in per out": format_figure(layer.merge_factor),
                    }
                    for layer in flow.layers
                ]
    if rows:
        yield make_table(rows, "request merging from volume to members", names=3)


def build_utilization_sections(workload: WorkloadReport, report: Report) -> Iterator[Section]:
    """Return the utilization of each part, if known."""
    telemetry = [means for means in report.telemetry if means.workload == workload.label]
    labels = tuple(means.configuration for means in telemetry)
    columns: dict[str, list[str]] = {}
    folded = []
    for title, meters in group_meters(telemetry).items():
        rest = []
        for name, values in meters.items():
            if not any(values):
                continue
            texts = list(map(format_figure, values))
            # The figures that say how busy the device or the machine was are a table.
            if name.startswith({report.device: _OF_DEVICE, MACHINE: _OF_MACHINE}.get(title, ())):
                figure, *unit = name.split(", ")
                of = figure if title == MACHINE else f"{figure} of {title}"
                columns[", ".join((of, *unit))] = texts
            else:
                rest.append((name, *texts))
        if rest:
            folded.append(TextTable(f"further telemetry of {title}", ("figure", *labels), rest, 1))
    if columns:
        rows = list(zip(labels, *columns.values(), strict=True))
        yield Section(
            "busy",
            "Utilization",
            (_UTILIZATION,),
            tables=(
                TextTable("", (report.noun, *columns), rows, names=1),
                *_stack(telemetry, report),
            ),
            folded=folded,
            draw=lambda: build_telemetry_charts(workload, report),
        )
