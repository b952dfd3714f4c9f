"""Next steps from the verdicts and bottlenecks, and explanations of equivalent results (pure)."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iostudy.analysis.comparison import Comparison
from iostudy.analysis.series import Flag
from iostudy.analysis.verdict import Verdict
from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.diagnosis.evidence import MOSTLY_IDLE, Confidence
from iostudy.ledger.rows import StudyRow
from iostudy.ledger.studies import NODES
from iostudy.report.base import Step, finite
from iostudy.report.formatting import (
    SELF_NAMED,
    find_single_factor,
    format_blocks_needed,
    format_count,
    is_feasible_extension,
    join_words,
    name_configuration,
)
from iostudy.report.topics.bottlenecks import BottleneckReport, DisturbanceReport
from iostudy.report.topics.verdicts import Result
from iostudy.results.comparisons import (
    ComparisonResult,
    decision_rule,
    describe_failed_side,
    exclude_bounds,
    exclude_guards,
)
from iostudy.results.continuation import ContinuationEstimate
from iostudy.results.recommendation import is_met_guard, is_undecided, recommend
from iostudy.settings import catalog
from iostudy.settings.definition import Cost
from iostudy.settings.definitions.filesystem import FILESYSTEM_TYPE
from iostudy.settings.scratch.filesystem import PREFIX, Filesystem
from iostudy.settings.values import AS_FOUND
from iostudy.study import library
from iostudy.study.combinations import Configuration, FactorKind
from iostudy.study.factors import OPTION_PREFIX
from iostudy.study.mode import find_mode
from iostudy.study.model import Study
from iostudy.units import format_exact_seconds, format_percent, format_seconds
from iostudy.workloads import catalog as workload_catalog

if TYPE_CHECKING:
    from iostudy.report.values import WorkloadReport

_MEASURE = Step(
    text="Measure the levels that your kernel has on your own storage, with `iostudy run`: a "
    "prediction is no reason to change a host."
)


def suggest_next_steps(
    study: Study,
    row: StudyRow,
    compared: Sequence[ComparisonResult],
    folder: str,
    continuation: ContinuationEstimate | None,
) -> tuple[Step, ...]:
    """One step after the other; ``folder`` is the output folder of the study.

    ``continuation`` are the blocks that would probably decide the rest, if the study can be
    continued so far.
    """
    if not compared:
        alone = "a single configuration has nothing to compare with."
        return (_step(f"Add a second level of a factor to the study file: {alone}"),)
    if failed := describe_failed_side(compared):
        return (_step(f"See why {failed}: run it by hand, or read its trials in the report."),)
    of_nodes = NODES in row.circumstances
    if any(is_undecided(study, result) for result in exclude_bounds(compared)):
        text = "Resume to run the planned blocks that are left"
        if not of_nodes:
            return (suggest_resume(text, study, folder),)
        file = library.command_argument(study.name, row.text)
        command = ["iostudy", "fleet", "run", file, "--design", "together", "--resume", "--out"]
        return (_step(f"{text}, with the options that name the nodes:", *command, folder),)
    label = recommend(study, compared)
    if study.target.predicts:
        return (_MEASURE,)
    if label is not None and find_mode(study).compares_levels:
        best = "it measures the predicted best."
        return (_step(f"Run the confirmation printed with the effects: {best}"),)
    if label is not None:
        winner = next(c for c in study.configurations() if c.label == label)
        if not of_nodes:
            return tuple(_keep(study, winner, folder))
        # `persist` knows the places of one host only.
        varied = ((name, value) for name, value in winner.settings.items() if value != AS_FOUND)
        on_nodes = "on every node, with your own tools."
        return (
            *(_step(f"Set {name} to {value} {on_nodes}") for name, value in varied),
            *(_set_option(name, value) for name, value in winner.options.items()),
        )
    others = exclude_bounds(compared)
    choice = _without_winner(study, exclude_guards(others), folder, of_nodes=of_nodes)
    open_ = [
        result.comparison
        for result in others
        if not (result.comparison.verdict.is_final or is_met_guard(study, result))
    ]
    if not open_:
        return (choice,)
    if continuation is None:
        return (choice, _more(study, open_, folder))
    blocks, time = continuation.blocks, format_seconds(continuation.seconds)
    text = (
        f"Continue the study: {format_count(blocks, 'further block')} will probably decide the "
        f"rest, in about {time}. Its risk stays {format_percent(study.decide.risk)}, wherever you "
        "stop"
    )
    return (suggest_resume(text, study, folder, "--more", f"{blocks}blocks"), choice)


def _step(text: str, *words: str) -> Step:
    return Step(text=text, command=shlex.join(words))


def _set_option(name: str, value: str) -> Step:
    return _step(f"Set {name} to {value} in your own programs: it is not a host setting.")


def suggest_resume(text: str, study: Study, folder: str, *more: str) -> Step:
    """Return the step that resumes the study of an output folder."""
    return _step(f"{text}:", "iostudy", study.target.command, folder, "--resume", *more)


def _keep(study: Study, winner: Configuration, folder: str) -> Iterator[Step]:
    """Return the step that keeps the winner's host settings, and lists the rest."""
    varied = {name: value for name, value in winner.settings.items() if value != AS_FOUND}
    made = [name for name in varied if catalog.get(name).cost is Cost.FORMAT]
    kept = [name for name in varied if name not in made]
    if any(name.startswith(PREFIX) for name in made) and study.target.made_levels:
        filesystem = Filesystem(study.target.made_levels[FILESYSTEM_TYPE.name])
        make = filesystem.with_settings(varied).command()
        device = str(study.target.named_paths(Path()).device or "DEVICE")
        anew = f"Make the file system anew, which destroys all data on {device}; no file keeps its"
        yield _step(f"{anew} options:", *make, device)
    for name in made:
        if not name.startswith(PREFIX):
            yield _step(f"Make it anew with {name} = {varied[name]}: no file keeps it.")
    command = ["iostudy", "persist", folder]
    if any(catalog.get(name).reach.needs_place for name in kept) and study.target.is_made:
        install = shlex.join([*command, "--on", "DISK", "--install"])
        loop = "The study ran on a loop device. Keep the winner on another disk or mount point"
        yield _step(f"{loop}, as root: {install}")
    elif kept:
        yield _step("Show what would be persisted, and where:", *command)
        yield _step("Persist it, as root:", *command, "--install")
    for name, value in winner.options.items():
        if study.baseline.options.get(name) == value:
            continue
        named = f"{OPTION_PREFIX}{name}" in SELF_NAMED
        yield _step(f"Use {winner.label}.") if named else _set_option(name, value)


