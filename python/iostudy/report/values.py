"""The values of a report: everything that is told, and nothing about how it looks.

They are the source of ``schema.json`` too, so that ``report.json`` is exactly a dump of them.
Changes and intervals are fractions of the figure itself (-0.12: the figure is 12 % lower); a number
that is not known is None, never NaN.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, JsonValue

from iostudy.analysis.verdict import Verdict
from iostudy.ledger.rows import TrialStatus


class Value(BaseModel):
    """What all values of a report share: they cannot change, and know no unnamed fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, serialize_by_alias=True
    )


class Span(Value):
    """An interval, both ends as fractions."""

    low: FiniteFloat
    high: FiniteFloat


class FigureTold(Value):
    """A figure of a workload."""

    name: str
    unit: str
    documentation: str
    higher_is_better: bool


class ConfigurationTold(Value):
    """One level per factor: what it is called, and what it sets."""

    label: str
    baseline: bool
    settings: dict[str, str]
    options: dict[str, str]
    read_back: dict[str, tuple[str, ...]]
    """What held in its trials, by name and place of each setting: one value, unless it varied."""


class Result(Value):
    """One configuration on one workload, against the baseline unless it is the baseline."""

    configuration: str
    baseline: bool
    blocks: int
    """Blocks that count: shared with the baseline, or all of them for the baseline itself."""
    value: FiniteFloat | None
    """Geometric mean over those blocks, in the figure's unit."""
    change: FiniteFloat | None = None
    interval: Span | None = None
    robust_change: FiniteFloat | None = None
    """Hodges-Lehmann estimate, which an outlier hardly moves."""
    robust_interval: Span | None = None
    verdict: Verdict | None = None
    by_margin: bool = False
    """Better, or worse, by at least the margin."""
    fragile: bool = False
    """The robust interval gives another verdict."""
    blocks_needed: int | None = None
    """Blocks that would probably settle an inconclusive comparison, in all."""


class MeanTold(Value):
    """A figure that no verdict uses, under one configuration."""

    configuration: str
    value: FiniteFloat | None
    """Geometric mean over the blocks shared with the baseline; arithmetic if one is not above 0."""
    change: FiniteFloat | None
    """Against the baseline in those blocks; None for itself, and for an arithmetic mean."""
    interval: Span | None


class OtherFigure(Value):
    """A figure that no verdict uses, under every configuration in the study's order."""

    figure: FigureTold
    means: tuple[MeanTold, ...]


class LatencyTold(Value):
    """Latencies of one operation under one configuration, pooled over the trials that count."""

    operation: str
    configuration: str
    trials: int
    count: int
    """How many latencies were measured, in all these trials."""
    percentiles_us: dict[str, FiniteFloat]
    """``p50`` to ``max``, in microseconds: upper bounds of their buckets, which are 4.4 % wide."""
    upper_us: tuple[FiniteFloat, ...]
    """Upper bounds of the buckets that are not empty, ascending, in microseconds."""
    counts: tuple[int, ...]
    """Latencies in each of these buckets."""


class PartTold(Value):
    """A part of a workload under every configuration, in the order of ``configurations``."""

    labels: dict[str, str]
    """Which part: one of several jobs, a cell of a matrix."""
    values: tuple[FiniteFloat | None, ...]
    """Means as of MeanTold; None where a configuration has no such part."""
    changes: tuple[FiniteFloat | None, ...]
    """Against the baseline; no verdict rests on them. None for the baseline."""


class PartsTold(Value):
    """One figure of all parts of a workload; ``configurations`` begin with the baseline."""

    figure: FigureTold
    configurations: tuple[str, ...]
    parts: tuple[PartTold, ...]


class WorkloadTold(Value):
    """One workload: what was run, its results in the study's order, and the answer in words."""

    label: str
    name: str
    models: str
    leaves_out: str
    options: dict[str, str]
    figure: FigureTold
    """The one that verdicts use."""
    results: tuple[Result, ...]
    answer: str
    others: tuple[OtherFigure, ...] = ()
    latencies: tuple[LatencyTold, ...] = ()
    parts: tuple[PartsTold, ...] = ()


class TrialTold(Value):
    """One trial, in run order; raw figures as the ledger keeps them."""

    number: int
    """Place in run order, from 1."""
    block: int
    attempt: int
    position: int
    workload: str
    configuration: str
    status: TrialStatus
    reason: str
    counts: bool
    """Its whole block was finished and valid, so that verdicts use it."""
    outlier: bool
    """Far from the other counted trials of its configuration; flagged, and still counted."""
    started_at: FiniteFloat
    """Unix time in seconds."""
    value: FiniteFloat | None
    """The figure that verdicts use."""
    figures: dict[str, FiniteFloat | None]
    settings: dict[str, str]
    device: str
    """The one of ``devices`` that was under test; empty if there was none."""
    devices: dict[str, dict[str, FiniteFloat | None]]
    machine: dict[str, FiniteFloat | None]
    phases: dict[str, FiniteFloat | None]
    notes: tuple[str, ...]
    telemetry: str


