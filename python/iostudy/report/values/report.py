"""The report: all that is told of a study."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field, FiniteFloat, JsonValue

from iostudy.report.values.base import Value
from iostudy.report.values.covariates import CovariateReport, GivenUpWorkload
from iostudy.report.values.curves import CurvesTold
from iostudy.report.values.limits import DisturbedTold, LimitedTold
from iostudy.report.values.ranking import RankingTold
from iostudy.report.values.reference import ReferenceTold
from iostudy.report.values.requests import TracedTold
from iostudy.report.values.results import ConfigurationTold, WorkloadTold
from iostudy.report.values.screening import ScreeningTold
from iostudy.report.values.search import SearchTold
from iostudy.report.values.trials import TelemetryTold, TrialTold


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
    """What to type for it; empty if there is nothing."""


class State(StrEnum):
    """How far the study came."""

    COMPLETE = "complete"
    STOPPED = "stopped"


class Report(Value):
    """All that is told of a study."""

    schema_name: Literal["iostudy.report/1"] = Field(
        default="iostudy.report/1", serialization_alias="schema"
    )
    """The form of this document; the number grows when a reader of the old form would fail."""
    name: str
    question: str
    state: State
    """Complete: every comparison has its verdict or has used up its blocks."""
    headline: str
    """The answer in one sentence."""
    answer: tuple[str, ...]
    """What it rests on: sentences on workloads, on all of them together, and on how it ended."""
    todo: tuple[Step, ...]
    """What to do next, in order."""
    noun: str
    """What varies, in one word: scheduler, or configuration where several factors do."""
    baseline: str
    configurations: tuple[ConfigurationTold, ...]
    ranking: RankingTold | None
    """None where verdicts tell the order, or too few blocks are there for one."""
    search: SearchTold | None = None
    """What a search tried; the rest of the report is then that of its confirmation."""
    screening: ScreeningTold | None = None
    """None of a study that compares configurations, and not what their factors do."""
    curves: tuple[CurvesTold, ...] = ()
    """Of the workloads that the study runs at several loads."""
    workloads: tuple[WorkloadTold, ...]
    trials: tuple[TrialTold, ...]
    telemetry: tuple[TelemetryTold, ...]
    limits: tuple[LimitedTold, ...] = ()
    """What limited each configuration on each workload, in the order of ``telemetry``."""
    disturbed: tuple[DisturbedTold, ...] = ()
    """Trials that count and that something outside the study has limited."""
    covariates: tuple[CovariateReport, ...] = ()
    """By workload: steal, foreign CPU and foreign I/O, as far as they are known."""
    given_up: tuple[GivenUpWorkload, ...] = ()
    """Workloads of which no attempt at a block counted; the others continued."""
    block_requests: tuple[TracedTold, ...] = ()
    """The requests of the disks, where the study has them traced; in the order of ``telemetry``."""
    device: str
    """The device under test, empty if there is none; ``loop1 or loop0`` where trials differ."""
    notes: tuple[str, ...]
    reference: ReferenceTold | None = None
    """Published figures that the study names, beside its own."""
    method: Method
    reproduce: tuple[str, ...]
    study_text: str
    circumstances: dict[str, JsonValue]
    root: bool
    started_at: FiniteFloat
    """Unix time in seconds."""
    iostudy_version: str
