"""Values of a search: candidates, responses and importance. Not used for verdicts."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.analysis.search.race import RaceStatus
from iostudy.report.base import Span, Value


class CandidateReport(Value):
    """A candidate by its own blocks; changes are of performance against the default."""

    label: str
    point: dict[str, str]
    """The value of every parameter that it has."""
    standing: RaceStatus
    blocks: int
    """Blocks with every workload."""
    change: FiniteFloat | None
    """Over all workloads with their weights; the luckiest candidate's is too high."""
    error: FiniteFloat | None
    """The standard error of the change, as a fraction."""
    on: tuple[FiniteFloat | None, ...]
    """The change on each workload."""
    eligible: bool
    """False where a workload's change is below what the study allows."""
    refused: str
    """Why the host would not run it; empty where it did."""


class ResponsePoint(Value):
    """Performance against the default at a value, averaged over all other parameters."""

    value: str
    change: FiniteFloat
    interval: Span
    """95 %, at this value by itself."""


class ResponseCurve(Value):
    """The response of the figure over a parameter's range."""

    parameter: str
    points: tuple[ResponsePoint, ...]
    is_range: bool
    """False where the values are names."""
    log: bool


class ImportanceReport(Value):
    """A share of all that the parameters explain, as a fraction, with a 95 % interval."""

    parameter: str | None
    """None: what no parameter does by itself."""
    share: FiniteFloat
    interval: Span


class SearchReport(Value):
    """A search: what it tried, what it saw, and what it makes of the parameters."""

    ended: bool
    incumbent: str | None
    """The label of the candidate that is ahead; None where that is the default."""
    workloads: tuple[str, ...]
    candidates: tuple[CandidateReport, ...]
    """Candidates in the order of their proposal."""
    trials: int
    """Counted trials of the search, including the default's."""
    curves: tuple[ResponseCurve, ...]
    """Response curves; empty with too few candidates."""
    importance: tuple[ImportanceReport, ...]
    """Empty where the candidates do not differ by more than their noise."""
