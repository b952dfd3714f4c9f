"""Explanation of equivalent results by a shared bottleneck, and remedies (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from iostudy.analysis.series import Flag
from iostudy.analysis.verdict import Verdict
from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.diagnosis.evidence import MOSTLY_IDLE, Confidence
from iostudy.report.base import Step
from iostudy.report.formatting import (
    find_single_factor,
    format_count,
    join_words,
    name_configuration,
)
from iostudy.report.topics.bottlenecks import BottleneckReport, DisturbanceReport
from iostudy.report.topics.verdicts import Result
from iostudy.settings import catalog
from iostudy.study.combinations import FactorKind
from iostudy.study.model import Study
from iostudy.workloads import catalog as workload_catalog

if TYPE_CHECKING:
    from iostudy.report.values import WorkloadReport

_TRUSTED = (Confidence.HIGH, Confidence.MEDIUM)
_AT_RATE_LIMIT = "trials ran at the limit of the load, which hides larger differences"
_OF_THE_DISK = (
    Bottleneck.DEVICE,
    Bottleneck.MEMBER,
    Bottleneck.WRITEBACK,
    Bottleneck.FOREIGN,
    Bottleneck.LOG,
)


def explain_equivalence(
    results: Sequence[Result],
    limited: Mapping[str, BottleneckReport],
    factor: str = "",
    *,
    device_settings_only: bool = False,
) -> str:
    """Explain why configurations are equivalent to the baseline; empty if unknown.

    ``results`` begin with the baseline; ``limited`` are the bottlenecks by configuration;
    ``factor`` is the one that varies alone, if any. Only confident diagnoses of all these
    configurations count. With ``device_settings_only``, an undecided study also gets the reason
    why they cannot help.
    """
    same = [result for result in results if result.verdict is Verdict.EQUIVALENT]
    if device_settings_only:
        # Nothing is shown to differ, and no configuration was held up by the device.
        shown = any(own.verdict in (Verdict.BETTER, Verdict.WORSE) for own in results)
        known = [limited.get(own.configuration) for own in results]
        if not shown and all(own is not None and own.no_help for own in known):
            same = list(results[1:])
    found = [limited.get(own.configuration) for own in (results[0], *same)]
    reports = [own for own in found if own is not None and own.confidence in _TRUSTED]
    agree = len({(own.limit, own.of) for own in reports}) == 1
    if not same or len(reports) < len(found) or not agree:
        return ""
    whom = "both configurations" if len(reports) == 2 else "all configurations"
    if len(same) < len(results) - 1:
        whom = join_words([name_configuration(own.configuration, factor) for own in reports])
    first = reports[0]
    figures = ", ".join(each.says for each in first.evidence)
    said = f"{first.limit.subject(first.of)} was the bottleneck of {whom}: {figures}"
    busy = {own.busy.value or 0.0: own.busy.of for own in reports if own.busy is not None}
    most = max(busy, default=MOSTLY_IDLE)
    if first.limit in _OF_THE_DISK or most >= MOSTLY_IDLE:
        return said
    return (
        f"{said}; {busy[most]} was busy at most {most:.0f} % of the time, so no disk setting can "
        "make a difference"
    )


def explain_rate_limit(results: Sequence[Result]) -> str:
    """Explain equivalence by the limit of the load, if trials ran at it; empty otherwise."""
    limited = any(
        result.verdict is Verdict.EQUIVALENT and Flag.RATE_LIMIT in result.flags
        for result in results
    )
    return _AT_RATE_LIMIT if limited else ""


def explain(study: Study, workload: WorkloadReport, limits: Sequence[BottleneckReport]) -> str:
    """Explain why configurations are equivalent or inconclusive on a workload; empty if unknown."""
    own = {limit.configuration: limit for limit in limits if limit.workload == workload.label}
    return explain_rate_limit(workload.results) or explain_equivalence(
        workload.results,
        own,
        find_single_factor(study),
        device_settings_only=varies_device_settings_only(study),
    )


def explain_all_workloads(
    workloads: Sequence[WorkloadReport], limited: Sequence[BottleneckReport]
) -> str:
    """Return the common bottleneck of all configurations and workloads if it explains all verdicts.

    It is the end of a sentence, empty otherwise.
    """
    explanations = {workload.explanation for workload in workloads}
    if "" in explanations or _AT_RATE_LIMIT in explanations:
        return _AT_RATE_LIMIT if explanations == {_AT_RATE_LIMIT} else ""
    subjects = {own.limit.subject(own.of) for own in limited}
    return (
        f"{subjects.pop()} was the bottleneck of all configurations" if len(subjects) == 1 else ""
    )


def varies_device_settings_only(study: Study) -> bool:
    """Whether all factors are settings of a disk or of how it is mounted."""
    return all(
        factor.kind is FactorKind.SETTING and catalog.get(factor.name).reach.needs_place
        for factor in study.factors
    )


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
    """Return the remedy, with a section of a study file where an option of the workload helps."""
    baseline = workload.results[0].configuration
    limits = {(own.workload, own.configuration): own.limit for own in limited}
    request = next(each for each in study.workloads if each.label == workload.label)
    more = ""
    if options := workload_catalog.get(request.name).concurrency_options:
        levels = ", ".join(str(n * getattr(request.options, options[0])) for n in (1, 2, 4, 8))
        more = f", for example load: {{workload.{options[0]}: [{levels}]}}"
    return REMEDIES[limits[workload.label, baseline]].format(more=more)
