"""Which configuration of a study is worth keeping (pure), and with which settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from iostudy.analysis.ranking import Ranking
from iostudy.analysis.verdict import Verdict
from iostudy.conduct.session import recorded_study
from iostudy.conduct.standing import Standing, ranked, standings
from iostudy.errors import UsageError
from iostudy.ledger.rows import StudyRow, TrialRow
from iostudy.ledger.store import Ledger
from iostudy.persist import places
from iostudy.persist.kept import Choice
from iostudy.settings.values import AS_FOUND
from iostudy.study.model import Configuration, Study


def chosen(folder: Path, label: str | None, on: Sequence[str]) -> Choice:
    """What is to be kept of the study in an output folder.

    ``label`` names a configuration, None stands for the winner. ``on`` are the places that its
    settings are to hold for, none the ones that were studied. UsageError where nothing can be kept.
    """
    ledger = Ledger.open(folder, read_only=True)
    try:
        row, trials = ledger.study(), ledger.rows()
    finally:
        ledger.close()
    study = recorded_study(row)
    if label:
        return _choice(study, named(study, label), row, trials, on)
    configuration = winner(study, standings(study, trials))
    choice = _choice(study, configuration, row, trials, on)
    rivals = _rivals(study, configuration, ranked(study, trials))
    return replace(choice, notes=(*rivals, *choice.notes))


def named(study: Study, label: str) -> Configuration:
    """The configuration with that label; UsageError names those there are."""
    configurations = {c.label: c for c in study.configurations()}
    if label not in configurations:
        raise UsageError(
            f"a configuration of the study {study.name}",
            found=label,
            where="--configuration",
            remedy=f"give one of: {'; '.join(configurations)}",
        )
    return configurations[label]


def winner(study: Study, compared: Iterable[Standing]) -> Configuration:
    """Better than the baseline in at least one workload and worse in none; of these the best.

    The best has the highest mean log-ratio over the workloads, with their weights. UsageError if
    none was shown to be better, or while a comparison is open that another block may decide.
    """
    compared = tuple(compared)
    if any(_is_open(standing, study) for standing in compared):
        raise _not_finished(study)
    by_label: dict[str, list[Standing]] = {}
    for standing in compared:
        by_label.setdefault(standing.configuration, []).append(standing)
    better = {
        label: fmean(
            [standing.comparison.estimate for standing in own],
            [study.decide.weight(standing.workload) for standing in own],
        )
        for label, own in by_label.items()
        if _is_better({standing.comparison.verdict for standing in own})
    }
    if not better:
        raise _nothing_won(study)
    return named(study, max(better, key=lambda label: better[label]))


def _rivals(study: Study, winner: Configuration, ranking: Ranking | None) -> Iterator[str]:
    """Who else may be the best over all workloads, which the rule for winners does not ask."""
    if ranking is None:
        return
    labels = [configuration.label for configuration in study.configurations()]
    best = [labels[index] for index in ranking.combined.best]
    others = ", ".join(label for label in best if label != winner.label)
    if winner.label not in best:
        yield (
            f"the best over all workloads together: {others}; not kept, as worse than the baseline "
            "in a workload, or shown to be better in none"
        )
    elif others:
        yield f"over all workloads together not shown to be worse than {winner.label}: {others}"


def _is_open(standing: Standing, study: Study) -> bool:
    undecided = standing.comparison.verdict is Verdict.INCONCLUSIVE
    return undecided and standing.comparison.blocks < study.decide.max_blocks


def _is_better(verdicts: set[Verdict]) -> bool:
    return Verdict.BETTER in verdicts and Verdict.WORSE not in verdicts


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
        + "; ".join(configuration.label for configuration in study.configurations()),
    )


def _nothing_to_keep(study: Study, configuration: Configuration) -> UsageError:
    return UsageError(
        "a configuration that changes a setting of the host",
        found=f"{configuration.label} leaves all of them as they were",
        where=f"the study {study.name}",
        remedy="there is nothing to keep; name another one with --configuration",
    )
