"""Values of a screening: effects, aliases and the predicted best."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.analysis.verdict import Verdict
from iostudy.report.base import Span, Value


class EffectReport(Value):
    """The effect of one level of a factor, or an interaction of two levels."""

    workload: str
    level: str
    """``atime=noatime``, or ``atime=noatime with file-max=64000``."""
    against: str
    change: FiniteFloat | None
    """Change of the figure as a fraction; for an interaction, beyond the product of both."""
    interval: Span | None
    """Holds the truth for all effects and looks at once, but for the risk."""
    verdict: Verdict
    by_holm: bool
    """Only Holm's step found the difference: the interval holds zero."""
    p: FiniteFloat | None
    """The least risk at which Holm's steps find it, looks after every block included."""
    blocks: int


class AliasReport(Value):
    """The interactions that would pass for a part of an effect."""

    level: str
    interactions: tuple[str, ...]


class OmnibusReport(Value):
    """The F test of all levels of a factor together; no verdict rests on it."""

    workload: str
    factor: str
    f: FiniteFloat
    degrees: int
    error_degrees: int
    p: FiniteFloat
    """At this look alone."""


class PredictedBest(Value):
    """Every factor at the level shown to be best, else at its first: predicted, not measured."""

    levels: dict[str, str]
    """Levels by factor that differ from the first."""
    changes: dict[str, FiniteFloat]
    """Changes by workload against all first levels, as fractions, from additive effects."""
    was_run: bool
    """Whether it is one of the design's runs."""
    confirm: str
    """A section of a study file that compares it with the first levels."""


class ScreeningReport(Value):
    """Effects of the factors, and the limits of the design."""

    answer: str
    design: str
    runs: int
    effects: tuple[EffectReport, ...]
    interactions: tuple[EffectReport, ...]
    """Interactions of two factors; none where they are aliased."""
    aliases: tuple[AliasReport, ...]
    omnibus: tuple[OmnibusReport, ...]
    """Tests of factors with more than two levels."""
    predicted: PredictedBest | None
    """None where no level is shown to be better than the first."""
