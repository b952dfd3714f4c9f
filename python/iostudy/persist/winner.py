"""Choice of the configuration to keep, and of its settings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from iostudy.analysis.comparison import Comparison
from iostudy.analysis.paired import as_fraction
from iostudy.analysis.ranking import Ranking
from iostudy.analysis.switchback.confirmation import Agreement, ConfirmationOutcome, PairedMean
from iostudy.analysis.verdict import Verdict
from iostudy.errors import UsageError
from iostudy.ledger.rows import StudyRow, TrialRow, measured_rows
from iostudy.ledger.studies import NODES, find_verdict_folder, open_ledger, read_study
from iostudy.ledger.windows import WindowRecord
from iostudy.persist import places
from iostudy.persist.request import PersistRequest
from iostudy.results import recommendation as rule
from iostudy.results.comparisons import (
    ComparisonResult,
    collect_figures,
    compare_configurations,
    exclude_bounds,
    exclude_guards,
    rank_configurations,
)
from iostudy.settings.values import AS_FOUND
from iostudy.study.combinations import Configuration
from iostudy.study.mode import find_mode
from iostudy.study.model import Study
from iostudy.units import format_percent, format_relative_interval


def select_settings(folder: Path, label: str | None, on: Sequence[str]) -> PersistRequest:
    """Select the settings to keep from the study in an output folder.

    ``label`` names a configuration; None stands for the winner, in a search for that of its
    confirmation. ``on`` are the places of the settings, by default the studied ones. UsageError
    if nothing can be kept.
    """
    with open_ledger(folder if label else find_verdict_folder(folder)) as ledger:
        row, trials, study = ledger.study(), ledger.rows(), read_study(ledger)
        measured = measured_rows(study, WindowRecord(ledger).rows(), trials)
    if study.target.predicts:
        raise UsageError(
            "a study that measured a host",
            found="predictions of a simulation",
            where=study.name,
            remedy="compare these settings on your host with `iostudy run`, then keep the winner",
        )
    if NODES in row.circumstances:
        raise UsageError(
            "a study of one host, with places known here",
            found=f"one of {len(row.circumstances[NODES])} nodes together",
            where=study.name,
            remedy="set the levels on every node with your own tools; the report lists them",
        )
    if label in study.bounds:
        raise UsageError(
            "a configuration that one may keep",
            found=f"{label}, a bound: it shows what is possible, and is not for production",
            where=f"the study {study.name}",
            remedy=f"give one of: {'; '.join(chosen.label for chosen in study.choices())}",
        )
    mode = find_mode(study)
    if not label and not mode.compares_configurations:
        raise UsageError(
            "the winner of a study that compares configurations",
            found=f"{mode}, which compares no two of its runs",
            where=f"the study {study.name}",
            remedy=f"{mode.instead} and keep that one's winner, or choose a run yourself with "
            "--configuration LABEL",
        )
    compared = compare_configurations(study, measured) if mode.compares_configurations else ()
    configuration = find_configuration(study, label) if label else find_winner(study, compared)
    choice = _build_request(study, configuration, row, trials, on)
    results = [result for result in compared if result.configuration == configuration.label]
    figures = collect_figures(study, trials) if mode.measures_windows else {}
    confirmed = [(r, rule.confirm(study, r, figures)) for r in results if mode.measures_windows]
    contradictions = tuple(_describe_contradictions(confirmed))
    lines = describe_provenance(study, row, results, contradictions)
    proven = bool(results) and not contradictions and rule.meets_goal(study, results)
    choice = replace(choice, provenance=lines, proven=proven)
    if alone := [result.title for result, whole in confirmed if whole is None]:
        note = f"no whole trials confirm the windows on {', '.join(alone)}"
        choice = replace(choice, notes=(note, *choice.notes))
    if label:
        return choice
    rivals = _note_other_best(study, configuration, rank_configurations(study, measured))
    return replace(choice, notes=(*rivals, *choice.notes))


def _describe_contradictions(
    confirmed: Iterable[tuple[ComparisonResult, tuple[PairedMean, Agreement] | None]],
) -> Iterator[str]:
    """Describe the whole trials that contradict windows."""
    for result, whole in confirmed:
        if whole and whole[1].outcome is ConfirmationOutcome.DISAGREE:
            mean, ends = as_fraction(whole[0].mean), whole[0].interval.as_fractions()
            change = f"{result.figure.name} {format_relative_interval(mean, *ends)}"
            yield f"{result.title} in whole trials: {change}, {whole[0].count} blocks."


def find_configuration(study: Study, label: str) -> Configuration:
    """The configuration with that label; UsageError names those there are."""
    configurations = {c.label: c for c in study.configurations()}
    if label not in configurations:
        raise UsageError(
            f"a configuration of the study {study.name}",
            found=label,
            where="--configuration",
            remedy=f"give one of: {'; '.join(choice.label for choice in study.choices())}",
        )
    return configurations[label]


def find_winner(study: Study, compared: Sequence[ComparisonResult]) -> Configuration:
    """Return the winner of a finished study; UsageError without one or if it may still change."""
    if any(rule.is_undecided(study, result) for result in exclude_bounds(compared)):
        raise UsageError(
            "the winner of a finished study",
            found="comparisons that another block may still decide",
            where=f"the study {study.name}",
            remedy="resume with `iostudy run --resume`, or choose one with --configuration LABEL",
        )
    label = rule.recommend(study, compared)
    if label is None:
        raise UsageError(
            "a configuration that meets the goal: better than the baseline on a workload, and not "
            "worse on the others",
            found="none was shown to",
            where=f"the verdicts of the study {study.name}",
            remedy="read its report; --configuration LABEL keeps one that you choose: "
            + "; ".join(configuration.label for configuration in study.choices()),
        )
    return find_configuration(study, label)


def _note_other_best(study: Study, winner: Configuration, ranking: Ranking | None) -> Iterator[str]:
    """Note other configurations that may be best over all workloads."""
    if ranking is None:
        return
    labels = [configuration.label for configuration in study.choices()]
    best = [labels[index] for index in ranking.combined.best]
    others = "; ".join(label for label in best if label != winner.label)
    if winner.label not in best:
        yield (
            f"the best over all workloads together: {others}; not kept, because the study's goal "
            "was not shown"
        )
    elif others:
        yield f"may be as good as {winner.label} over all workloads together: {others}"


def _build_request(
    study: Study,
    configuration: Configuration,
    row: StudyRow,
    trials: Sequence[TrialRow],
    on: Sequence[str],
) -> PersistRequest:
    wanted = {n: v for n, v in configuration.settings.items() if v != AS_FOUND}
    labels = {
        label
        for trial in trials
        if trial.configuration == configuration.label
        for label in trial.settings or ()
    }
    kept = tuple(
        setting
        for name, value in wanted.items()
        for setting in (
            places.find_at_places(name, value, on)
            if on
            else places.find_studied(name, value, labels, row.circumstances)
        )
    )
    if not kept:
        raise UsageError(
            "a configuration that changes a setting of the host",
            found=f"{configuration.label} leaves all of them as they were",
            where=f"the study {study.name}",
            remedy="there is nothing to keep; name another one with --configuration",
        )
    origin = f"configuration {configuration.label} of the study {study.name}"
    notes = tuple(
        f"not kept: {name}={value} is an option of the workload: set it in your own programs"
        for name, value in configuration.options.items()
    )
    return PersistRequest(origin, kept, notes)


def describe_provenance(
    study: Study,
    row: StudyRow,
    results: Sequence[ComparisonResult],
    contradictions: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return a line with the conclusion, one for each workload, and the study.

    ``contradictions`` describe the whole trials that contradict windows.
    """
    host = row.circumstances.get("host", {})
    name = host.get("hostname") or "unknown"
    kernel = f"kernel {(host.get('kernel') or {}).get('release') or 'unknown'}"
    date = datetime.fromtimestamp(row.started_at, UTC).strftime("%Y-%m-%d")
    return (
        "UNPROVEN: whole trials contradict the windows. Use whole trials (decide: {mode: trials})."
        if contradictions
        else _conclude(study, results),
        *_describe_verdicts(results),
        *contradictions,
        f"Study {study.name} of {date}, host {name}, {kernel}, iostudy {row.iostudy_version}.",
    )


