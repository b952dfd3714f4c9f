"""Evidence of a finding: figures with units and in words (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.telemetry.summary import Figures


@dataclass(frozen=True)
class Evidence:
    """One figure that supports a finding: ``value`` in ``unit``, of a device, mount or process.

    ``says`` is the figure in plain words with its unit.
    """

    figure: str
    of: str
    value: float
    unit: str
    says: str


def format_number(value: float) -> str:
    """Format ``value`` for a reader: an integer from 10 on, else one decimal."""
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}".removesuffix(".0")


def format_busy(percent: float) -> str:
    """Format %util: the kernel may count more time than has passed, but none is busier than that.

    A request that began before the measured time counts in full when it ends.
    """
    return format_number(min(percent, 100.0))


def build_evidence(figures: Figures, figure: str, of: str, unit: str, words: str) -> Evidence:
    """Build the evidence of one figure; its number replaces ``{}`` in ``words``."""
    value = figures[figure]
    number = format_busy(value) if figure == "%util" else format_number(value)
    return Evidence(figure, of, value, unit, words.format(number))
