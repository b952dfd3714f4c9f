"""Variance decomposition of every workload's noise (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from iostudy.ledger.rows import TrialRow
from iostudy.report.base import Span
from iostudy.report.topics.noise.values import NoiseContributionReport, NoiseDecompositionReport
from iostudy.results.noise_causes import (
    NoiseCause,
    NoiseContribution,
    NoiseDecomposition,
    decompose_noise,
)
from iostudy.study.model import Study
from iostudy.units import format_seconds, format_significant

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
    found = (decompose_noise(study, workload, rows) for workload in study.workloads)
    return tuple(_report(own) for own in found if own is not None and own.examined)


def _report(found: NoiseDecomposition) -> NoiseDecompositionReport:
    return NoiseDecompositionReport(
        workload=found.workload,
        trials=found.trials,
        causes=tuple(map(_contribution, found.contributions)),
        unexplained=found.unexplained,
        examined=found.examined,
    )


def _contribution(found: NoiseContribution) -> NoiseContributionReport:
    share = found.share
    return NoiseContributionReport(
        cause=found.indicator.cause,
        share=share.share,
        interval=Span(low=share.low, high=share.high),
        minimum=found.minimum,
        maximum=found.maximum,
        correlation=share.correlation * found.indicator.sign,
        p=share.p,
        process=found.process,
        period_seconds=found.period_seconds,
        evidence=_evidence(found),
        remedy=REMEDIES[found.indicator.cause],
    )


def _evidence(found: NoiseContribution) -> str:
    """Format the range of the indicator, its correlation with the figure, and the process."""
    low, high = map(format_significant, (found.minimum, found.maximum))
    correlation = found.share.correlation * found.indicator.sign
    parts = [found.indicator.format.format(low, high), f"correlation {correlation:.2f}"]
    if found.process:
        parts.append(f"mostly {found.process}")
    if found.period_seconds is not None:
        parts.append(f"about every {format_seconds(found.period_seconds)}")
    return ", ".join(parts)
