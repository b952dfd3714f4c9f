"""Sentences on scaling curves: knees and crossings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iostudy.report.formatting import UNKNOWN, join_words
from iostudy.report.topics.scaling.values import (
    CurveCrossing,
    LoadLevel,
    ScalingCurve,
    ScalingPoint,
    ScalingReport,
)
from iostudy.report.topics.verdicts.names import name_configuration
from iostudy.study.load_section import NODES_OPTION
from iostudy.units import format_rounded_size, format_seconds, format_significant

_MOST_NAMED = 3
"""More configurations than these are counted."""


def describe_crossings(scaling: ScalingReport, factor: str = "") -> tuple[str, ...]:
    """A sentence for each crossing that verdicts show."""
    return tuple(
        f"On {scaling.workload}, {format_crossing(each, scaling.option, scaling.levels, factor)}."
        for each in scaling.crossings
        if each.interval is not None
    )


def describe_knees(scaling: ScalingReport, factor: str = "") -> Iterator[str]:
    """Configurations of which the same holds share a sentence."""
    sharing: dict[str, list[str]] = {}
    for curve in scaling.curves:
        name = name_configuration(curve.configuration, factor)
        sharing.setdefault(_knee(curve, scaling), []).append(name)
    for said, labels in sharing.items():
        if len(labels) == len(scaling.curves) > 1:
            named = "every configuration"
        elif len(labels) > _MOST_NAMED:
            named = f"{len(labels)} configurations"
        else:
            named = join_words(labels)
        yield f"With {named}, {said}."


def _knee(curve: ScalingCurve, scaling: ScalingReport) -> str:
    """Saturation of a curve that improves with load, stability of others."""
    is_highest = curve.knee == (scaling.levels[-1].load,)
    loads = _with_option(format_levels(curve.knee, scaling.levels), scaling.option, scaling.levels)
    which = "" if len(curve.knee) == 1 else "; which one is not decided"
    name = scaling.figure.name
    if curve.rises:
        if is_highest:
            return f"{name} improves up to {loads}, the highest load"
        return f"{name} saturates at {loads}{which}"
    if len(curve.pays_up_to) > 1:
        return f"saturation of {name} is not decided"
    if is_highest:
        return f"{name} is stable over all loads"
    return f"{name} does not improve with load; it is stable up to {loads}{which}"


def describe_growth(scaling: ScalingReport, factor: str = "") -> Iterator[str]:
    """How far each configuration scales from the fewest nodes to the most, of not too many."""
    if scaling.option != NODES_OPTION or len(scaling.curves) > _MOST_NAMED:
        return
    first, last = scaling.levels[0], scaling.levels[-1]
    for curve in scaling.curves:
        efficiency = curve.points[-1].efficiency
        if efficiency is not None:
            grown = efficiency * last.load / first.load
            yield (
                f"With {name_configuration(curve.configuration, factor)}, {last.text} nodes have "
                f"{format_significant(grown)} times the {scaling.figure.name} of {first.text}: a "
                f"scaling efficiency of {format_efficiency(curve.points[-1])} %."
            )


def format_efficiency(point: ScalingPoint) -> str:
    """``61.8 [55.2, 69.1]``, in percent."""
    if point.efficiency is None:
        return UNKNOWN
    ends = point.efficiency_interval
    within = "" if ends is None else f" [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"
    return f"{100 * point.efficiency:.1f}{within}"


def format_crossing(
    meeting: CurveCrossing, option: str, levels: Sequence[LoadLevel], factor: str = ""
) -> str:
    """``HDFS overtakes Lustre between 60 and 80 jobs, at about 71 [66, 77]``."""
    over = name_configuration(meeting.overtaking, factor)
    under = name_configuration(meeting.overtaken, factor)
    about = format_crossing_load(meeting, levels)
    ends = format_levels_between(meeting, option, levels)
    return f"{over} overtakes {under} between {ends}, at about {about}"


def format_levels_between(meeting: CurveCrossing, option: str, levels: Sequence[LoadLevel]) -> str:
    """``60 and 80 jobs``: the levels on either side."""
    ends = " and ".join(_text(load, levels) for load in (meeting.below, meeting.above))
    return _with_option(ends, option, levels)


def format_levels(loads: Sequence[float], levels: Sequence[LoadLevel]) -> str:
    """``2, 4 or 8``."""
    return join_words([_text(load, levels) for load in loads], "or")


def _text(load: float, levels: Sequence[LoadLevel]) -> str:
    return next(level.text for level in levels if level.load == load)


def _with_option(text: str, option: str, levels: Sequence[LoadLevel]) -> str:
    """``60 and 80 jobs``, and ``event_size 512KiB and 1MiB`` where levels have units."""
    return f"{text} {option}" if _unit(levels) == "" else f"{option} {text}"


def _unit(levels: Sequence[LoadLevel]) -> str:
    return levels[0].text.lstrip("0123456789.")


def format_crossing_load(meeting: CurveCrossing, levels: Sequence[LoadLevel]) -> str:
    """``71.2 [66.0, 77.3]``, in the kind of unit that the levels have."""
    if meeting.interval is None:
        return _number(meeting.load, levels)
    low, high = (_number(end, levels) for end in (meeting.interval.low, meeting.interval.high))
    return f"{_number(meeting.load, levels)} [{low}, {high}]"


def _number(load: float, levels: Sequence[LoadLevel]) -> str:
    unit = _unit(levels)
    if unit.endswith("B"):
        return format_rounded_size(round(load))
    if unit in ("us", "ms", "s", "min", "h"):
        return format_seconds(load)
    return format_significant(load)
