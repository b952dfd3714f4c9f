"""Results of workloads and configurations."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.analysis.series import Flag
from iostudy.analysis.verdict import Verdict
from iostudy.report.base import FigureDescription, Span, Value
from iostudy.report.topics.noise.values import NoiseReport


class ConfigurationReport(Value):
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
    bound: bool = False
    """It shows what is possible, and is none to choose."""
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
    futile: bool = False
    """Inconclusive, and ended early: the rest of its blocks would hardly decide it."""
    blocks_needed: int | None = None
    """Blocks that would probably settle an inconclusive comparison, in all."""
    flags: tuple[Flag, ...] = ()
    """Where its pairs do not look like what the verdict rests on."""

    def has_ended(self, max_blocks: int) -> bool:
        """Whether no further block can change it."""
        decided = self.verdict not in (None, Verdict.INCONCLUSIVE)
        return decided or self.futile or self.blocks >= max_blocks


class FigureMean(Value):
    """A figure that no verdict uses, under one configuration."""

    configuration: str
    value: FiniteFloat | None
    """Geometric mean over the blocks shared with the baseline; arithmetic if one is not above 0."""
    change: FiniteFloat | None
    """Against the baseline in those blocks; None for itself, and for an arithmetic mean."""
    interval: Span | None


class OtherFigure(Value):
    """A figure that no verdict uses, under every configuration in the study's order."""

    figure: FigureDescription
    means: tuple[FigureMean, ...]


class LatencyReport(Value):
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


class PartReport(Value):
    """A part of a workload under every configuration, in the order of ``configurations``."""

    labels: dict[str, str]
    """Which part: one of several jobs, a cell of a matrix."""
    values: tuple[FiniteFloat | None, ...]
    """Means as of MeanTold; None where a configuration has no such part."""
    changes: tuple[FiniteFloat | None, ...]
    """Against the baseline; no verdict rests on them. None for the baseline."""


class PartsReport(Value):
    """One figure of all parts of a workload; ``configurations`` begin with the baseline."""

    figure: FigureDescription
    configurations: tuple[str, ...]
    parts: tuple[PartReport, ...]


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
    because: str = ""
    """Why what is equivalent is so, or why nothing is decided that the study varies, where the
    trials tell; a sentence without its end."""
    others: tuple[OtherFigure, ...] = ()
    latencies: tuple[LatencyReport, ...] = ()
    parts: tuple[PartsReport, ...] = ()
    noise: NoiseReport | None = None
    """Of its comparisons; None with fewer than two blocks, or a single configuration."""
    flags: tuple[Flag, ...] = ()
    """Where its figures in run order do not look like what means of them rest on."""