def _without_winner(
    study: Study, compared: Sequence[ComparisonResult], folder: str, *, of_nodes: bool
) -> Step:
    verdicts = {result.comparison.verdict for result in compared}
    choose = "Choose by the most important workload, and"
    if find_mode(study).compares_levels:
        return _step("Keep the first levels: no other level was shown to meet the goal.")
    if Verdict.BETTER in verdicts and of_nodes:
        return _step(f"{choose} set a configuration that is better there on every node.")
    if Verdict.BETTER in verdicts:
        text = f"{choose} persist a configuration that is better there:"
        return _step(text, "iostudy", "persist", folder, "--configuration", "LABEL")
    baseline = name_configuration(study.baseline.label, find_single_factor(study))
    return _step(f"Keep {baseline}: nothing was shown to be better.")


def _more(study: Study, open_: Sequence[Comparison], folder: str) -> Step:
    """More blocks where these are few enough, else longer runs or a wider margin."""
    decide, decision = study.decide, decision_rule(study)
    known = [result.blocks_needed for result in open_ if result.blocks_needed is not None]
    most = max(known, default=0)
    can_continue = max(result.blocks for result in open_) < decision.longest > decide.max_blocks
    if len(known) < len(open_) and can_continue:
        text = "Continue the study. How many blocks decide is not known, because runs failed"
        return suggest_resume(text, study, folder, "--more", f"{decide.max_blocks}blocks")
    if known and not can_continue and is_feasible_extension(most, decide.max_blocks):
        rule = f"decide: {{blocks: [{decide.min_blocks}, {most}]}}"
        if find_mode(study).measures_windows:
            # Windows have a time, trials a number.
            seconds = math.ceil(decide.time * most / decide.max_blocks)
            rule = f"decide: {{time: {format_exact_seconds(seconds)}}}"
        return _step(
            f"To decide the rest, run a new study with {rule} (this one has spent its risk)."
        )
    why = f" ({format_blocks_needed(most, more='more than ')} blocks would be needed)"
    text = f"More blocks alone are unlikely to decide the rest{why if known else ''}"
    return _step(f"{text}: run a new study with longer runs or a wider margin.")


_TRUSTED = (Confidence.HIGH, Confidence.MEDIUM)
_AT_RATE_LIMIT = "trials ran at the limit of the load, which hides larger differences"
_OF_THE_DISK = (
    Bottleneck.DEVICE,
    Bottleneck.MEMBER,
    Bottleneck.WRITEBACK,
    Bottleneck.FOREIGN,
    Bottleneck.LOG,
)


