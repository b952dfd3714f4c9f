"""Report sections on bottlenecks and utilization."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.report.formatting import format_count, format_figure
from iostudy.report.section import Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.bottlenecks.telemetry import MACHINE, MeterGroup, group_meters
from iostudy.report.topics.bottlenecks.timeline import TOO_SHORT
from iostudy.report.topics.bottlenecks.trial_context import find_members
from iostudy.report.topics.bottlenecks.values import BottleneckReport
from iostudy.report.topics.verdicts.names import name_configuration
from iostudy.report.trials import TelemetryReport
from iostudy.report.values import Report, WorkloadReport
from iostudy.telemetry.stack import Direction, StackLayer, build_flow

LIMITS, BUSY = "limits", "busy"
"""The names of the sections, which have charts in the page."""
_OF_DEVICE = ("%util", "aqu-sz", "r_await", "w_await")
_OF_MACHINE = ("%user", "%system", "%iowait", "%steal", "%idle", "cpu_", "io_", "memory_")
_LIMITED = (
    "Diagnosed for each counted trial from its telemetry, by the rules in “What limited a run” of "
    "iostudy’s documentation (telemetry.md). The evidence is that of the typical trial: among "
    "those with the most frequent bottleneck, the one whose figure is nearest the median."
)
_TIMELINES = (
    "The charts show that trial: shares of time, and dirty pages as a share of the threshold at "
    "which the kernel throttles writers."
)
_UTILIZATION = (
    "Means over the counted trials, by iostat’s names (MiB instead of kB). %util is the share of "
    "time with a request in flight; a device that serves requests in parallel may have headroom at "
    "100 %. aqu-sz is the mean number of requests queued or in service. Pressure (some, full) is "
    "the share of time in which tasks were stalled. Figures that are always 0 are omitted."
)


def build_bottleneck_sections(workload: WorkloadReport, report: Report) -> Iterator[Section]:
    """Return the bottleneck of each configuration, and the utilization of each part if known."""
    limited = [own for own in report.limits if own.workload == workload.label]
    if limited:
        yield Section(
            name=LIMITS,
            title="Bottlenecks",
            notes=tuple(_known(limited, report.factor)),
            leading_tables=(_limits(limited, report),),
        )
    texts_report = [own for own in report.telemetry if own.workload == workload.label]
    groups = group_meters(texts_report)
    columns = dict(column for group in groups for column in _telling(group, report.device))
    if columns:
        labels = tuple(own.configuration for own in texts_report)
        heads = (report.noun, *columns)
        rows = [(own, *texts) for own, *texts in zip(labels, *columns.values(), strict=True)]
        yield Section(
            name=BUSY,
            title="Utilization",
            notes=(_UTILIZATION,),
            tables=(TextTable("", heads, rows, names=1), *_stack(texts_report, report)),
            folded=tuple(_rest(groups, report.device, labels)),
        )


def _known(limited: Sequence[BottleneckReport], factor: str) -> Iterator[str]:
    """Rules of the diagnosis, and reasons for missing timelines."""
    yield _LIMITED
    if any(own.timeline for own in limited):
        yield _TIMELINES
    short = [own for own in limited if own.no_timeline == TOO_SHORT]
    missing = [own for own in limited if own.no_timeline and own not in short]
    for without in filter(None, (short, missing)):
        yield f"No timeline of {_name_missing(without, factor)}: {without[0].no_timeline}."


def _name_missing(missing: Sequence[BottleneckReport], factor: str) -> str:
    if len(missing) > 1:
        return format_count(len(missing), "configuration")
    return name_configuration(missing[0].configuration, factor)


def _limits(limited: Sequence[BottleneckReport], report: Report) -> TextTable:
    heads = (report.noun, "limited by", "confidence", "evidence")
    rows = [
        (
            own.configuration,
            _limited_by(own),
            _confidence(own),
            _evidence(own),
        )
        for own in limited
    ]
    return TextTable("", heads, rows, names=1, words=len(heads) - 1)


def _limited_by(own: BottleneckReport) -> str:
    """``the device sda, in 9 of 10 trials; unclear in 1``."""
    (first, most), *others = own.limits.items()
    more = "".join(f"; {_named(limit)} in {trials}" for limit, trials in others)
    return f"{_named(first, own.of)}, in {most} of {format_count(own.trials, 'trial')}{more}"


def _confidence(own: BottleneckReport) -> str:
    """Return the confidence, with the reason if it differs from the typical trial's."""
    if own.confidence is None:
        return ""
    if own.confidence is own.typical_confidence:
        return own.confidence
    shared = f"{own.limits[own.limit]} of {format_count(own.trials, 'trial')}"
    alone = f"{own.typical_confidence} in trial {own.typical}"
    return f"{own.confidence}, as {shared} share it ({alone})"


def _evidence(own: BottleneckReport) -> str:
    """Return the evidence with its consequence for the device."""
    figures = ", ".join(each.says for each in own.evidence)
    return f"{figures}. {own.no_help}." if own.no_help else figures


def _named(limit: Bottleneck, of: str = "") -> str:
    return str(limit) if limit is Bottleneck.UNCLEAR else limit.subject(of)


def _telling(group: MeterGroup, device: str) -> Iterator[tuple[str, list[str]]]:
    """The figures that say how busy a part was, as heads of columns with the columns."""
    for name, values in group.rows:
        if _is_key_meter(group, name, device) and any(values):
            figure, *unit = name.split(", ")
            of = figure if group.title == MACHINE else f"{figure} of {group.title}"
            yield ", ".join((of, *unit)), [format_figure(value) for value in values]


def _stack(telemetry: Sequence[TelemetryReport], report: Report) -> Iterator[TextTable]:
    """Requests on their way from the volume under test down to the disks, if it is a volume."""
    below = find_members(report.circumstances)
    rows = [
        (own.configuration, str(direction), *_layer(layer))
        for own in telemetry
        for direction in Direction
        for layer in _layers(direction, own, report.device, below)
    ]
    if rows:
        heads = (report.noun, "requests", "devices", "in/s", "out/s", "in per out")
        yield TextTable("request merging from volume to members", heads, rows, names=3)


def _layers(
    direction: Direction, own: TelemetryReport, volume: str, below: Mapping[str, tuple[str, ...]]
) -> tuple[StackLayer, ...]:
    """Return the layers from the volume down; none without layers or such requests."""
    if volume not in below:
        return ()
    devices = {
        name: {figure: value or 0.0 for figure, value in figures.items()}
        for name, figures in own.devices.items()
    }
    found = build_flow(direction, volume, below, devices)
    return found.layers if found is not None and found.layers[0].requests_in else ()


def _layer(layer: StackLayer) -> tuple[str, ...]:
    figures = (layer.requests_in, layer.requests_out, layer.merge_factor)
    return (", ".join(layer.devices), *map(format_figure, figures))


def _rest(groups: Sequence[MeterGroup], device: str, heads: tuple[str, ...]) -> Iterator[TextTable]:
    """A table for each device, and one for the machine."""
    for group in groups:
        rows = [
            (name, *map(format_figure, values))
            for name, values in group.rows
            if any(values) and not _is_key_meter(group, name, device)
        ]
        if rows:
            yield TextTable(f"further telemetry of {group.title}", ("figure", *heads), rows, 1)


def _is_key_meter(group: MeterGroup, name: str, device: str) -> bool:
    if group.title == MACHINE:
        return name.startswith(_OF_MACHINE)
    return group.title == device and name.startswith(_OF_DEVICE)
