"""Text of a relative change and its interval: percent, and above 100 % a ratio."""

from __future__ import annotations

from iostudy.units import format_significant

LARGEST_CHANGE = 10.0
"""A change of 1000 %. Intervals of the first few blocks reach further; digits say nothing there."""
LARGEST_RATIO = 1000.0
"""Largest ratio to the baseline in digits; beyond it only its order matters."""


def is_ratio(change: float) -> bool:
    """Whether a change, a fraction, is stated as a ratio: above 100 %."""
    return change > 1


def format_relative_change(change: float) -> str:
    """A change: -0.1204 -> ``-12.0 %``; above 100 % the ratio: 29.0 -> ``30.0 x``."""
    return f"{_ratio(change)} x" if is_ratio(change) else f"{_signed(change)} %"


def format_change_ends(low: float, high: float, *, ratio: bool = False) -> str:
    """The interval of a change in percent: ``[-15.0, -9.0]``; as ratios: ``[25.1, 36.2]``."""
    if low < 0 and high >= LARGEST_CHANGE:
        return "[too wide]"
    text = _ratio if ratio else _signed
    return f"[{text(low)}, {text(high)}]"


def format_relative_interval(change: float, low: float, high: float) -> str:
    """A change and its interval, fractions: ``-12.0 % [-15.0, -9.0]``, ``30.0 x [25.1, 36.2]``."""
    return (
        f"{format_relative_change(change)} {format_change_ends(low, high, ratio=is_ratio(change))}"
    )


def format_tenths(percent: float, sign: str = "-") -> str:
    """Round to one decimal; near zero to two, because a decision depends on the sign of an end."""
    if 0 < abs(percent) < 0.05:
        return f"{percent:{sign}.2f}"
    return f"{percent + 0.0:{sign}.1f}"


def _signed(fraction: float) -> str:
    if fraction >= LARGEST_CHANGE:
        return f">+{LARGEST_CHANGE * 100:.0f}"
    return format_tenths(fraction * 100, sign="+")


def _ratio(change: float) -> str:
    """The ratio to the baseline that a change, a fraction, is: 29.0 -> ``30.0``."""
    ratio = 1 + change
    return f">{LARGEST_RATIO:.0f}" if ratio >= LARGEST_RATIO else format_significant(ratio)
