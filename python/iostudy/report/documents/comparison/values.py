"""Values of a comparison of two studies."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, FiniteFloat

from iostudy.analysis.verdict import Verdict
from iostudy.report.base import FigureDescription, Span, Value


class ComparedStudy(Value):
    """One of the two studies."""

    place: str
    """Output folder of the study."""
    label: str
    """The end of the folder's path that distinguishes the two studies."""
    name: str
    """Name of the study: that of its file."""
    question: str
    """Question of the study file."""
    finished: bool
    """Whether every comparison of the study has a verdict or has used all its blocks."""
    started_at: FiniteFloat
    """Unix time in seconds."""


class ConfigurationMean(Value):
    """A configuration in one of the two studies."""

    configuration: str
    """Label of the configuration."""
    value: FiniteFloat | None
    """Geometric mean over its counted trials, in the figure's unit; null if unknown."""
    trials: int
    """Number of counted trials."""


class StudyEffect(Value):
    """The effect of a configuration within one of the two studies."""

    change: FiniteFloat | None
    """Mean paired change of the figure from the baseline of the study, as a fraction; null if
    unknown."""
    blocks: int
    """Number of paired blocks."""


class EffectDifference(Value):
    """Difference of the effects of a configuration in the two studies."""

    first: StudyEffect
    """Effect in the first study."""
    second: StudyEffect
    """Effect in the second study."""
    change: FiniteFloat | None
    """Change of the figure, relative to the baselines, from the first study to the second, as a
    fraction; null if unknown."""
    interval: Span | None
    """Confidence interval of that change."""
    verdict: Verdict
    """Verdict on the second study."""
    by_margin: bool
    """Whether the whole interval lies beyond the margin."""


class ConfigurationComparison(Value):
    """Comparison of a configuration of the second study with one of the first."""

    workload: str
    """Label of the workload."""
    figure: FigureDescription
    """The compared figure."""
    is_guard: bool = False
    """Whether the figure does not decide in the first study, but must not get worse."""
    first: ConfigurationMean
    """Mean of the first study."""
    second: ConfigurationMean
    """Mean of the second study."""
    change: FiniteFloat | None
    """Change of the figure from the first study to the second, as a fraction; null if unknown. It
    contains all differences between the studies and has no verdict."""
    interval: Span | None
    """Confidence interval from the noise within the studies; it does not include differences
    between them."""
    effect: EffectDifference | None
    """Difference of the effects; null if there is none."""
    no_effect: str
    """Reason why the effects cannot be compared; empty if they are."""


class CircumstanceDifference(Value):
    """A circumstance in which the two studies differ."""

    name: str
    """Name of the circumstance."""
    first: str | None
    """Value in the first study; null if it has none."""
    second: str | None
    """Value in the second study; null if it has none."""


class StudyComparison(Value):
    """Comparison of two studies."""

    schema_name: Literal["iostudy.comparison/3"] = Field(
        default="iostudy.comparison/3", serialization_alias="schema"
    )
    """The form of this document; the number grows when a reader of the old form would fail."""
    first: ComparedStudy
    """The first study."""
    second: ComparedStudy
    """The second study."""
    margin: FiniteFloat
    """Equivalence margin, as a fraction."""
    risk: FiniteFloat
    """Probability of any wrong verdict, as a fraction."""
    compared: tuple[ConfigurationComparison, ...]
    """Comparisons of the configurations of both studies."""
    left_out: tuple[str, ...]
    """What cannot be compared, with the reason."""
    differences: tuple[CircumstanceDifference, ...]
    """Differences of circumstances, the most important first."""
    study_difference: str
    """Unified diff from the first study file to the second; empty if they are equal."""
