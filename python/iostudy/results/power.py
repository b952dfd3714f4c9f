"""Power of a study on each workload, with its sentence for reports and progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from iostudy import plugins
from iostudy.analysis.noise import PowerEstimate, estimate_power, pool_noise
from iostudy.results.comparisons import ComparisonResult, decision_rule
from iostudy.study.mode import find_mode, in_whole_trials
from iostudy.study.model import Study
from iostudy.units import format_percent, format_percent_interval, format_seconds

_LARGEST_USEFUL_EFFECT = 1.0
"""A minimum detectable effect of 100 %."""


@dataclass(frozen=True)
class PowerBasis:
    """The study that gives the verdicts, and what its power depends on.

    ``noise_ratio`` is the largest ratio of the noise of its comparisons to that of a pair of runs;
    ``explanation`` says how it differs from the study of the file, and ``has_blocks`` whether the
    file limits its blocks.
    """

    study: Study
    noise_ratio: float = 1.0
    explanation: str = ""
    has_blocks: bool = True


def find_power_basis(study: Study) -> PowerBasis:
    """Return what the power of a study depends on, as its mode says."""
    find = find_mode(study).power
    basis: PowerBasis = plugins.load(find)(study) if find else PowerBasis(study)
    return basis


def find_windows_basis(study: Study) -> PowerBasis:
    """Return the study in whole trials: the A/A study has no windows."""
    explanation = (
        "The study compares windows of one run. All figures here are those of the same study in "
        "whole trials (decide: {mode: trials})."
    )
    return PowerBasis(in_whole_trials(study), explanation=explanation, has_blocks=False)


def estimate_workload_power(
    study: Study, workload: str, current: Iterable[ComparisonResult]
) -> PowerEstimate | None:
    """Estimate the power from the workload's comparisons; None with fewer than two blocks.

    Their noise is pooled, because all have the same baseline.
    """
    comparisons = [result.comparison for result in current if result.workload == workload]
    noise = pool_noise([(comparison.sd, comparison.blocks) for comparison in comparisons])
    return None if noise is None else estimate_power(noise, decision_rule(study))


def format_power(power: PowerEstimate, seconds: Callable[[int], float] | None = None) -> str:
    """Format a sentence without its subject. ``seconds`` maps a number of blocks to a duration."""
    sd, margin = power.noise, format_percent(power.margin)
    noise = f"noise {format_percent_interval(sd.sd, sd.low, sd.high)}"
    if power.detectable_effect > _LARGEST_USEFUL_EFFECT:
        return f"{noise}: too large to detect any useful difference"
    if power.is_margin_detectable:
        enough = _blocks(power.blocks, seconds)
        return f"{noise}: {enough} will probably detect a difference of {margin}"
    detectable, most = format_percent(power.detectable_effect), _blocks(power.max_blocks, seconds)
    return (
        f"{noise}: a difference of {margin} may stay inconclusive in {most}; "
        f"the minimum detectable effect is {detectable}. "
        "Longer runs, more blocks or a quieter machine reduce it"
    )


def _blocks(count: int, seconds: Callable[[int], float] | None) -> str:
    time = f", about {format_seconds(seconds(count))}" if seconds else ""
    return f"{count} blocks{time}"
