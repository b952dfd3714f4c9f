"""Causes of the noise of every workload, from its counted trials (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from iostudy.ledger.rows import TrialRow
from iostudy.report.base import Span
from iostudy.report.topics.noise.values import NoiseCauseReport, NoiseCausesReport
from iostudy.results.noise_causes import CauseOfNoise, NoiseCause, NoiseCauses, find_noise_causes
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


def build_noise_causes(study: Study, rows: Sequence[TrialRow]) -> tuple[NoiseCausesReport, ...]:
    """Build the causes of every workload with a noise; none for fewer than two configurations."""
    if len(study.configurations()) < 2:
        return ()
    found = (find_noise_causes(study, workload, rows) for workload in study.workloads)
    return tuple(_report(own) for own in found if own is not None and own.examined)


def _report(found: NoiseCauses) -> NoiseCausesReport:
    return NoiseCausesReport(
        workload=found.workload,
        trials=found.trials,
        causes=tuple(map(_cause, found.causes)),
        unexplained=found.unexplained,
        examined=found.examined,
    )


def _cause(found: CauseOfNoise) -> NoiseCauseReport:
    share = found.share
    return NoiseCauseReport(
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


def _evidence(found: CauseOfNoise) -> str:
    """Format the range of the indicator, its correlation with the figure, and the process."""
    low, high = map(format_significant, (found.minimum, found.maximum))
    correlation = found.share.correlation * found.indicator.sign
    parts = [found.indicator.format.format(low, high), f"correlation {correlation:.2f}"]
    if found.process:
        parts.append(f"mostly {found.process}")
    if found.period_seconds is not None:
        parts.append(f"about every {format_seconds(found.period_seconds)}")
    return ", ".join(parts)
