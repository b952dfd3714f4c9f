"""Values of a screening: effects, aliases and the predicted best."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.analysis.verdict import Verdict
from iostudy.report.base import Span, Value


class EffectReport(Value):
    """What one level of a factor does, or an interaction of two levels beyond what each does."""

    workload: str
    level: str
    """``atime=noatime``, or ``atime=noatime with file-max=64000``."""
    against: str
    change: FiniteFloat | None
    """Of the figure itself, as a fraction; of an interaction, beyond the product of both."""
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
    """By factor, those that are not the first."""
    changes: dict[str, FiniteFloat]
    """By workload, against all first levels, as a fraction; as the effects add up."""
    was_run: bool
    """Whether it is one of the design's runs."""
    confirm: str
    """A section of a study file that measures it beside the first levels."""


class ScreeningReport(Value):
    """Which factors matter, and what the design can and cannot tell."""

    answer: str
    design: str
    runs: int
    effects: tuple[EffectReport, ...]
    interactions: tuple[EffectReport, ...]
    """All of two factors; none where the design does not tell them apart."""
    aliases: tuple[AliasReport, ...]
    omnibus: tuple[OmnibusReport, ...]
    """Of factors with more than two levels."""
    predicted: PredictedBest | None
    """None where no level is shown to be better than the first."""
