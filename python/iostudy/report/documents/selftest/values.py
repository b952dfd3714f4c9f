"""Document of ``iostudy selftest --json``: expected and observed changes."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field, FiniteFloat

from iostudy.analysis.verdict import Verdict
from iostudy.report.base import Span, Value
from iostudy.report.topics.noise.values import NoiseReport


class Outcome(StrEnum):
    """The outcome of an expectation, or of all of them."""

    PASSED = "passed"
    UNDECIDED = "undecided"
    FAILED = "failed"


class ExpectationResult(Value):
    """The known change of a configuration, and the observed one."""

    configuration: str
    expected_change: FiniteFloat
    """The true change of the figure: 0, or that of a known slow-down."""
    change: FiniteFloat
    interval: Span | None
    holds: bool
    """Whether the interval holds the true change."""
    verdict: Verdict
    blocks: int
    outcome: Outcome
    sentence: str = Field(serialization_alias="told")


class SelftestReport(Value):
    """The document."""

    schema_name: Literal["iostudy.selftest/1"] = Field(
        default="iostudy.selftest/1", serialization_alias="schema"
    )
    """The form of this document; the number grows when a reader of the old form would fail."""
    outcome: Outcome
    sentence: str = Field(serialization_alias="told")
    expectations: tuple[ExpectationResult, ...]
    noise: NoiseReport | None
    folder: str
    """The output folder, of a study like any other."""
