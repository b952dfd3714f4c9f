"""Values of other figures, latencies and parts."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.report.base import FigureDescription, Span, Value


class FigureMean(Value):
    """A figure that no verdict uses, under one configuration."""

    configuration: str
    value: FiniteFloat | None
    """Geometric mean over the blocks shared with the baseline; arithmetic if one is not above 0."""
    change: FiniteFloat | None
    """Against the baseline in those blocks; None for itself, and for an arithmetic mean."""
    interval: Span | None


class OtherFigure(Value):
    """A figure that no verdict uses, under every configuration in the study's order."""

    figure: FigureDescription
    means: tuple[FigureMean, ...]


class LatencyReport(Value):
    """Latencies of one operation under one configuration, pooled over the trials that count."""

    operation: str
    configuration: str
    trials: int
    count: int
    """Number of measured latencies in these trials."""
    percentiles_us: dict[str, FiniteFloat]
    """``p50`` to ``max``, in microseconds: upper bounds of their buckets, which are 4.4 % wide."""
    upper_us: tuple[FiniteFloat, ...]
    """Upper bounds of the buckets that are not empty, ascending, in microseconds."""
    counts: tuple[int, ...]
    """Latencies in each of these buckets."""


class PartReport(Value):
    """A part of a workload under every configuration, in the order of ``configurations``."""

    labels: dict[str, str]
    """Labels of the part: one of several jobs, a cell of a matrix."""
    values: tuple[FiniteFloat | None, ...]
    """Means, as in FigureMean; None where a configuration has no such part."""
    changes: tuple[FiniteFloat | None, ...]
    """Against the baseline; no verdict rests on them. None for the baseline."""


class PartsReport(Value):
    """One figure of all parts of a workload; ``configurations`` begin with the baseline."""

    figure: FigureDescription
    configurations: tuple[str, ...]
    parts: tuple[PartReport, ...]
