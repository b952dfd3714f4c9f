"""Report of a study: the document of report.json."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field, FiniteFloat, JsonValue

from iostudy.report.base import Value
from iostudy.report.topics.block_latency.values import BlockLatencyReport
from iostudy.report.topics.bottlenecks.values import BottleneckReport, DisturbanceReport
from iostudy.report.topics.covariates.values import CovariateReport, GivenUpWorkload
from iostudy.report.topics.noise.values import NoiseCausesReport
from iostudy.report.topics.ranking.values import RankingReport
from iostudy.report.topics.reference.values import ReferenceReport
from iostudy.report.topics.scaling.values import ScalingReport
from iostudy.report.topics.screening.values import ScreeningReport
from iostudy.report.topics.search.values import SearchReport
from iostudy.report.topics.switchback.values import SwitchbackReport
from iostudy.report.topics.verdicts.values import ConfigurationReport, WorkloadReport
from iostudy.report.trials import TelemetryReport, TrialReport


class Method(Value):
    """The decision rule as it was fixed before the first trial, and in words."""

    margin: FiniteFloat
    risk: FiniteFloat
    min_blocks: int
    max_blocks: int
    comparisons: int
    seed: int
    text: str


class Step(Value):
    """Something to do."""

    text: str
    command: str = ""
    """Command of the step; empty without one."""


class State(StrEnum):
    """The progress of the study."""

    COMPLETE = "complete"
    STOPPED = "stopped"


class Report(Value):
    """Report of a study."""

    schema_name: Literal["iostudy.report/2"] = Field(
        default="iostudy.report/2", serialization_alias="schema"
    )
    """The form of this document; the number grows when a reader of the old form would fail."""
    name: str
    question: str
    state: State
    """Complete: every comparison has its verdict or has used up its blocks."""
    headline: str
    """The answer in one sentence."""
    answer: tuple[str, ...]
    """Sentences on the workloads, on all of them together, and on the end of the study."""
    next_steps: tuple[Step, ...] = Field(serialization_alias="todo")
    """The next steps, in order."""
    noun: str
    """The varied factor in one word: scheduler, or configuration for several factors."""
    baseline: str
    configurations: tuple[ConfigurationReport, ...]
    ranking: RankingReport | None
    """None if verdicts give the order, or with too few blocks."""
    search: SearchReport | None = None
    """The candidates of a search; the rest of the report covers its confirmation."""
    screening: ScreeningReport | None = None
    """None of a study that compares configurations, and not what their factors do."""
    curves: tuple[ScalingReport, ...] = ()
    """Curves of the workloads with several loads."""
    workloads: tuple[WorkloadReport, ...]
    switchback: tuple[SwitchbackReport, ...] = ()
    """By workload: the windows that decide. The trials then confirm the recommendation."""
    trials: tuple[TrialReport, ...]
    telemetry: tuple[TelemetryReport, ...]
    limits: tuple[BottleneckReport, ...] = ()
    """Bottlenecks of each configuration on each workload, in the order of ``telemetry``."""
    disturbed: tuple[DisturbanceReport, ...] = ()
    """Trials that count and that something outside the study has limited."""
    covariates: tuple[CovariateReport, ...] = ()
    """Steal, foreign CPU and foreign I/O by workload, if known."""
    noise_causes: tuple[NoiseCausesReport, ...] = ()
    """By workload, where telemetry could show any."""
    given_up: tuple[GivenUpWorkload, ...] = ()
    """Workloads of which no attempt at a block counted; the others continued."""
    block_requests: tuple[BlockLatencyReport, ...] = ()
    """The requests of the disks, where the study has them traced; in the order of ``telemetry``."""
    device: str
    """The device under test, empty if there is none; ``loop1 or loop0`` where trials differ."""
    notes: tuple[str, ...]
    reference: ReferenceReport | None = None
    """Published figures that the study names, with its own."""
    method: Method
    reproduce: tuple[str, ...]
    study_text: str
    circumstances: dict[str, JsonValue]
    root: bool
    started_at: FiniteFloat
    """Unix time in seconds."""
    iostudy_version: str
