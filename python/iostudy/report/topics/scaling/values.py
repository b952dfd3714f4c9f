"""Values of scaling curves: a figure over levels of load."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.report.base import FigureDescription, Span, Value


class ValueInterval(Value):
    """An interval in the unit of what it is an interval of."""

    low: FiniteFloat
    high: FiniteFloat


class LoadLevel(Value):
    """A level of load, and the workload that runs at it."""

    load: FiniteFloat
    text: str
    """Text of the study file or of the publication."""
    workload: str


class ScalingPoint(Value):
    """One configuration at one level of load."""

    load: FiniteFloat
    value: FiniteFloat | None
    """Geometric mean over its own blocks, in the figure's unit."""
    interval: ValueInterval | None
    step: FiniteFloat | None
    """Change from the level before, in the rounds that both have; None for the first level."""
    step_interval: Span | None
    efficiency: FiniteFloat | None
    """Growth since the first level as a share of that of the load; where higher is better."""
    efficiency_interval: ValueInterval | None


class ScalingCurve(Value):
    """One configuration over all levels; each set of loads holds those that may be the one."""

    configuration: str
    points: tuple[ScalingPoint, ...]
    rises: bool
    """More load than the lowest is shown to make it better by the margin."""
    knee: tuple[FiniteFloat, ...]
    """``pays_up_to`` of a curve that rises, ``holds_up_to`` of others."""
    pays_up_to: tuple[FiniteFloat, ...]
    """The first load from which no higher one is better by at least the margin."""
    holds_up_to: tuple[FiniteFloat, ...]
    """The last load than which no lower one is better by at least the margin."""
    peak: tuple[FiniteFloat, ...]
    """The loads than which none is shown to be better."""


class CurveCrossing(Value):
    """A crossing: ``overtaking`` is behind at the load ``below``, and ahead at ``above``."""

    overtaking: str
    overtaken: str
    below: FiniteFloat
    above: FiniteFloat
    load: FiniteFloat
    """Load at the crossing of the lines between levels, on a logarithmic axis."""
    interval: ValueInterval | None
    """There where both levels have a verdict; else the crossing rests on estimates."""


class PublishedCurves(Value):
    """Curves of one figure that others have published; nothing is known of their errors."""

    reference: str
    figure: str
    unit: str
    levels: tuple[LoadLevel, ...]
    values: dict[str, tuple[FiniteFloat | None, ...]]
    """Values by configuration, in the order of the levels."""
    crossings: tuple[CurveCrossing, ...]


class ScalingReport(Value):
    """One workload over all levels of its load."""

    workload: str
    """Its label in the study file, which the levels share."""
    option: str
    """The option of the load: ``jobs``."""
    figure: FigureDescription
    levels: tuple[LoadLevel, ...]
    curves: tuple[ScalingCurve, ...]
    crossings: tuple[CurveCrossing, ...]
    published: tuple[PublishedCurves, ...] = ()
