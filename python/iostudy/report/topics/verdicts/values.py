"""Results of workloads and configurations."""

from __future__ import annotations

from pydantic import Field, FiniteFloat

from iostudy.analysis.series import Flag
from iostudy.analysis.verdict import Verdict
from iostudy.report.base import FigureDescription, Span, Value
from iostudy.report.topics.measurements.values import LatencyReport, OtherFigure, PartsReport
from iostudy.report.topics.noise.values import NoiseReport


class ConfigurationReport(Value):
    """One level per factor: what it is called, and what it sets."""

    label: str
    baseline: bool
    settings: dict[str, str]
    options: dict[str, str]
    read_back: dict[str, tuple[str, ...]]
    """Values in its trials by name and place of each setting; several if they varied."""


class Result(Value):
    """One configuration on one workload, against the baseline unless it is the baseline."""

    configuration: str
    baseline: bool
    bound: bool = False
    """A bound that shows what is possible; it cannot be chosen."""
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
    flags: tuple[Flag, ...] = ()
    """Flags of its pairs that violate assumptions of the verdict."""


class WorkloadReport(Value):
    """One workload: what was run, its results in the study's order, and the answer in words."""

    label: str
    name: str
    models: str
    leaves_out: str
    options: dict[str, str]
    figure: FigureDescription
    """The one that verdicts use."""
    results: tuple[Result, ...]
    answer: str
    explanation: str = Field(default="", serialization_alias="because")
    """Why configurations are equivalent, or why no factor could be decided.

    Part of a sentence; empty if the trials do not show it.
    """
    others: tuple[OtherFigure, ...] = ()
    latencies: tuple[LatencyReport, ...] = ()
    parts: tuple[PartsReport, ...] = ()
    noise: NoiseReport | None = None
    """Noise of its comparisons; None with fewer than two blocks or a single configuration."""
    flags: tuple[Flag, ...] = ()
    """Flags of its figures in run order that violate assumptions of their means."""
