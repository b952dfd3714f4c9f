"""Values of scaling curves: a figure over levels of load."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.report.base import FigureDescription, Span, Value


class ValueInterval(Value):
    """Both ends of an interval, in the unit of the estimate."""

    low: FiniteFloat
    """Lower end."""
    high: FiniteFloat
    """Upper end."""


class LoadLevel(Value):
    """A level of load, and the workload that runs at it."""

    load: FiniteFloat
    """The load as a number."""
    text: str
    """The load as in the study file or the publication."""
    workload: str
    """Label of the workload."""


class ScalingPoint(Value):
    """One configuration at one level of load."""

    load: FiniteFloat
    """The load."""
    value: FiniteFloat | None
    """Geometric mean over its own blocks, in the figure's unit."""
    interval: ValueInterval | None
    """Confidence interval of the value; null if unknown."""
    step: FiniteFloat | None
    """Change since the previous load in the blocks of both, as a fraction; null at the first
    load."""
    step_interval: Span | None
    """Confidence interval of ``step``; null if unknown."""
    efficiency: FiniteFloat | None
    """Growth of the figure since the first load, divided by that of the load; null if lower is
    better."""
    efficiency_interval: ValueInterval | None
    """Confidence interval of ``efficiency``; null if unknown."""


class ScalingCurve(Value):
    """One configuration over all loads.

    ``knee``, ``pays_up_to``, ``holds_up_to`` and ``peak`` are confidence sets of a load.
    """

    configuration: str
    """Label of the configuration."""
    points: tuple[ScalingPoint, ...]
    """Estimates by load."""
    rises: bool
    """Whether some load is shown to be better than the lowest one by at least the margin."""
    knee: tuple[FiniteFloat, ...]
    """``pays_up_to`` if the curve rises, otherwise ``holds_up_to``."""
    pays_up_to: tuple[FiniteFloat, ...]
    """Saturation: the lowest load that no higher one exceeds by at least the margin."""
    holds_up_to: tuple[FiniteFloat, ...]
    """Stability: the highest load that no lower one exceeds by at least the margin."""
    peak: tuple[FiniteFloat, ...]
    """Loads that no other is shown to exceed."""


class CurveCrossing(Value):
    """Crossing of two curves.

    ``overtaking`` is worse at the load ``below`` and better at the load ``above``.
    """

    overtaking: str
    """Label of the configuration that is better at the higher load."""
    overtaken: str
    """Label of the other configuration."""
    below: FiniteFloat
    """The load before the crossing."""
    above: FiniteFloat
    """The load after it."""
    load: FiniteFloat
    """Estimated load of the crossing, by straight lines on a logarithmic axis."""
    interval: ValueInterval | None
    """Confidence interval of that load; null unless both loads have a verdict."""


class PublishedCurves(Value):
    """Published curves of one figure. Their errors are unknown."""

    reference: str
    """Name of the reference."""
    figure: str
    """Name of the figure."""
    unit: str
    """Published unit."""
    levels: tuple[LoadLevel, ...]
    """Published loads."""
    values: dict[str, tuple[FiniteFloat | None, ...]]
    """Values by configuration, in the order of ``levels``; null if not published."""
    crossings: tuple[CurveCrossing, ...]
    """Crossings of the published curves."""


class ScalingReport(Value):
    """Scaling curves of one workload."""

    workload: str
    """Label of the workload in the study file, common to all loads."""
    option: str
    """Option that sets the load, such as ``jobs``."""
    figure: FigureDescription
    """The figure that decides."""
    levels: tuple[LoadLevel, ...]
    """The loads."""
    curves: tuple[ScalingCurve, ...]
    """Curves in the study's order of configurations."""
    crossings: tuple[CurveCrossing, ...]
    """Crossings of pairs of curves."""
    published: tuple[PublishedCurves, ...] = ()
    """Published curves of the same workload."""
