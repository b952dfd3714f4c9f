"""Scaling curves in words: how far more load pays, and who overtakes whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iostudy.report import wording
from iostudy.report.answer import quoted
from iostudy.report.values.curves import CurvesTold, CurveTold, LevelTold, MeetingTold
from iostudy.units import format_rounded_size, format_seconds, format_significant

_MOST_NAMED = 3
"""More configurations than these are counted."""


def shown_crossings(told: CurvesTold) -> tuple[str, ...]:
    """A sentence for each crossing that verdicts show."""
    return tuple(
        f"On {told.workload}, {crossing(each, told.option, told.levels)}."
        for each in told.crossings
        if each.interval is not None
    )


def knees(told: CurvesTold) -> Iterator[str]:
    """Configurations of which the same holds share a sentence."""
    sharing: dict[str, list[str]] = {}
    for curve in told.curves:
        sharing.setdefault(_knee(curve, told), []).append(quoted(curve.configuration))
    for said, labels in sharing.items():
        if len(labels) == len(told.curves) > 1:
            named = "every configuration"
        elif len(labels) > _MOST_NAMED:
            named = f"{len(labels)} configurations"
        else:
            named = wording.joined(labels)
        yield f"With {named}, {said}."


def _knee(curve: CurveTold, told: CurvesTold) -> str:
    """How far more load pays, or costs nothing where it does not."""
    is_highest = curve.knee == (told.levels[-1].load,)
    loads = _with_option(any_of(curve.knee, told.levels), told.option, told.levels)
    which = "" if len(curve.knee) == 1 else "; which of them is not decided"
    if curve.rises:
        end = f"still pays at {loads}, the highest" if is_highest else f"pays up to {loads}{which}"
        return f"more load {end}"
    if len(curve.pays_up_to) > 1:
        return "it is not decided whether more load pays"
    if is_highest:
        return "more load neither pays nor costs"
    return f"more load does not pay; it costs nothing up to {loads}{which}"


def crossing(meeting: MeetingTold, option: str, levels: Sequence[LevelTold]) -> str:
    """``HDFS overtakes Lustre between 60 and 80 jobs, at about 71 [66, 77]``."""
    over, under = quoted(meeting.overtaking), quoted(meeting.overtaken)
    about = meeting_load(meeting, levels)
    return f"{over} overtakes {under} between {between(meeting, option, levels)}, at about {about}"


def between(meeting: MeetingTold, option: str, levels: Sequence[LevelTold]) -> str:
    """``60 and 80 jobs``: the levels on either side."""
    ends = " and ".join(_text(load, levels) for load in (meeting.below, meeting.above))
    return _with_option(ends, option, levels)


def any_of(loads: Sequence[float], levels: Sequence[LevelTold]) -> str:
    """``2, 4 or 8``."""
    return wording.joined([_text(load, levels) for load in loads], "or")


def _text(load: float, levels: Sequence[LevelTold]) -> str:
    return next(level.text for level in levels if level.load == load)


def _with_option(text: str, option: str, levels: Sequence[LevelTold]) -> str:
    """``60 and 80 jobs``, and ``event_size 512KiB and 1MiB`` where levels have units."""
    return f"{text} {option}" if _unit(levels) == "" else f"{option} {text}"


def _unit(levels: Sequence[LevelTold]) -> str:
    return levels[0].text.lstrip("0123456789.")


def meeting_load(meeting: MeetingTold, levels: Sequence[LevelTold]) -> str:
    """``71.2 [66.0, 77.3]``, in the kind of unit that the levels have."""
    if meeting.interval is None:
        return _number(meeting.load, levels)
    low, high = (_number(end, levels) for end in (meeting.interval.low, meeting.interval.high))
    return f"{_number(meeting.load, levels)} [{low}, {high}]"


def _number(load: float, levels: Sequence[LevelTold]) -> str:
    unit = _unit(levels)
    if unit.endswith("B"):
        return format_rounded_size(round(load))
    if unit in ("us", "ms", "s", "min", "h"):
        return format_seconds(load)
    return format_significant(load)
