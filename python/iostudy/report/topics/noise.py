"""Noise of the workloads, its causes, and the minimum detectable effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from pydantic import Field, FiniteFloat

from iostudy.analysis.noise import PowerEstimate
from iostudy.analysis.variance_shares import LEVEL
from iostudy.ledger.rows import TrialRow
from iostudy.report.base import Interval, Known, OnWorkload, Span, Value
from iostudy.report.formatting import MOST_BLOCKS, UNKNOWN, join_words
from iostudy.report.section import Section, TextTable, make_table
from iostudy.results import power
from iostudy.results.comparisons import ComparisonResult
from iostudy.results.noise_causes import NoiseCause, NoiseContribution, decompose_noise
from iostudy.study.model import Study
from iostudy.units import (
    LARGEST_CHANGE,
    format_percent,
    format_percent_interval,
    format_seconds,
    format_significant,
)

if TYPE_CHECKING:
    from iostudy.report.values import Report


class PowerEstimateReport(Value):
    """Noise and minimum detectable effect of one workload."""

    sd: FiniteFloat
    """Standard deviation of paired log-ratios: 0.06 is about 6 %."""
    interval: Span
    """95 % confidence interval of the standard deviation."""
    margin: FiniteFloat
    """Equivalence margin of the study, as a fraction."""
    max_blocks: int
    """Largest number of blocks of a comparison."""
    reachable: Known
    """Minimum detectable effect of ``max_blocks`` blocks at power 0.8, as a fraction; null if it
    is too large to express."""
    reachable_interval: Interval
    """``reachable`` at both ends of ``interval``; null if an end is too large to express."""
    blocks: int
    """Blocks that detect a difference of the margin at power 0.8; may exceed ``max_blocks``."""
    blocks_low: int
    """``blocks`` at the lower end of ``interval``."""
    blocks_high: int
    """``blocks`` at the upper end of ``interval``."""
    sentence: str = Field(serialization_alias="told")
    """The noise in a sentence."""


class NoiseContributionReport(Value):
    """A cause of noise with its share of the variance of one workload."""

    cause: NoiseCause
    """The cause."""
    share: FiniteFloat
    """Share of the variance, 0 to 1. Causes that vary together divide their common share."""
    interval: Span
    """95 % confidence interval of the share."""
    minimum: FiniteFloat
    """Smallest value of the cause's indicator over the trials, in the unit in ``evidence``."""
    maximum: FiniteFloat
    """Largest value of the indicator over the trials, in the same unit."""
    correlation: FiniteFloat
    """Correlation of the indicator with the log figure, without block and configuration effects.
    The figure's sign is such that larger is better."""
    p: FiniteFloat
    """The p value at which the cause was selected."""
    process: str
    """The process outside the study with the largest share in the cause; empty without one."""
    period_seconds: FiniteFloat | None
    """Period of that process in seconds; null if it is not periodic."""
    evidence: str
    """Range of the indicator, its correlation and the process, in words."""
    remedy: str
    """How to reduce the cause."""


class NoiseDecompositionReport(OnWorkload):
    """Variance decomposition of one workload's noise."""

    trials: int
    """Number of counted trials with telemetry."""
    causes: tuple[NoiseContributionReport, ...]
    """Causes with their shares, the largest first."""
    unexplained: FiniteFloat
    """Share of the variance without a known cause, 0 to 1."""
    examined: tuple[NoiseCause, ...]
    """Causes whose indicators were recorded and varied."""


REMEDIES = {
    NoiseCause.STEAL: "use a host with dedicated CPUs, or repeat while its neighbours are idle",
    NoiseCause.FREQUENCY: "keep the frequency constant: the governor performance, and no turbo",
    NoiseCause.THROTTLING: "improve the cooling, or cap the CPU frequency",
    NoiseCause.TOKEN_BUCKET: "use up the burst credit before the study, or use a disk without one",
    NoiseCause.WRITEBACK: "bypass the page cache, or write much more than vm.dirty_bytes",
    NoiseCause.FIRST_TOUCH: "touch the memory before each trial: prepare: {memory: warm}",
    NoiseCause.DEVICE_STALLS: "on a flash disk discard and precondition it before the study, and "
    "leave it idle between trials; on shared storage use another volume",
    NoiseCause.FOREIGN_CPU: "stop it during the study",
    NoiseCause.FOREIGN_IO: "stop it during the study, or move it to another disk",
}


def build_noise_decompositions(
    study: Study, rows: Sequence[TrialRow]
) -> tuple[NoiseDecompositionReport, ...]:
    """Decompose the noise of every workload; empty with fewer than two configurations."""
    if len(study.configurations()) < 2:
        return ()
    decompositions = (decompose_noise(study, workload, rows) for workload in study.workloads)
    return tuple(
        NoiseDecompositionReport.copy_from(noise, causes=map(_contribution, noise.contributions))
        for noise in decompositions
        if noise is not None and noise.examined
    )


