"""What the noise of a workload lets a study decide, in words; the same wherever it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from iostudy.analysis.noise import Noise, Outlook, outlook, pooled_noise
from iostudy.results.comparisons import ComparisonResult, rule_of
from iostudy.study.model import Study
from iostudy.units import format_percent, format_seconds

_HARDLY_ANYTHING = 1.0
"""A reachable margin of 100 %."""


def estimate_power(
    study: Study, workload: str, current: Iterable[ComparisonResult]
) -> Outlook | None:
    """What the comparisons of the workload tell so far; None where they are fewer than two blocks.

    The noise is pooled over them, as all have the same baseline.
    """
    own = [standing.comparison for standing in current if standing.workload == workload]
    noise = pooled_noise([(comparison.sd, comparison.blocks) for comparison in own])
    return None if noise is None else outlook(noise, rule_of(study))


def format_power(known: Outlook, seconds: Callable[[int], float] | None = None) -> str:
    """A sentence without its subject. ``seconds`` gives how long so many blocks take."""
    noise, margin = format_noise(known.noise), format_percent(known.margin)
    if known.reachable > _HARDLY_ANYTHING:
        return f"{noise}: paired runs differ so much that hardly anything can be decided"
    if known.is_reachable:
        enough = _blocks(known.blocks, seconds)
        return f"{noise}: a difference of {margin} can probably be told in {enough}"
    reachable, most = format_percent(known.reachable), _blocks(known.max_blocks, seconds)
    return (
        f"{noise}: a difference of {margin} will probably stay inconclusive in {most}; one of "
        f"{reachable} can be told. Longer runs, more blocks or a quieter machine tell finer ones"
    )


def format_noise(noise: Noise) -> str:
    """The standard deviation of paired differences with its interval: ``noise 6 % [4.1, 11]``."""
    low, high = (format_percent(end).removesuffix(" %") for end in (noise.low, noise.high))
    return f"noise {format_percent(noise.sd)} [{low}, {high}]"


def _blocks(count: int, seconds: Callable[[int], float] | None) -> str:
    time = f", about {format_seconds(seconds(count))}" if seconds else ""
    return f"{count} blocks{time}"
