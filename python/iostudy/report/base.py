"""Base class and common values of all report documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat

from iostudy.analysis.verdict import Verdict
from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.evidence import Evidence
from iostudy.workloads.measurement import Histogram
from iostudy.workloads.native.latency import percentiles_us, pool_histograms


class Value(BaseModel):
    """Base of all report values: frozen, without unknown fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, serialize_by_alias=True
    )

    @classmethod
    def copy_from(cls, source: object, /, **more: object) -> Self:
        """Return the value with the fields that ``source`` has by the same names, and ``more``."""
        fields = {name: getattr(source, name) for name in cls.model_fields if hasattr(source, name)}
        return cls.model_validate({**fields, **more}, from_attributes=True)


def declare_schema(name: str) -> Any:
    """Return the field with the form of a document, as ``iostudy.report/3``."""
    text = "The form of this document; the number grows when a reader of the old form would fail."
    return Field(default=name, serialization_alias="schema", description=text)


class OnWorkload(Value):
    """A value about one workload."""

    workload: str
    """Label of the workload."""


class UnderConfiguration(Value):
    """A value about one configuration."""

    configuration: str
    """Label of the configuration."""


class OfConfiguration(UnderConfiguration, OnWorkload):
    """A value about one configuration on one workload."""


class PooledLatencies(Value):
    """Latencies of one operation, pooled over the trials that count."""

    operation: str
    """Name of the operation, such as ``read``."""
    trials: int
    """Number of counted trials with such operations."""
    count: int
    """Number of latencies in these trials."""
    percentiles_us: dict[str, FiniteFloat]
    """``p50`` to ``max``, in microseconds: upper bounds of their buckets, which are 4.4 % wide, at
    most the maximum."""
    upper_us: tuple[FiniteFloat, ...]
    """Upper bounds of the buckets that are not empty, ascending, in microseconds."""
    counts: tuple[int, ...]
    """Number of latencies in each of these buckets."""

    @classmethod
    def pool(
        cls,
        operation: str,
        histograms: Sequence[Histogram],
        longest_us: float = math.inf,
        **more: Any,
    ) -> Self:
        """Pool the histograms of trials; ``more`` are the other fields."""
        histogram = pool_histograms(histograms)
        upper_us, counts = zip(*histogram, strict=True)
        return cls(
            operation=operation,
            trials=len(histograms),
            count=sum(counts),
            percentiles_us=percentiles_us(histogram, longest_us),
            upper_us=upper_us,
            counts=counts,
            **more,
        )


class Span(Value):
    """Both ends of an interval, as fractions where the field says nothing else."""

    low: FiniteFloat
    """Lower end."""
    high: FiniteFloat
    """Upper end."""


def finite(value: float | None) -> float | None:
    """``value`` unless it is NaN or infinite."""
    return value if value is not None and math.isfinite(value) else None


def build_span(interval: tuple[float, float] | None) -> Span | None:
    """Return an interval with known ends, else None."""
    low, high = map(finite, interval or (None, None))
    return None if low is None or high is None else Span(low=low, high=high)


Known = Annotated[FiniteFloat | None, BeforeValidator(finite)]
"""A number; ``copy_from`` makes null of one that is not finite."""
Interval = Annotated[
    Span | None, BeforeValidator(lambda ends: build_span(ends) if isinstance(ends, tuple) else ends)
]
"""An interval; ``copy_from`` takes both ends, too, and makes null of unknown ones."""


class JudgedChange(Value):
    """A change of a figure, with its verdict."""

    change: Known
    """The change, as a fraction; null if unknown."""
    interval: Interval
    """Confidence interval of the change; null if unknown."""
    verdict: Verdict
    """The verdict on it."""


class DifferenceReport(JudgedChange):
    """A change from one set of runs to another, with its verdict."""

    by_margin: bool
    """Whether the whole interval lies beyond the margin."""

    @property
    def says(self) -> str:
        """The verdict in words: ``better by ≥ margin``."""
        return f"{self.verdict}{' by ≥ margin' if self.by_margin else ''}"


class EffectReport(OnWorkload, JudgedChange):
    """The effect of one level of a factor, or an interaction of two levels.

    The change of an interaction is beyond the product of both. The interval is simultaneous, for
    all effects and interim analyses.
    """

    level: str
    """The level or pair: ``atime=noatime``, or ``atime=noatime with file-max=64000``."""
    against: str
    """Level or pair that it is compared with."""
    by_holm: bool
    """Whether only Holm's procedure shows the difference; the interval then contains zero."""
    p: FiniteFloat | None
    """Smallest risk at which Holm's procedure shows the difference; it accounts for all interim
    analyses."""
    blocks: int
    """Number of counted blocks."""


class DiagnosisReport(Value):
    """The bottleneck of one run, and the examined figures."""

    limit: Bottleneck
    """The bottleneck of the first finding; unclear without findings."""
    sentence: str
    """The diagnosis in a sentence."""
    no_help: str
    """The most that a faster device could save, if the bottleneck is elsewhere; else empty."""
    findings: tuple[Finding, ...]
    """Bottlenecks of the run, the main one first."""
    key_figures: tuple[Evidence, ...] = Field(serialization_alias="looked_at")
    """Key figures of every run, whatever its bottleneck; the target's device first."""
    missing: tuple[str, ...]
    """Figures that were not available."""


class Method(Value):
    """The decision rule, fixed before the first trial, and its explanation."""

    margin: FiniteFloat
    """Equivalence margin, as a fraction."""
    risk: FiniteFloat
    """Probability of any wrong verdict in the whole study, as a fraction."""
    min_blocks: int
    """Blocks before the first interim analysis."""
    max_blocks: int
    """Blocks after which a comparison ends without a verdict."""
    comparisons: int
    """Number of comparisons that share the risk."""
    rare: FiniteFloat | None = None
    """Share of slow runs below which equivalent and not worse need both; null without a limit."""
    seed: int
    """Seed of the random orders."""
    text: str
    """The decision rule in words."""


class Step(Value):
    """A next step."""

    text: str
    """What to do."""
    command: str = ""
    """Command of the step; empty without one."""


class State(StrEnum):
    """Whether the study has ended."""

    COMPLETE = "complete"
    STOPPED = "stopped"