class TelemetryTold(Value):
    """Means of telemetry over the counted trials of one configuration on one workload."""

    workload: str
    configuration: str
    trials: int
    devices: dict[str, dict[str, FiniteFloat | None]]
    """By name; the one under test by the report's ``device``, whatever each trial called it."""
    machine: dict[str, FiniteFloat | None]


class RanksTold(Value):
    """The ranks that a configuration may have, counted from 1."""

    configuration: str
    best_rank: int
    worst_rank: int


class RankedTold(RanksTold):
    """One configuration on all workloads together; positive fractions are better.

    They are of performance: of a figure of which more is better, or of the inverse of one of which
    less is better.
    """

    baseline: bool
    from_mean: FiniteFloat
    """Against the geometric mean of all configurations."""
    from_mean_interval: Span | None
    change: FiniteFloat | None
    """Against the baseline; None for itself."""
    interval: Span | None
    worst_workload: str
    """Where it is the least against the geometric mean of all."""
    worst_from_mean: FiniteFloat
    """How much that is."""


class PairTold(Value):
    """How much better ``configuration`` is than ``other`` on all workloads together."""

    configuration: str
    other: str
    change: FiniteFloat
    interval: Span | None
    verdict: Verdict


class CrossingTold(Value):
    """A pair whose order depends on the workload."""

    configuration: str
    other: str
    better_on: tuple[str, ...]
    worse_on: tuple[str, ...]


class WorkloadRanksTold(Value):
    """The ranks on one workload, and its share in those on all together."""

    workload: str
    weight: FiniteFloat
    ranks: tuple[RanksTold, ...]


class RankingTold(Value):
    """Which configuration may be the best on all workloads together, and the ranks of each."""

    answer: str
    best: tuple[str, ...]
    """Those that no other is shown to be better than."""
    single_order: bool
    """False where on some workload another is better than one of the best."""
    ranked: tuple[RankedTold, ...]
    """The best first."""
    pairs: tuple[PairTold, ...]
    crossings: tuple[CrossingTold, ...]
    workloads: tuple[WorkloadRanksTold, ...]


class OwnTold(Value):
    """The user's own figure beside a published one."""

    configuration: str
    """The published one, or what it is called today."""
    unit: str
    value: FiniteFloat
    """Geometric mean over ``blocks``."""
    blocks: int
    """Those that the published baseline's namesake has run too."""
    change: FiniteFloat | None
    """Against that namesake; None for itself."""
    interval: Span | None


class PublishedTold(Value):
    """One published figure of one configuration."""

    configuration: str
    baseline: bool
    workload: str
    figure: str
    unit: str
    """As it was published."""
    value: FiniteFloat
    runs: int
    """How many runs the value is of."""
    change: FiniteFloat | None
    """Against the published baseline; None for the baseline itself."""
    own: OwnTold | None
    """None where the study has no such configuration, workload or figure, or no block of it yet."""


class OrderTold(Value):
    """A published ranking over several workloads, the best first."""

    where: str
    order: tuple[str, ...]


class ReferenceTold(Value):
    """What others have published of the question; no verdict rests on it."""

    name: str
    title: str
    kind: str
    year: int
    source: str
    circumstances: tuple[str, ...]
    caveats: tuple[str, ...]
    open_questions: tuple[str, ...]
    baseline: str
    orders: tuple[OrderTold, ...]
    """Those of which the study compares at least two configurations."""
    figures: tuple[PublishedTold, ...]

    @property
    def compared(self) -> tuple[PublishedTold, ...]:
        """The figures of the workloads that the study has figures of too."""
        own = {figure.workload for figure in self.figures if figure.own is not None}
        return tuple(figure for figure in self.figures if figure.workload in own)


class Method(Value):
    """The decision rule as it was fixed before the first trial, and in words."""

    margin: FiniteFloat
    risk: FiniteFloat
    min_blocks: int
    max_blocks: int
    comparisons: int
    seed: int
    text: str


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
    answer: tuple[str, ...]
    noun: str
    """What varies, in one word: scheduler, or configuration where several factors do."""
    baseline: str
    configurations: tuple[ConfigurationTold, ...]
    ranking: RankingTold | None
    """None where verdicts tell the order, or too few blocks are there for one."""
    workloads: tuple[WorkloadTold, ...]
    trials: tuple[TrialTold, ...]
    telemetry: tuple[TelemetryTold, ...]
    device: str
    """The device under test, empty if there is none; ``loop1, then loop0`` where it was renamed."""
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
