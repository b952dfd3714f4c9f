"""Remedies for bottlenecks outside the studied factors (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.report.formatting import format_count, join_words
from iostudy.report.topics.bottlenecks.values import BottleneckReport, DisturbanceReport
from iostudy.report.values import Step, WorkloadReport
from iostudy.study.model import Study, WorkloadRequest
from iostudy.workloads import catalog

REMEDIES = {
    Bottleneck.DEVICE: "",
    Bottleneck.CAP: "raise or remove the control group's I/O limit on the device, and repeat",
    Bottleneck.MEMBER: "check the slow member: the volume waits for it under every configuration",
    Bottleneck.WRITEBACK: "vary vm.dirty_* as factors, or bypass the page cache",
    Bottleneck.CPU: "use a workload with less computation per byte, such as larger records",
    Bottleneck.CORE: "spread the work over more threads{more}",
    Bottleneck.FIRST_TOUCH: "touch the memory before each trial (prepare: {{memory: warm}}), or "
    "bypass the page cache",
    Bottleneck.QUOTA: "raise or remove the control group's CPU quota, and repeat",
    Bottleneck.RECLAIM: "repeat with more free memory, or bypass the page cache",
    Bottleneck.NETWORK: "vary network settings instead, or use a local disk",
    Bottleneck.NFS: "vary mount options, or settings of the server",
    Bottleneck.STEAL: "use a dedicated machine, or repeat while its neighbours are idle",
    Bottleneck.HEAT: "improve the cooling, or cap the CPU frequency, and repeat",
    Bottleneck.LOCK: "use fewer threads that need the lock, or work that needs it less",
    Bottleneck.LOG: "use storage with faster syncs, fewer serial logs, or more operations for each "
    "sync",
    Bottleneck.CONCURRENCY: "increase the concurrency{more}",
    Bottleneck.FOREIGN: "make the host idle, and repeat",
    Bottleneck.UNCLEAR: "",
}
_TIMES = (1, 2, 4, 8)
"""Levels of a load, as multiples of the study's concurrency."""


def suggest_remedies(
    study: Study,
    workloads: Sequence[WorkloadReport],
    limited: Sequence[BottleneckReport],
    disturbed: Sequence[DisturbanceReport],
) -> Iterator[Step]:
    """Steps against a bottleneck that hides differences, and against disturbances."""
    on: dict[str, list[str]] = {}
    for workload in workloads:
        advice = _advice(study, workload, limited) if workload.explanation else ""
        if advice:
            on.setdefault(advice, []).append(workload.label)
    for advice, labels in on.items():
        yield Step(text=f"No difference was possible on {join_words(labels)}: {advice}.")
    if disturbed:
        number = sum(own.trials for own in disturbed)
        trials = f"{format_count(number, 'trial')} {'was' if number == 1 else 'were'}"
        what = join_words(list(dict.fromkeys(str(own.disturbance) for own in disturbed)))
        keep = "keep the host idle and cool in the next study"
        yield Step(text=f"{trials} disturbed by {what}: {keep}.")


def _advice(study: Study, workload: WorkloadReport, limited: Sequence[BottleneckReport]) -> str:
    baseline = workload.results[0].configuration
    limits = {(own.workload, own.configuration): own.limit for own in limited}
    request = next(each for each in study.workloads if each.label == workload.label)
    return REMEDIES[limits[workload.label, baseline]].format(more=_more(request))


def _more(request: WorkloadRequest) -> str:
    """A section of a study file that does so; empty where no option of the workload does."""
    options = catalog.get(request.name).concurrency_options
    if not options:
        return ""
    own = getattr(request.options, options[0])
    levels = ", ".join(str(times * own) for times in _TIMES)
    return f", for example load: {{workload.{options[0]}: [{levels}]}}"
