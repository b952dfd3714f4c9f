"""Values of a search: candidates, responses and importance. Not used for verdicts."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.analysis.search.race import RaceStatus
from iostudy.report.base import Span, Value


class CandidateReport(Value):
    """A candidate with its own blocks. Changes are of performance, against the default."""

    label: str
    """Label of the candidate."""
    point: dict[str, str]
    """Values of its parameters."""
    standing: RaceStatus
    """Status of the candidate in the race."""
    blocks: int
    """Number of blocks in which it ran all workloads."""
    change: FiniteFloat | None
    """Weighted mean change over all workloads, as a fraction; null if unknown. That of the best
    candidate is biased upwards, since it was selected."""
    error: FiniteFloat | None
    """Standard error of the change, as a fraction; null if unknown."""
    on: tuple[FiniteFloat | None, ...]
    """Change on each workload, as a fraction; null if unknown."""
    eligible: bool
    """Whether no workload loses more than the study allows."""
    refused: str
    """Why the host refused a setting; empty otherwise."""


class MainEffectPoint(Value):
    """Predicted performance at one value of a parameter, averaged over all others."""

    value: str
    """Value of the parameter."""
    change: FiniteFloat
    """Change against the default, as a fraction."""
    interval: Span
    """Pointwise 95 % interval of the change."""


class MainEffectReport(Value):
    """Main effect of a parameter over its values."""

    parameter: str
    """Name of the parameter."""
    points: tuple[MainEffectPoint, ...]
    """Predictions by value."""
    is_range: bool
    """Whether the values are numbers of a range; false for names."""
    log: bool
    """Whether the range is logarithmic."""


class ImportanceReport(Value):
    """Share of a parameter in the predicted variance."""

    parameter: str | None
    """Name of the parameter; null for all interactions."""
    share: FiniteFloat
    """Share of the variance, 0 to 1."""
    interval: Span
    """95 % interval of the share."""


class SearchReport(Value):
    """Candidates of a search, and the effects of its parameters."""

    ended: bool
    """Whether the search has selected its winner."""
    incumbent: str | None
    """Label of the leading candidate; null if the default leads."""
    workloads: tuple[str, ...]
    """Labels of the workloads."""
    candidates: tuple[CandidateReport, ...]
    """Candidates in the order of their proposal."""
    trials: int
    """Counted trials of the search, including the default's."""
    curves: tuple[MainEffectReport, ...]
    """Main effects of the parameters; empty with too few candidates."""
    importance: tuple[ImportanceReport, ...]
    """Importance of the parameters; empty if candidates differ by no more than their noise."""
