"""Report of a study: the document of report.json."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from pydantic import Field, FiniteFloat, JsonValue, create_model

from iostudy.analysis.series import Flag
from iostudy.ledger.given_up_workloads import GivenUpWorkload
from iostudy.report.base import Method, State, Step, Value, declare_schema
from iostudy.report.plugin_topics import TopicValue, list_topics
from iostudy.report.topics.block_latency import BlockLatencyReport
from iostudy.report.topics.bottlenecks import BottleneckReport, DisturbanceReport
from iostudy.report.topics.configurations import ConfigurationReport
from iostudy.report.topics.covariates import CovariateReport
from iostudy.report.topics.directories import DirectoryReport
from iostudy.report.topics.measurements import LatencyReport, OtherFigure, PartsReport
from iostudy.report.topics.noise import NoiseDecompositionReport, PowerEstimateReport
from iostudy.report.topics.ranking import RankingReport
from iostudy.report.topics.reference import ReferenceReport
from iostudy.report.topics.scaling import ScalingReport
from iostudy.report.topics.switchback import SwitchbackReport
from iostudy.report.topics.telemetry import TelemetryReport
from iostudy.report.topics.trials import TrialReport
from iostudy.report.topics.verdicts import Result
from iostudy.report.topics.volumes import VolumeReport
from iostudy.workloads.definition import Figure


class GuardReport(Value):
    """Results of one workload by a further figure, which a recommendation must not make worse."""

    figure: Figure
    """The figure."""
    results: tuple[Result, ...]
    """Results in the study's order of configurations."""


class WorkloadReport(Value):
    """Results of one workload."""

    label: str
    """Label of the workload."""
    name: str
    """Name of the workload's definition, such as ``io``."""
    models: str
    """What the workload does or models."""
    leaves_out: str
    """What it does not model."""
    options: dict[str, str]
    """All its options, as in a study file."""
    figure: Figure
    """The figure that decides."""
    results: tuple[Result, ...]
    """Results in the study's order of configurations."""
    guards: tuple[GuardReport, ...] = ()
    """Results by the other figures that the study names, if it names several."""
    answer: str
    """The result in a sentence."""
    explanation: str = Field(default="", serialization_alias="because")
    """Why configurations are equivalent or inconclusive, as a part of a sentence; empty if
    unknown."""
    others: tuple[OtherFigure, ...] = ()
    """Figures that no verdict uses."""
    latencies: tuple[LatencyReport, ...] = ()
    """Latencies by operation and configuration."""
    parts: tuple[PartsReport, ...] = ()
    """Figures of the workload's parts."""
    noise: PowerEstimateReport | None = None
    """Noise of its comparisons; null below two blocks or two configurations."""
    flags: tuple[Flag, ...] = ()
    """Violated assumptions of its means, found in the figures in run order."""


class Report(Value):
    """Report of a study."""

    schema_name: Literal["iostudy.report/3"] = declare_schema("iostudy.report/3")
    name: str
    """Name of the study: that of its file."""
    question: str
    """Question of the study file."""
    state: State
    """``complete`` if every comparison has a verdict or has used all its blocks."""
    headline: str
    """The answer in one sentence."""
    answer: tuple[str, ...]
    """Sentences on the workloads, on all of them together, and on the end of the study."""
    next_steps: tuple[Step, ...] = Field(serialization_alias="todo")
    """The next steps, in order."""
    noun: str
    """The varied factor in one word, such as ``scheduler``; ``configuration`` if several vary."""
    factor: str
    """Name of the factor if labels have only its level, such as ``1024``; otherwise empty."""
    baseline: str
    """Label of the baseline."""
    configurations: tuple[ConfigurationReport, ...]
    """The configurations, the baseline first."""
    ranking: RankingReport | None
    """Combined ranking; null if the verdicts give the order, or with too few blocks."""
    curves: tuple[ScalingReport, ...] = ()
    """Scaling curves of the workloads with several loads."""
    workloads: tuple[WorkloadReport, ...]
    """Results by workload."""
    switchback: tuple[SwitchbackReport, ...] = ()
    """Windows by workload, if windows decide; ``trials`` are then those of the confirmation."""
    trials: tuple[TrialReport, ...]
    """All trials in run order, also those that do not count."""
    telemetry: tuple[TelemetryReport, ...]
    """Means of telemetry by workload and configuration."""
    limits: tuple[BottleneckReport, ...] = ()
    """Bottlenecks of each configuration on each workload, in the order of ``telemetry``."""
    disturbed: tuple[DisturbanceReport, ...] = ()
    """Counted trials that something outside the study limited."""
    covariates: tuple[CovariateReport, ...] = ()
    """Steal, foreign CPU and foreign I/O by workload, if known."""
    volume: VolumeReport | None = None
    """The volume of the study with its disks; null without one."""
    directories: tuple[DirectoryReport, ...] = ()
    """The directories that the study compares, with their mounts; empty for other targets."""
    noise_causes: tuple[NoiseDecompositionReport, ...] = ()
    """Variance decompositions of the workloads whose telemetry shows any cause."""
    given_up: tuple[GivenUpWorkload, ...] = ()
    """Workloads that the study gave up: all attempts at a block failed."""
    block_requests: tuple[BlockLatencyReport, ...] = ()
    """Latencies of block requests, if the study traced them; in the order of ``telemetry``."""
    device: str
    """The device under test; empty without one, ``loop1 or loop0`` if trials differ."""
    notes: tuple[str, ...]
    """Remarks on the study and its trials."""
    reference: ReferenceReport | None = None
    """Published figures on the question with the study's own; null without any."""
    method: Method
    """The decision rule."""
    reproduce: tuple[str, ...]
    """Steps that reproduce the study."""
    study_text: str
    """The study file."""
    circumstances: dict[str, JsonValue]
    """The host when the study began: kernel, devices, mounts, versions."""
    root: bool
    """Whether the study ran as root."""
    started_at: FiniteFloat
    """Unix time in seconds."""
    iostudy_version: str
    """Version of iostudy that began the study."""

    @property
    def topics(self) -> tuple[TopicValue, ...]:
        """What topics of plugins have on the study."""
        values = (getattr(self, name) for name in list_topics() if name in type(self).model_fields)
        return tuple(value for value in values if value is not None)


@cache
def report_type() -> type[Report]:
    """Return the report with a field for each topic of the plugins."""
    fields: dict[str, Any] = {
        name: (topic.value | None, Field(None, description=topic.documentation))
        for name, topic in list_topics().items()
    }
    return create_model("Report", __base__=Report, __doc__=Report.__doc__, **fields)
