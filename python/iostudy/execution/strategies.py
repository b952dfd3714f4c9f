"""Strategies by mode: they run a study, and find what a resumed one lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from iostudy import plugins
from iostudy.execution.runner import Runner
from iostudy.execution.schedule import PlannedSchedule, Run
from iostudy.execution.switchback.runner import (
    CONFIRMATION_BLOCKS,
    ConfirmationSchedule,
    SwitchbackRunner,
    final_comparisons,
)
from iostudy.ledger.store import Ledger
from iostudy.ledger.studies import apply_plans
from iostudy.ledger.windows import WindowRecord
from iostudy.results.comparisons import ComparisonResult
from iostudy.results.recommendation import select_confirmations
from iostudy.study.mode import find_mode
from iostudy.study.model import Study
from iostudy.study.plan import make_plan

Comparisons = tuple[ComparisonResult, ...]


@dataclass(frozen=True)
class Strategy:
    """What a mode does.

    ``find_final`` returns all comparisons of a ledger's study if nothing is left to run, and None
    otherwise. ``run`` runs what is left, and returns all comparisons. ``build_confirmation``
    returns the study that confirms the winner of an output folder; None before there is one.
    """

    find_final: Callable[[Study, Ledger], Comparisons | None]
    run: Callable[[Study, Run], Comparisons]
    build_confirmation: Callable[[Path], Study | None] = lambda _: None


def find_strategy(study: Study) -> Strategy:
    """Return the strategy of the study's mode."""
    strategy: Strategy = plugins.load(find_mode(study).strategy)
    return strategy


def run_study(study: Study, run: Run) -> Comparisons:
    """Run what the ledger lacks; return all comparisons.

    Windows that cannot decide make it a study of whole trials.
    """
    planned = apply_plans(study, WindowRecord(run.ledger).plans())
    final = find_strategy(planned).run(planned, run)
    again = apply_plans(study, WindowRecord(run.ledger).plans())
    if find_mode(again) is not find_mode(planned):
        return find_strategy(again).run(again, run)
    return final


def _find_final_trials(study: Study, ledger: Ledger) -> Comparisons | None:
    schedule, rows = _plan(study, ledger), ledger.rows()
    return None if schedule.next(rows) else schedule.comparisons(rows)


def _run_trials(study: Study, run: Run) -> Comparisons:
    schedule = _plan(study, run.ledger)
    return Runner(study, schedule, run).run()


def _plan(study: Study, ledger: Ledger) -> PlannedSchedule:
    return PlannedSchedule(study, make_plan(study, ledger.study().seed))


def _find_final_windows(study: Study, ledger: Ledger) -> Comparisons | None:
    final = final_comparisons(study, WindowRecord(ledger))
    return final if final is not None and _confirm(study, final, ledger) is None else None


def _run_windows(study: Study, run: Run) -> Comparisons:
    """Run the windows, then the whole trials that confirm their verdicts, if any need them."""
    ledger, decided = run.ledger, SwitchbackRunner(study, run).run()
    record, at_end = WindowRecord(ledger), replace(study, further_blocks=0)
    is_complete = record.can_decide() and final_comparisons(at_end, record) is not None
    if is_complete and (schedule := _confirm(study, decided, ledger)) is not None:
        Runner(study, schedule, run).confirm(schedule.labels, CONFIRMATION_BLOCKS)
    return decided


def _confirm(
    study: Study, decided: Sequence[ComparisonResult], ledger: Ledger
) -> ConfirmationSchedule | None:
    """Return the schedule of the confirmation; None if nothing is left to confirm."""
    labels = select_confirmations(study, decided)
    schedule = ConfirmationSchedule(study, labels, ledger.study().seed, tuple(decided))
    return schedule if schedule.next(ledger.rows()) is not None else None


WHOLE_TRIALS = Strategy(_find_final_trials, _run_trials)
WINDOWS = Strategy(_find_final_windows, _run_windows)
