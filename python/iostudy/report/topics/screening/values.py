"""Values of a screening: effects, aliases and the predicted best."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.analysis.verdict import Verdict
from iostudy.report.base import Span, Value


class EffectReport(Value):
    """The effect of one level of a factor, or an interaction of two levels."""

    workload: str
    """Label of the workload."""
    level: str
    """The level or pair: ``atime=noatime``, or ``atime=noatime with file-max=64000``."""
    against: str
    """Level or pair that it is compared with."""
    change: FiniteFloat | None
    """Change of the figure as a fraction; for an interaction, beyond the product of both."""
    interval: Span | None
    """Simultaneous confidence interval for all effects and interim analyses; null if unknown."""
    verdict: Verdict
    """Verdict on the effect."""
    by_holm: bool
    """Whether only Holm's procedure shows the difference; the interval then contains zero."""
    p: FiniteFloat | None
    """Smallest risk at which Holm's procedure shows the difference; it accounts for all interim
    analyses."""
    blocks: int
    """Number of counted blocks."""


class AliasReport(Value):
    """Interactions that are aliased with a main effect."""

    level: str
    """Level of the main effect."""
    interactions: tuple[str, ...]
    """Interactions that bias its estimate."""


class OmnibusReport(Value):
    """F test of all levels of a factor together. No verdict uses it."""

    workload: str
    """Label of the workload."""
    factor: str
    """Name of the factor."""
    f: FiniteFloat
    """The F statistic."""
    degrees: int
    """Degrees of freedom of the factor."""
    error_degrees: int
    """Degrees of freedom of the error."""
    p: FiniteFloat
    """The p value, for this interim analysis alone."""


class PredictedBest(Value):
    """The predicted best configuration.

    Each factor is at its best level, or at its first if none is shown to be better.
    """

    levels: dict[str, str]
    """Levels that differ from the first, by factor."""
    changes: dict[str, FiniteFloat]
    """Predicted changes against all first levels, by workload, as fractions; effects are added
    on the log scale."""
    was_run: bool
    """Whether the design contains this configuration."""
    confirm: str
    """Section of a study file that compares it with the first levels."""


class ScreeningReport(Value):
    """Effects of the factors, and the limits of the design."""

    answer: str
    """The result in sentences."""
    design: str
    """Name of the design."""
    runs: int
    """Number of configurations in the design."""
    effects: tuple[EffectReport, ...]
    """Main effects of the levels."""
    interactions: tuple[EffectReport, ...]
    """Interactions of two factors; empty if they are aliased."""
    aliases: tuple[AliasReport, ...]
    """Interactions aliased with main effects."""
    omnibus: tuple[OmnibusReport, ...]
    """Tests of factors with more than two levels."""
    predicted: PredictedBest | None
    """Predicted best configuration; null if no level is better than the first."""
