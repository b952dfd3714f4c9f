"""What to do where something other than what is studied was the limit (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.report import wording
from iostudy.report.values.limits import DisturbedTold, LimitedTold
from iostudy.report.values.report import Step
from iostudy.report.values.results import WorkloadTold
from iostudy.study.model import Study, WorkloadRequest
from iostudy.workloads import catalog

ADVICE = {
    Bottleneck.DEVICE: "",
    Bottleneck.CAP: "raise or lift the control group's limit on the device, and ask again",
    Bottleneck.MEMBER: "see to the slow member: whatever is set, the volume waits for it",
    Bottleneck.WRITEBACK: "vary vm.dirty_* as factors, or write past the page cache",
    Bottleneck.CPU: "use a load that computes less for each byte, as with larger records",
    Bottleneck.CORE: "ask again with the work spread over more threads{more}",
    Bottleneck.QUOTA: "raise or lift the control group's CPU quota, and ask again",
    Bottleneck.RECLAIM: "ask again with more free memory, or past the page cache",
    Bottleneck.NETWORK: "vary what concerns the network instead, or ask on a local disk",
    Bottleneck.NFS: "vary mount options, or what is set on the server",
    Bottleneck.STEAL: "ask again on a machine of your own, or when its neighbours are quiet",
    Bottleneck.HEAT: "see to the cooling, or hold the CPU at a lower frequency, and ask again",
    Bottleneck.LOCK: "ask again with fewer threads that need it, or with work that needs it less",
    Bottleneck.LOG: "ask where a sync takes less time, with fewer logs one after the other, or "
    "with more operations that share each sync",
    Bottleneck.CONCURRENCY: "ask again with more under way at once{more}",
    Bottleneck.FOREIGN: "quieten the host, and ask again",
    Bottleneck.UNCLEAR: "",
}
_TIMES = (1, 2, 4, 8)
"""What is under way at once, as levels of a load: so many times what the study had."""


def steps(
    study: Study,
    workloads: Sequence[WorkloadTold],
    limited: Sequence[LimitedTold],
    disturbed: Sequence[DisturbedTold],
) -> Iterator[Step]:
    """To find a difference where none could show, and to keep others away."""
    on: dict[str, list[str]] = {}
    for told in workloads:
        advice = _advice(study, told, limited) if told.because else ""
        if advice:
            on.setdefault(advice, []).append(told.label)
    for advice, labels in on.items():
        yield Step(text=f"No difference could show on {wording.joined(labels)}: {advice}.")
    if disturbed:
        number = sum(own.trials for own in disturbed)
        trials = f"{wording.counted(number, 'trial')} {'was' if number == 1 else 'were'}"
        what = wording.joined(list(dict.fromkeys(str(own.disturbance) for own in disturbed)))
        keep = "keep the host quiet and cool in the next study"
        yield Step(text=f"{trials} hampered by {what}: {keep}.")


def _advice(study: Study, told: WorkloadTold, limited: Sequence[LimitedTold]) -> str:
    baseline = told.results[0].configuration
    limits = {(own.workload, own.configuration): own.limit for own in limited}
    request = next(each for each in study.workloads if each.label == told.label)
    return ADVICE[limits[told.label, baseline]].format(more=_more(request))


def _more(request: WorkloadRequest) -> str:
    """A section of a study file that does so; empty where no option of the workload does."""
    options = catalog.get(request.name).at_once
    if not options:
        return ""
    own = getattr(request.options, options[0])
    levels = ", ".join(str(times * own) for times in _TIMES)
    return f", as by load: {{workload.{options[0]}: [{levels}]}}"
