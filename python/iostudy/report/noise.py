"""The noise of workloads as it is told, in reports and by ``iostudy power``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from iostudy.analysis.noise import Outlook
from iostudy.report import wording
from iostudy.report.columns import TextTable
from iostudy.report.finite import finite, span
from iostudy.report.section import Section
from iostudy.report.values.base import Span
from iostudy.report.values.noise import NoiseTold
from iostudy.report.values.report import Report
from iostudy.results import power
from iostudy.results.comparisons import ComparisonResult
from iostudy.study.model import Study
from iostudy.units import format_percent

_KNOWN = (
    "Noise is the standard deviation of paired differences. Brackets are its 95 % interval, and "
    "what the ends of that lead to. What is found is found with a probability of 80 %."
)


def of_workload(
    study: Study, workload: str, current: Sequence[ComparisonResult]
) -> NoiseTold | None:
    """What the comparisons of a workload tell of it; None where they are fewer than two blocks."""
    known = power.estimate_power(study, workload, current)
    return None if known is None else noise_told(known)


def noise_told(known: Outlook, seconds: Callable[[int], float] | None = None) -> NoiseTold:
    """The values of an outlook; ``seconds`` gives how long so many blocks take."""
    return NoiseTold(
        sd=known.noise.sd,
        interval=Span(low=known.noise.low, high=known.noise.high),
        margin=known.margin,
        max_blocks=known.max_blocks,
        reachable=finite(known.reachable),
        reachable_interval=span((known.reachable_low, known.reachable_high)),
        blocks=known.blocks,
        blocks_low=known.blocks_low,
        blocks_high=known.blocks_high,
        told=power.format_power(known, seconds),
    )


def section(report: Report) -> Section | None:
    """The noise of every workload; None where no two configurations share two blocks."""
    found = [(workload.label, workload.noise) for workload in report.workloads if workload.noise]
    if not found:
        return None
    return Section(
        name="noise",
        title="What this noise lets a study decide",
        known=(_KNOWN,),
        tables=(noise_table(found),),
    )


def noise_table(found: Sequence[tuple[str, NoiseTold]]) -> TextTable:
    """A line for each workload, of one study."""
    _, first = found[0]
    heads = (
        "workload",
        "noise",
        f"found in {first.max_blocks} blocks",
        f"blocks to find {format_percent(first.margin)}",
    )
    return TextTable("", heads, [(label, *cells(noise)) for label, noise in found], names=1)


def cells(noise: NoiseTold) -> tuple[str, str, str]:
    """The noise, the reachable margin, and the blocks that the study's margin needs."""
    return (
        percent_within(noise.sd, noise.interval),
        percent_within(noise.reachable, noise.reachable_interval),
        _blocks_within(noise),
    )


def percent_within(value: float | None, within: Span | None) -> str:
    """Without signs, for what cannot be negative: ``6 % [4.1, 11]``."""
    if value is None or value > wording.BEYOND_TELLING:
        return wording.UNKNOWN
    if within is None or within.high > wording.BEYOND_TELLING:
        return format_percent(value)
    low, high = (format_percent(end).removesuffix(" %") for end in (within.low, within.high))
    return f"{format_percent(value)} [{low}, {high}]"


def _blocks_within(noise: NoiseTold) -> str:
    if noise.blocks > wording.MOST_BLOCKS:
        return f"more than {wording.MOST_BLOCKS}"
    low, high = noise.blocks_low, noise.blocks_high
    most = str(high) if high <= wording.MOST_BLOCKS else f"more than {wording.MOST_BLOCKS}"
    return f"{noise.blocks} [{low}, {most}]"
