"""Document of ``iostudy selftest --json``: expected and observed changes."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field, FiniteFloat

from iostudy.analysis.verdict import Verdict
from iostudy.report.base import Span, Value
from iostudy.report.topics.noise.values import PowerEstimateReport


class ExpectationOutcome(StrEnum):
    """The outcome of an expectation, or of all of them."""

    PASSED = "passed"
    UNDECIDED = "undecided"
    FAILED = "failed"


class ExpectationResult(Value):
    """Expected and observed change of one configuration."""

    configuration: str
    """Label of the configuration."""
    expected_change: FiniteFloat
    """True change of the figure, as a fraction: 0, or that of a known slow-down."""
    change: FiniteFloat
    """Observed change, as a fraction."""
    interval: Span | None
    """Its confidence interval; null if unknown."""
    holds: bool
    """Whether the interval contains the true change."""
    verdict: Verdict
    """Verdict of the comparison."""
    blocks: int
    """Number of counted blocks."""
    outcome: ExpectationOutcome
    """Outcome of the expectation."""
    sentence: str = Field(serialization_alias="told")
    """The outcome in a sentence."""


class SelftestReport(Value):
    """Outcome of a selftest."""

    schema_name: Literal["iostudy.selftest/1"] = Field(
        default="iostudy.selftest/1", serialization_alias="schema"
    )
    """The form of this document; the number grows when a reader of the old form would fail."""
    outcome: ExpectationOutcome
    """Outcome of all expectations."""
    sentence: str = Field(serialization_alias="told")
    """The outcome in a sentence."""
    expectations: tuple[ExpectationResult, ...]
    """Outcome of each expectation."""
    noise: PowerEstimateReport | None
    """Noise of the workload; null if unknown."""
    folder: str
    """Output folder of the selftest's study."""
