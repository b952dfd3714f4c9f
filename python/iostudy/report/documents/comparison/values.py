"""Values of a comparison of two studies."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, FiniteFloat

from iostudy.analysis.series import Flag
from iostudy.analysis.verdict import Verdict
from iostudy.report.base import FigureDescription, Span, Value


class ComparedStudy(Value):
    """One of the two studies."""

    place: str
    """The folder it was read from."""
    name: str
    question: str
    finished: bool
    """Every comparison of its own has its verdict or has used up its blocks."""
    started_at: FiniteFloat
    """Unix time in seconds."""


class ConfigurationMean(Value):
    """A configuration in one of the two studies."""

    configuration: str
    value: FiniteFloat | None
    """Geometric mean over its trials that count, in the figure's unit."""
    trials: int


class ConfigurationComparison(Value):
    """One configuration of the second study against one of the first, without pairs."""

    workload: str
    figure: FigureDescription
    first: ConfigurationMean
    second: ConfigurationMean
    change: FiniteFloat | None
    """Change of the figure from the first study to the second, as a fraction."""
    interval: Span | None
    """Interval from the noise within the studies; it does not cover differences between them."""
    verdict: Verdict
    by_margin: bool
    flags: tuple[Flag, ...]
    """Flags of the figures of either study; with any, no difference is claimed."""


class PairingLoss(Value):
    """Precision lost without pairs on one workload, from the pairs within the studies."""

    workload: str
    times_as_wide: FiniteFloat
    """An interval without pairs, as a multiple of one of pairs."""
    times_as_many_blocks: FiniteFloat
    """Factor on the blocks for an interval of the same width."""


class CircumstanceDifference(Value):
    """A circumstance in which the two studies differ; None where one does not have it."""

    name: str
    first: str | None
    second: str | None


class StudyComparison(Value):
    """Comparison of two studies."""

    schema_name: Literal["iostudy.comparison/2"] = Field(
        default="iostudy.comparison/2", serialization_alias="schema"
    )
    """The form of this document; the number grows when a reader of the old form would fail."""
    first: ComparedStudy
    second: ComparedStudy
    margin: FiniteFloat
    risk: FiniteFloat
    compared: tuple[ConfigurationComparison, ...]
    costs: tuple[PairingLoss, ...]
    """Losses of the workloads with pairs within the studies."""
    left_out: tuple[str, ...]
    """Parts that only one study has, or that differ, with the reason."""
    differences: tuple[CircumstanceDifference, ...]
    """Differences of circumstances, the most important first."""
    study_difference: str
    """Unified diff from the first study file to the second; empty if they are equal."""
