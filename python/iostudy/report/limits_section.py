"""What limited each configuration, by which figures, and how busy each part was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.report import timeline, wording
from iostudy.report.answer import quoted
from iostudy.report.columns import TextTable
from iostudy.report.ground import members
from iostudy.report.section import Section
from iostudy.report.telemetry import MACHINE, MeterGroup, meter_groups
from iostudy.report.values.limits import LimitedTold
from iostudy.report.values.report import Report
from iostudy.report.values.results import WorkloadTold
from iostudy.report.values.trials import TelemetryTold
from iostudy.telemetry.stack import Direction, Layer, flow

LIMITS, BUSY = "limits", "busy"
"""The names of the sections, which have charts in the page."""
_OF_DEVICE = ("%util", "aqu-sz", "r_await", "w_await")
_OF_MACHINE = ("%user", "%system", "%iowait", "%steal", "%idle", "cpu_", "io_", "memory_")
_LIMITED = (
    "By the rules in “What limited a run” of iostudy’s documentation (telemetry.md), from what the "
    "recorder saw during each trial that counts. "
    "The evidence is that of the typical trial: of those with the most frequent limit, the one "
    "whose figure is nearest the median."
)
_COURSE = (
    "The charts are of that trial: shares of time, and dirty pages as a share of those at which "
    "the kernel pauses writers."
)
_BUSY = (
    "Means over the trials that count, by iostat’s names (MiB for its kB; "
    "what has a % is in percent). %util is the share of time in which the device had a request, "
    "and a disk that serves several at once may have room at 100 %; aqu-sz is how many waited or "
    "were served. Pressure (some, full) is the share of time in which tasks stood still for it. "
    "What stood at 0 is left out."
)


def sections(workload: WorkloadTold, report: Report) -> Iterator[Section]:
    """What limited each configuration, and how busy each part was, as far as that is known."""
    limited = [own for own in report.limits if own.workload == workload.label]
    if limited:
        yield Section(
            name=LIMITS,
            title="What limited each configuration",
            known=tuple(_known(limited)),
            first=(_limits(limited, report),),
        )
    told = [own for own in report.telemetry if own.workload == workload.label]
    groups = meter_groups(told)
    columns = dict(column for group in groups for column in _telling(group, report.device))
    if columns:
        labels = tuple(own.configuration for own in told)
        heads = (report.noun, *columns)
        rows = [(own, *texts) for own, *texts in zip(labels, *columns.values(), strict=True)]
        yield Section(
            name=BUSY,
            title="How busy each part was",
            known=(_BUSY,),
            tables=(TextTable("", heads, rows, names=1), *_stack(told, report)),
            shut=tuple(_rest(groups, report.device, labels)),
        )


def _known(limited: Sequence[LimitedTold]) -> Iterator[str]:
    """How the limits were told, and why a timeline is left out."""
    yield _LIMITED
    if any(own.timeline for own in limited):
        yield _COURSE
    short = [own for own in limited if own.no_timeline == timeline.TOO_SHORT]
    missing = [own for own in limited if own.no_timeline and own not in short]
    for without in filter(None, (short, missing)):
        yield f"No timeline of {_which(without)}: {without[0].no_timeline}."


def _which(missing: Sequence[LimitedTold]) -> str:
    if len(missing) > 1:
        return wording.counted(len(missing), "configuration")
    return quoted(missing[0].configuration)


def _limits(limited: Sequence[LimitedTold], report: Report) -> TextTable:
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


def _limited_by(own: LimitedTold) -> str:
    """``the device sda, in 9 of 10 trials; unclear in 1``."""
    (first, most), *others = own.limits.items()
    more = "".join(f"; {_named(limit)} in {trials}" for limit, trials in others)
    return f"{_named(first, own.of)}, in {most} of {wording.counted(own.trials, 'trial')}{more}"


def _confidence(own: LimitedTold) -> str:
    """With the reason where it is not that of the typical trial."""
    if own.confidence is None:
        return ""
    if own.confidence is own.typical_confidence:
        return own.confidence
    shared = f"{own.limits[own.limit]} of {wording.counted(own.trials, 'trial')}"
    alone = f"{own.typical_confidence} in trial {own.typical}"
    return f"{own.confidence}, as {shared} share it ({alone})"


def _evidence(own: LimitedTold) -> str:
    """With what follows from it for the device."""
    figures = ", ".join(each.says for each in own.evidence)
    return f"{figures}. {own.no_help}." if own.no_help else figures


def _named(limit: Bottleneck, of: str = "") -> str:
    return str(limit) if limit is Bottleneck.UNCLEAR else limit.subject(of)


def _telling(group: MeterGroup, device: str) -> Iterator[tuple[str, list[str]]]:
    """The figures that say how busy a part was, as heads of columns with the columns."""
    for name, values in group.rows:
        if _is_telling(group, name, device) and any(values):
            figure, *unit = name.split(", ")
            of = figure if group.title == MACHINE else f"{figure} of {group.title}"
            yield ", ".join((of, *unit)), [wording.significant(value) for value in values]


def _stack(told: Sequence[TelemetryTold], report: Report) -> Iterator[TextTable]:
    """Requests on their way from the volume under test down to the disks, if it is a volume."""
    below = members(report.circumstances)
    rows = [
        (own.configuration, str(direction), *_layer(layer))
        for own in told
        for direction in Direction
        for layer in _layers(direction, own, report.device, below)
    ]
    if rows:
        heads = (report.noun, "requests", "devices", "in/s", "out/s", "merged, in for each out")
        yield TextTable("volume and members: where requests are merged", heads, rows, names=3)


def _layers(
    direction: Direction, own: TelemetryTold, volume: str, below: Mapping[str, tuple[str, ...]]
) -> tuple[Layer, ...]:
    """From the volume down; none where it lies on nothing, or had no such requests."""
    if volume not in below:
        return ()
    devices = {
        name: {figure: value or 0.0 for figure, value in figures.items()}
        for name, figures in own.devices.items()
    }
    found = flow(direction, volume, below, devices)
    return found.layers if found is not None and found.layers[0].requests_in else ()


def _layer(layer: Layer) -> tuple[str, ...]:
    figures = (layer.requests_in, layer.requests_out, layer.merge_factor)
    return (", ".join(layer.devices), *map(wording.significant, figures))


def _rest(groups: Sequence[MeterGroup], device: str, heads: tuple[str, ...]) -> Iterator[TextTable]:
    """A table for each device, and one for the machine."""
    for group in groups:
        rows = [
            (name, *map(wording.significant, values))
            for name, values in group.rows
            if any(values) and not _is_telling(group, name, device)
        ]
        if rows:
            yield TextTable(f"further telemetry of {group.title}", ("figure", *heads), rows, 1)


def _is_telling(group: MeterGroup, name: str, device: str) -> bool:
    if group.title == MACHINE:
        return name.startswith(_OF_MACHINE)
    return group.title == device and name.startswith(_OF_DEVICE)
