"""Strategies by mode: they run a study, and find what a resumed one lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from iostudy.execution.listeners import Listener
from iostudy.execution.runner import Runner
from iostudy.execution.schedule import PlannedSchedule
from iostudy.execution.search_schedule import SearchSchedule
from iostudy.execution.switchback.confirmation import BLOCKS, ConfirmationSchedule
from iostudy.execution.switchback.runner import SwitchbackRunner, final_comparisons
from iostudy.execution.time_limit import NO_LIMIT, TimeLimit
from iostudy.ledger.search import SearchRecord
from iostudy.ledger.store import Ledger
from iostudy.ledger.studies import apply_plans
from iostudy.ledger.windows import WindowRecord
from iostudy.node.protocol import Node
from iostudy.results.comparisons import ComparisonResult
from iostudy.results.confirmation import select_confirmations
from iostudy.study.mode import Mode, find_mode
from iostudy.study.model import Study
from iostudy.study.plan import make_plan

Comparisons = tuple[ComparisonResult, ...]


@dataclass(frozen=True)
class Run:
    """Where a study runs, where it is recorded, and who listens."""

    node: Node
    ledger: Ledger
    listeners: Sequence[Listener] = ()
    limit: TimeLimit = NO_LIMIT


@dataclass(frozen=True)
class Strategy:
    """What a mode does.

    ``find_final`` returns all comparisons of a ledger's study if nothing is left to run, and None
    otherwise. ``run`` runs what is left, and returns all comparisons.
    """

    find_final: Callable[[Study, Ledger], Comparisons | None]
    run: Callable[[Study, Run], Comparisons]


def run_study(study: Study, run: Run) -> Comparisons:
    """Run what the ledger lacks; return all comparisons.

    Windows that cannot decide make it a study of whole trials.
    """
    planned = apply_plans(study, WindowRecord(run.ledger).plans())
    final = STRATEGIES[find_mode(planned)].run(planned, run)
    again = apply_plans(study, WindowRecord(run.ledger).plans())
    if find_mode(again) is not find_mode(planned):
        return STRATEGIES[find_mode(again)].run(again, run)
    return final


def _find_final_trials(study: Study, ledger: Ledger) -> Comparisons | None:
    schedule, rows = _plan(study, ledger), ledger.rows()
    return None if schedule.next(rows) else schedule.comparisons(rows)


def _run_trials(study: Study, run: Run) -> Comparisons:
    schedule = _plan(study, run.ledger)
    return Runner(study, schedule, run.node, run.ledger, run.listeners, run.limit).run()


def _plan(study: Study, ledger: Ledger) -> PlannedSchedule:
    return PlannedSchedule(study, make_plan(study, ledger.study().seed))


def _find_final_search(study: Study, ledger: Ledger) -> Comparisons | None:
    """A search has no comparisons, because it selects its winner by the same data."""
    return () if SearchRecord(ledger).outcome() else None


def _run_search(study: Study, run: Run) -> Comparisons:
    ledger = run.ledger
    seed, record = ledger.study().seed, SearchRecord(ledger)
    schedule = SearchSchedule(study, seed, record, run.node, run.listeners)
    return Runner(study, schedule, run.node, ledger, run.listeners, run.limit).run()


def _find_final_windows(study: Study, ledger: Ledger) -> Comparisons | None:
    final = final_comparisons(study, WindowRecord(ledger))
    return final if final is not None and _confirm(study, final, ledger) is None else None


def _run_windows(study: Study, run: Run) -> Comparisons:
    """Run the windows, then the whole trials that confirm their verdicts, if any need them."""
    ledger = run.ledger
    seed = ledger.study().seed
    decided = SwitchbackRunner(study, seed, run.node, ledger, run.listeners, run.limit).run()
    record, at_end = WindowRecord(ledger), replace(study, further_blocks=0)
    is_complete = record.can_decide() and final_comparisons(at_end, record) is not None
    if is_complete and (schedule := _confirm(study, decided, ledger)) is not None:
        runner = Runner(study, schedule, run.node, ledger, run.listeners, run.limit)
        runner.confirm(schedule.labels, BLOCKS)
    return decided


def _confirm(
    study: Study, decided: Sequence[ComparisonResult], ledger: Ledger
) -> ConfirmationSchedule | None:
    """Return the schedule of the confirmation; None if nothing is left to confirm."""
    labels = select_confirmations(study, decided)
    schedule = ConfirmationSchedule(study, labels, ledger.study().seed, decided)
    return schedule if schedule.next(ledger.rows()) is not None else None


STRATEGIES: Mapping[Mode, Strategy] = {
    Mode.TRIALS: Strategy(_find_final_trials, _run_trials),
    Mode.SCREENING: Strategy(_find_final_trials, _run_trials),
    Mode.SEARCH: Strategy(_find_final_search, _run_search),
    Mode.WINDOWS: Strategy(_find_final_windows, _run_windows),
}
