"""Report section on noise, its causes, and the minimum detectable effect.

``iostudy power`` uses its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from iostudy.analysis.noise import PowerEstimate
from iostudy.analysis.variance_shares import LEVEL
from iostudy.report.base import Span
from iostudy.report.finite import build_span, finite
from iostudy.report.formatting import MOST_BLOCKS, UNKNOWN, join_words
from iostudy.report.section import Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.noise.values import NoiseDecompositionReport, PowerEstimateReport
from iostudy.report.values import Report
from iostudy.results import power
from iostudy.results.change_text import LARGEST_CHANGE
from iostudy.results.comparisons import ComparisonResult
from iostudy.study.model import Study
from iostudy.units import format_percent, format_percent_interval

_KNOWN = (
    "Noise is the standard deviation of paired log-ratios. Brackets hold its 95 % interval, and "
    "the values at the ends of that interval. Effects are detected with a power of 80 %."
)
_CAUSES = (
    "Telemetry records the causes. Each has its share of the variance, without block and "
    "configuration effects, and the 95 % interval of that share. Chance alone names a cause on a "
    f"workload in about {format_percent(LEVEL)} of studies."
)
_UNEXPLAINED = "unexplained"
_REMEDY = "average it over more blocks"


def build_workload_power(
    study: Study, workload: str, current: Sequence[ComparisonResult]
) -> PowerEstimateReport | None:
    """Build the power estimate of a workload's comparisons; None below two blocks."""
    known = power.estimate_workload_power(study, workload, current)
    return None if known is None else build_power_estimate(known)


def build_power_estimate(
    known: PowerEstimate, seconds: Callable[[int], float] | None = None
) -> PowerEstimateReport:
    """Build the values of a power estimate; ``seconds`` maps blocks to their duration."""
    return PowerEstimateReport(
        sd=known.noise.sd,
        interval=Span(low=known.noise.low, high=known.noise.high),
        margin=known.margin,
        max_blocks=known.max_blocks,
        reachable=finite(known.detectable_effect),
        reachable_interval=build_span((known.detectable_effect_low, known.detectable_effect_high)),
        blocks=known.blocks,
        blocks_low=known.blocks_low,
        blocks_high=known.blocks_high,
        sentence=power.format_power(known, seconds),
    )


def build_noise_section(report: Report) -> Section | None:
    """The noise of every workload; None where no two configurations share two blocks."""
    found = [(workload.label, workload.noise) for workload in report.workloads if workload.noise]
    if not found:
        return None
    causes = report.noise_causes
    return Section(
        name="noise",
        title="Minimum detectable effect",
        notes=(_KNOWN, *([_CAUSES] if causes else [])),
        tables=(build_noise_table(found), *([_causes_table(causes)] if causes else [])),
    )


def build_noise_table(found: Sequence[tuple[str, PowerEstimateReport]]) -> TextTable:
    """A line for each workload, of one study."""
    _, first = found[0]
    heads = (
        "workload",
        "noise",
        f"detectable in {first.max_blocks} blocks",
        f"blocks to detect {format_percent(first.margin)}",
    )
    return TextTable("", heads, [(label, *format_noise(noise)) for label, noise in found], names=1)


def format_noise(noise: PowerEstimateReport) -> tuple[str, str, str]:
    """The noise, the reachable margin, and the blocks that the study's margin needs."""
    return (
        _format_known(noise.sd, noise.interval),
        _format_known(noise.reachable, noise.reachable_interval),
        _blocks_within(noise),
    )


def _format_known(value: float | None, within: Span | None) -> str:
    """Format a value that cannot be negative; a dash if it is unknown or useless."""
    if value is None or value > LARGEST_CHANGE:
        return UNKNOWN
    if within is None or within.high > LARGEST_CHANGE:
        return format_percent(value)
    return format_percent_interval(value, within.low, within.high)


def _blocks_within(noise: PowerEstimateReport) -> str:
    if noise.blocks > MOST_BLOCKS:
        return f"more than {MOST_BLOCKS}"
    low, high = noise.blocks_low, noise.blocks_high
    most = str(high) if high <= MOST_BLOCKS else f"more than {MOST_BLOCKS}"
    return f"{noise.blocks} [{low}, {most}]"


def _causes_table(found: Sequence[NoiseDecompositionReport]) -> TextTable:
    """A line for each cause of each workload, and one for the rest."""
    heads = ("workload", "cause", "share of the variance", "evidence", "remedy")
    rows = [row for own in found for row in _cause_rows(own)]
    return TextTable("Causes of the noise", heads, rows, names=2, words=2)


def _cause_rows(own: NoiseDecompositionReport) -> Iterator[tuple[str, ...]]:
    for cause in own.causes:
        share = _format_known(cause.share, cause.interval)
        yield own.workload, cause.cause, share, cause.evidence, cause.remedy
    yield own.workload, _UNEXPLAINED, format_percent(own.unexplained), _examined(own), _REMEDY


def _examined(own: NoiseDecompositionReport) -> str:
    return f"{own.trials} trials; examined: {join_words(list(own.examined))}"


def describe_causes(own: NoiseDecompositionReport) -> Iterator[str]:
    """A sentence for each named cause with its remedy, and one for the rest."""
    for cause in own.causes:
        share = _format_known(cause.share, cause.interval)
        yield (
            f"{own.workload}: {share} of the variance goes with {cause.cause} ({cause.evidence}); "
            f"{cause.remedy}."
        )
    rest = format_percent(own.unexplained)
    yield (
        f"{own.workload}: {rest} of the variance is {_UNEXPLAINED} ({_examined(own)}); {_REMEDY}."
    )
