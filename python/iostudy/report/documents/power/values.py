"""Document of ``iostudy power --json``: power and duration of a study."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, FiniteFloat

from iostudy.analysis.verdict import Verdict
from iostudy.report.base import FigureDescription, Span, Value
from iostudy.report.topics.noise.values import NoiseCausesReport, NoiseReport


class AaResult(Value):
    """The comparison of two labels of the same configuration."""

    change: FiniteFloat
    interval: Span | None
    verdict: Verdict
    """Better or worse is a false winner."""


class BudgetReport(Value):
    """What a given duration is enough for."""

    seconds: FiniteFloat
    blocks: int
    """Blocks of every workload."""
    enough: bool
    """Whether they are at least the study's fewest."""


class WorkloadPower(Value):
    """One workload of the study."""

    label: str
    figure: FigureDescription
    noise: NoiseReport
    same: AaResult
    trial_seconds: FiniteFloat
    """Time with the baseline's settings, including the recovery after a trial."""
    block_seconds: FiniteFloat
    """Time of a block of the study with all its configurations, file systems and data."""
    budget_reachable: FiniteFloat | None
    """Difference that a study with the budget's blocks detects; None without enough blocks."""
    budget_reachable_interval: Span | None


class PowerReport(Value):
    """The document."""

    schema_name: Literal["iostudy.power/1"] = Field(
        default="iostudy.power/1", serialization_alias="schema"
    )
    """The form of this document; the number grows when a reader of the old form would fail."""
    study: str
    blocks: int
    """Blocks of the A/A, of every workload."""
    margin: FiniteFloat
    risk: FiniteFloat
    min_blocks: int
    max_blocks: int
    configurations: int
    comparisons: int
    workloads: tuple[WorkloadPower, ...]
    fewest_seconds: FiniteFloat
    """The study, if all is decided at the first look."""
    most_seconds: FiniteFloat
    """The study, if every comparison takes all its blocks."""
    budget: BudgetReport | None
    sentences: tuple[str, ...] = Field(serialization_alias="told")
    """The results in sentences."""
    noise_causes: tuple[NoiseCausesReport, ...] = ()
    """Causes of the noise of the A/A, by workload."""
    folder: str
    """The output folder of the A/A, a study like any other."""