def _conclude(study: Study, results: Sequence[ComparisonResult]) -> str:
    baseline = study.baseline.label
    if rule.meets_goal(study, results):
        better = [result.workload for result in exclude_guards(results) if result.meets_better]
        where = " and ".join(label for label in better if label in study.goal.better)
        lost = [r.title for r in results if r.comparison.verdict is Verdict.WORSE]
        guards = [label for label in study.goal.not_worse or () if label not in better]
        guards += [result.title for result in rule.select_guards(study, results)]
        required = ", ".join(title for title in guards if title not in lost)
        margin = format_percent(study.decide.margin)
        guarded = f", not worse by {margin} on {required}" if required else ""
        worse = f", worse on {', '.join(lost)}, which the goal allows" if lost else ""
        return f"Verdict: better than the baseline {baseline} on {where}{guarded}{worse}."
    return (
        f"UNPROVEN: the study did not show it to be better than the baseline {baseline} on a "
        "workload of its goal, and not worse on the others."
    )


def _describe_verdicts(results: Iterable[ComparisonResult]) -> Iterator[str]:
    for result in results:
        comparison = result.comparison
        verdict = comparison.verdict.value if comparison.verdict else "no verdict"
        blocks = f"{comparison.blocks} blocks"
        yield f"{result.title}: {verdict}, {result.figure.name} {_change(comparison)}, {blocks}."


def _change(comparison: Comparison) -> str:
    """The relative change of the figure with its interval: ``+12.0 % [+9.1, +15.0]``."""
    low, high = comparison.change_interval
    if not all(map(math.isfinite, (comparison.change, low, high))):
        return "unknown"
    return format_relative_interval(comparison.change, low, high)
