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
    """Of the figure, from the first study to the second, as a fraction."""
    interval: Span | None
    """Of the noise within the studies; what differs between them is in no interval."""
    verdict: Verdict
    by_margin: bool
    flags: tuple[Flag, ...]
    """What was found in the figures of either study; with any, no difference is claimed."""


class PairingLoss(Value):
    """What the lack of pairs costs on one workload, by what pairs cancelled within the studies."""

    workload: str
    times_as_wide: FiniteFloat
    """An interval without pairs, as a multiple of one of pairs."""
    times_as_many_blocks: FiniteFloat
    """For an interval as narrow."""


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
    """Of the workloads that have pairs within the studies."""
    left_out: tuple[str, ...]
    """What only one of them has, or has otherwise, with the reason."""
    differences: tuple[CircumstanceDifference, ...]
    """In their circumstances; those that usually matter most first."""
    study_difference: str
    """From the first study file to the second, as a unified diff; empty where they are the same."""
