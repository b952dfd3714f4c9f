"""Which configuration of a study is worth keeping (pure), and with which settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from iostudy.analysis.ranking import Ranking
from iostudy.errors import UsageError
from iostudy.ledger.rows import StudyRow, TrialRow
from iostudy.ledger.studies import deciding, open_ledger, read_study
from iostudy.persist import places
from iostudy.persist.kept import Choice
from iostudy.results import recommendation as rule
from iostudy.results.comparisons import (
    ComparisonResult,
    compare_configurations,
    exclude_bounds,
    rank_configurations,
)
from iostudy.settings.values import AS_FOUND
from iostudy.study.combinations import Configuration
from iostudy.study.model import Study


def chosen(folder: Path, label: str | None, on: Sequence[str]) -> Choice:
    """What is to be kept of the study in an output folder.

    ``label`` names a configuration, None stands for the winner: of a search, that of its
    confirmation. ``on`` are the places that its settings are to hold for, none the ones that were
    studied. UsageError where nothing can be kept.
    """
    with open_ledger(folder if label else deciding(folder)) as ledger:
        row, trials, study = ledger.study(), ledger.rows(), read_study(ledger)
    if label:
        if label in study.bounds:
            raise _is_bound(study, label)
        return _choice(study, named(study, label), row, trials, on)
    if study.design is not None:
        raise _screens(study)
    configuration = winner(study, compare_configurations(study, trials))
    choice = _choice(study, configuration, row, trials, on)
    rivals = _rivals(study, configuration, rank_configurations(study, trials))
    return replace(choice, notes=(*rivals, *choice.notes))


def named(study: Study, label: str) -> Configuration:
    """The configuration with that label; UsageError names those there are."""
    configurations = {c.label: c for c in study.configurations()}
    if label not in configurations:
        raise UsageError(
            f"a configuration of the study {study.name}",
            found=label,
            where="--configuration",
            remedy=f"give one of: {'; '.join(own.label for own in study.choices())}",
        )
    return configurations[label]


def winner(study: Study, compared: Sequence[ComparisonResult]) -> Configuration:
    """The winner of a finished study; UsageError if there is none, or another block may decide."""
    if any(rule.is_undecided(study, standing) for standing in exclude_bounds(compared)):
        raise _not_finished(study)
    label = rule.recommend(study, compared)
    if label is None:
        raise _nothing_won(study)
    return named(study, label)


def _rivals(study: Study, winner: Configuration, ranking: Ranking | None) -> Iterator[str]:
    """Who else may be the best over all workloads, which the rule for winners does not ask."""
    if ranking is None:
        return
    labels = [configuration.label for configuration in study.choices()]
    best = [labels[index] for index in ranking.combined.best]
    others = ", ".join(label for label in best if label != winner.label)
    if winner.label not in best:
        yield (
            f"the best over all workloads together: {others}; not kept, as worse than the baseline "
            "in a workload, or shown to be better in none"
        )
    elif others:
        yield f"over all workloads together not shown to be worse than {winner.label}: {others}"


def _choice(
    study: Study,
    configuration: Configuration,
    row: StudyRow,
    trials: Sequence[TrialRow],
    on: Sequence[str],
) -> Choice:
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
            places.named(name, value, on)
            if on
            else places.recorded(name, value, labels, row.circumstances)
        )
    )
    if not kept:
        raise _nothing_to_keep(study, configuration)
    origin = f"configuration {configuration.label} of the study {study.name}"
    notes = tuple(
        f"not kept: {name}={value} is an option of the workload: set it in your own programs"
        for name, value in configuration.options.items()
    )
    return Choice(origin, kept, notes)


def _is_bound(study: Study, label: str) -> UsageError:
    return UsageError(
        "a configuration that one may keep",
        found=f"{label}, a bound: it shows what is possible, and is none to choose",
        where=f"the study {study.name}",
        remedy=f"give one of: {'; '.join(own.label for own in study.choices())}",
    )


def _screens(study: Study) -> UsageError:
    return UsageError(
        "the winner of a study that compares configurations",
        found="a screening, which tells what factors do and compares no two of its runs",
        where=f"the study {study.name}",
        remedy="run the confirming study that its report prints and keep that one's winner, or "
        "choose a run yourself with --configuration LABEL",
    )


def _not_finished(study: Study) -> UsageError:
    return UsageError(
        "the winner of a finished study",
        found="comparisons that another block may still decide",
        where=f"the study {study.name}",
        remedy="go on with `iostudy run --resume`, or choose yourself with --configuration LABEL",
    )


def _nothing_won(study: Study) -> UsageError:
    return UsageError(
        "a configuration that is better than the baseline in a workload and worse in none",
        found="none was shown to be",
        where=f"the verdicts of the study {study.name}",
        remedy="read its report; --configuration LABEL keeps one that you choose: "
        + "; ".join(configuration.label for configuration in study.choices()),
    )


def _nothing_to_keep(study: Study, configuration: Configuration) -> UsageError:
    return UsageError(
        "a configuration that changes a setting of the host",
        found=f"{configuration.label} leaves all of them as they were",
        where=f"the study {study.name}",
        remedy="there is nothing to keep; name another one with --configuration",
    )