def _contribution(contribution: NoiseContribution) -> NoiseContributionReport:
    share = contribution.share
    low, high = map(format_significant, (contribution.minimum, contribution.maximum))
    correlation = share.correlation * contribution.indicator.sign
    evidence = [contribution.indicator.format.format(low, high), f"correlation {correlation:.2f}"]
    if contribution.process:
        evidence.append(f"mostly {contribution.process}")
    if contribution.period_seconds is not None:
        evidence.append(f"about every {format_seconds(contribution.period_seconds)}")
    return NoiseContributionReport.copy_from(
        contribution,
        cause=contribution.indicator.cause,
        share=share.share,
        interval=share,
        correlation=correlation,
        p=share.p,
        evidence=", ".join(evidence),
        remedy=REMEDIES[contribution.indicator.cause],
    )


_KNOWN = (
    "Noise is the standard deviation of paired log-ratios. Brackets hold its 95 % interval, and "
    "the values at the ends of that interval. Effects are detected with a power of 80 %."
)
_CAUSES = (
    "Telemetry records the causes. Each has its share of the variance, without block and "
    "configuration effects, and the 95 % interval of that share. Chance alone names a cause on a "
    f"workload in about {format_percent(LEVEL)} of studies."
)


def build_workload_power(
    study: Study, workload: str, current: Sequence[ComparisonResult]
) -> PowerEstimateReport | None:
    """Build the power estimate of a workload's comparisons; None below two blocks."""
    estimate = power.estimate_workload_power(study, workload, current)
    return None if estimate is None else build_power_estimate(estimate)


def build_power_estimate(
    estimate: PowerEstimate, seconds: Callable[[int], float] | None = None
) -> PowerEstimateReport:
    """Build the values of a power estimate; ``seconds`` maps blocks to their duration."""
    return PowerEstimateReport.copy_from(
        estimate,
        sd=estimate.noise.sd,
        interval=estimate.noise,
        reachable=estimate.detectable_effect,
        reachable_interval=(estimate.detectable_effect_low, estimate.detectable_effect_high),
        sentence=power.format_power(estimate, seconds),
    )


def build_noise_section(report: Report) -> Section | None:
    """The noise of every workload; None where no two configurations share two blocks."""
    noises = [(workload.label, workload.noise) for workload in report.workloads if workload.noise]
    if not noises:
        return None
    heads = ("workload", "cause", "share of the variance", "evidence", "remedy")
    explained = report.noise_causes
    causes = [(noise.workload, *row) for noise in explained for row in _list_causes(noise)]
    tables = [make_table({"workload": label, **format_noise(noise)} for label, noise in noises)]
    if causes:
        tables.append(TextTable("Causes of the noise", heads, causes, names=2, words=2))
    return Section(
        "noise",
        "Minimum detectable effect",
        (_KNOWN, _CAUSES) if causes else (_KNOWN,),
        tables=tables,
    )


def format_noise(noise: PowerEstimateReport) -> dict[str, str]:
    """The noise, the reachable margin, and the blocks that the study's margin needs, with heads."""
    blocks = f"more than {MOST_BLOCKS}"
    if noise.blocks <= MOST_BLOCKS:
        most = noise.blocks_high if noise.blocks_high <= MOST_BLOCKS else blocks
        blocks = f"{noise.blocks} [{noise.blocks_low}, {most}]"
    return {
        "noise": _format_known(noise.sd, noise.interval),
        f"detectable in {noise.max_blocks} blocks": _format_known(
            noise.reachable, noise.reachable_interval
        ),
        f"blocks to detect {format_percent(noise.margin)}": blocks,
    }


def _list_causes(noise: NoiseDecompositionReport) -> Iterator[tuple[str, str, str, str]]:
    """Yield cause, share of the variance, evidence and remedy of each cause, and of the rest."""
    for cause in noise.causes:
        yield cause.cause, _format_known(cause.share, cause.interval), cause.evidence, cause.remedy
    examined = f"{noise.trials} trials; examined: {join_words(list(noise.examined))}"
    yield "unexplained", format_percent(noise.unexplained), examined, "average it over more blocks"


def _format_known(value: float | None, within: Span | None) -> str:
    """Format a value that cannot be negative; a dash if it is unknown or useless."""
    if value is None or value > LARGEST_CHANGE:
        return UNKNOWN
    if within is None or within.high > LARGEST_CHANGE:
        return format_percent(value)
    return format_percent_interval(value, within.low, within.high)


def describe_causes(noise: NoiseDecompositionReport) -> Iterator[str]:
    """A sentence for each named cause with its remedy, and one for the rest."""
    for cause, share, evidence, remedy in _list_causes(noise):
        verb = "is" if cause == "unexplained" else "goes with"
        yield f"{noise.workload}: {share} of the variance {verb} {cause} ({evidence}); {remedy}."