def explain(
    study: Study, workload: str, results: Sequence[Result], limits: Sequence[BottleneckReport]
) -> str:
    """Explain why configurations are equivalent or inconclusive on a workload; empty if unknown.

    ``results`` begin with the baseline. Only confident diagnoses of all these configurations count.
    """
    same = [result for result in results if result.verdict is Verdict.EQUIVALENT]
    if any(Flag.RATE_LIMIT in result.flags for result in same):
        return _AT_RATE_LIMIT
    limited = {limit.configuration: limit for limit in limits if limit.workload == workload}
    # Settings of a disk or of how it is mounted cannot help where no configuration was held up by
    # the device. That also explains a study without a verdict.
    if all(
        factor.kind is FactorKind.SETTING and catalog.get(factor.name).reach.needs_place
        for factor in study.factors
    ):
        of_results = [limited.get(result.configuration) for result in results]
        cannot_help = all(limit is not None and limit.no_help for limit in of_results)
        if cannot_help and not _is_different(results):
            same = list(results[1:])
    of_equal = [limited.get(result.configuration) for result in (results[0], *same)]
    reports = [limit for limit in of_equal if limit is not None and limit.confidence in _TRUSTED]
    agree = len({(report.limit, report.of) for report in reports}) == 1
    if not same or len(reports) < len(of_equal) or not agree:
        return ""
    whom = "both configurations" if len(reports) == 2 else "all configurations"
    if len(same) < len(results) - 1:
        factor = find_single_factor(study)
        whom = join_words([name_configuration(report.configuration, factor) for report in reports])
    first = reports[0]
    figures = ", ".join(evidence.says for evidence in first.evidence)
    text = f"{first.limit.subject(first.of)} was the bottleneck of {whom}: {figures}"
    busy = {finite(report.busy.value) or 0.0: report.busy.of for report in reports if report.busy}
    most = max(busy, default=MOSTLY_IDLE)
    if _is_different(results) or first.limit in _OF_THE_DISK or most >= MOSTLY_IDLE:
        return text
    return (
        f"{text}; {busy[most]} was busy at most {most:.0f} % of the time, so no disk setting can "
        "make a difference"
    )


def _is_different(results: Sequence[Result]) -> bool:
    """Whether a difference from the baseline is shown."""
    return any(result.verdict in (Verdict.BETTER, Verdict.WORSE) for result in results)


def explain_all_workloads(
    workloads: Sequence[WorkloadReport], limited: Sequence[BottleneckReport]
) -> str:
    """Return the common bottleneck of all configurations and workloads if it explains all verdicts.

    It is the end of a sentence, empty otherwise.
    """
    explanations = {workload.explanation for workload in workloads}
    if "" in explanations or _AT_RATE_LIMIT in explanations:
        return _AT_RATE_LIMIT if explanations == {_AT_RATE_LIMIT} else ""
    subject, *others = {limit.limit.subject(limit.of) for limit in limited} or {""}
    return "" if others or not subject else f"{subject} was the bottleneck of all configurations"


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
        is_explained = workload.explanation and not _is_different(workload.results)
        if is_explained and (advice := _advice(study, workload, limited)):
            on.setdefault(advice, []).append(workload.label)
    for advice, labels in on.items():
        yield _step(f"No difference was possible on {join_words(labels)}: {advice}.")
    if disturbed:
        number = sum(disturbance.trials for disturbance in disturbed)
        trials = f"{format_count(number, 'trial')} {'was' if number == 1 else 'were'}"
        what = join_words(list(dict.fromkeys(str(report.disturbance) for report in disturbed)))
        keep = "keep the host idle and cool in the next study"
        yield _step(f"{trials} disturbed by {what}: {keep}.")


def _advice(study: Study, workload: WorkloadReport, limited: Sequence[BottleneckReport]) -> str:
    """Return the remedy, with a section of a study file where an option of the workload helps."""
    baseline = workload.results[0].configuration
    limits = {(limit.workload, limit.configuration): limit.limit for limit in limited}
    request = next(request for request in study.workloads if request.label == workload.label)
    more = ""
    if options := workload_catalog.get(request.name).concurrency_options:
        levels = ", ".join(str(n * getattr(request.options, options[0])) for n in (1, 2, 4, 8))
        more = f", for example load: {{workload.{options[0]}: [{levels}]}}"
    return REMEDIES[limits[workload.label, baseline]].format(more=more)
