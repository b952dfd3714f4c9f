"""Values of other figures, latencies and parts."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.report.base import FigureDescription, Span, Value


class FigureMean(Value):
    """Mean of a figure that no verdict uses, under one configuration."""

    configuration: str
    """Label of the configuration."""
    value: FiniteFloat | None
    """Geometric mean over the blocks shared with the baseline; arithmetic if a value is 0 or
    less."""
    change: FiniteFloat | None
    """Change against the baseline in those blocks; null for the baseline and for arithmetic
    means."""
    interval: Span | None
    """Confidence interval of the change; null if unknown."""


class OtherFigure(Value):
    """A figure that no verdict uses, under every configuration in the study's order."""

    figure: FigureDescription
    """The figure."""
    means: tuple[FigureMean, ...]
    """Means, in the study's order of configurations."""


class LatencyReport(Value):
    """Latencies of one operation under one configuration, pooled over the trials that count."""

    operation: str
    """Name of the operation, such as ``read``."""
    configuration: str
    """Label of the configuration."""
    trials: int
    """Number of counted trials."""
    count: int
    """Number of measured latencies in these trials."""
    percentiles_us: dict[str, FiniteFloat]
    """``p50`` to ``max``, in microseconds: upper bounds of their buckets, which are 4.4 % wide."""
    upper_us: tuple[FiniteFloat, ...]
    """Upper bounds of the buckets that are not empty, ascending, in microseconds."""
    counts: tuple[int, ...]
    """Number of latencies in each of these buckets."""


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

    figure: FigureDescription
    """The figure."""
    configurations: tuple[str, ...]
    """Labels of the configurations, the baseline first."""
    parts: tuple[PartReport, ...]
    """The parts, each with a value per configuration."""
