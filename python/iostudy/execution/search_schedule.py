"""What comes next in a search: rounds of the default and the candidates that race."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import assert_never

from iostudy.errors import UsageError
from iostudy.execution.listeners import Listener
from iostudy.execution.progress import Progress, SearchProgress
from iostudy.ledger.rows import TrialRow
from iostudy.ledger.search import SearchRecord
from iostudy.node.protocol import Node
from iostudy.results.comparisons import ComparisonResult
from iostudy.results.search_state import SearchState, Spent
from iostudy.study.candidates import with_candidates
from iostudy.study.combinations import Configuration
from iostudy.study.model import Study
from iostudy.study.plan import Block
from iostudy.study.requests import refusal
from iostudy.study.search import Budget, Candidate, TimeBudget, TrialBudget
from iostudy.units import format_seconds


class SearchSchedule:
    """Lets candidates enter, after the node has tried whether it takes them, and race.

    They are recorded before their first trial, and so is the end: a search that was stopped goes on
    with the same ones.
    """

    def __init__(
        self,
        study: Study,
        seed: int,
        record: SearchRecord,
        node: Node,
        listeners: Sequence[Listener] = (),
    ) -> None:
        assert study.search is not None
        self._study = study
        self._search = study.search
        self._seed = seed
        self._record = record
        self._node = node
        self._listeners = listeners
        self._known(record.candidates())

    @property
    def seed(self) -> int:
        """The one that the search began with."""
        return self._seed

    def next(self, rows: Sequence[TrialRow], without: Collection[str] = ()) -> Block | None:
        """The next block of the round; at the end of budget or space the outcome is recorded.

        A round needs every workload: where the search gave one up, it stops without an outcome.
        """
        if without or self._record.outcome() is not None:
            return None
        while newcomers := self._course(rows).newcomers():
            self._enter(newcomers)
        course = self._course(rows)
        block = course.block()
        if block is None:
            self._record.end(course.outcome())
        return block

    def configuration(self, label: str) -> Configuration:
        """The default, or a candidate."""
        return self._configurations[label]

    def comparisons(self, rows: Sequence[TrialRow]) -> tuple[ComparisonResult, ...]:
        """None: what a search has seen is too lucky for a verdict."""
        return ()

    def progress(
        self, after: Block, rows: Sequence[TrialRow], seconds_per_trial: float
    ) -> Progress:
        """How much of the budget is spent, and who is ahead."""
        course = self._course(rows)
        ahead, used = course.incumbent, Spent.of(rows)
        told = SearchProgress(
            candidates=len(self._candidates),
            incumbent="" if ahead is None else self._candidates[ahead].label,
            log_ratio=0.0 if ahead is None else course.race.entrants[ahead].estimate,
            blocks=0 if ahead is None else course.race.entrants[ahead].blocks,
            spent=_told(self._search.budget, used),
        )
        return Progress(
            block=after,
            seconds_left=_seconds_left(self._search.budget, used, seconds_per_trial),
            search=told,
        )

    def drop(self, label: str, reason: str) -> bool:
        """Leave out a candidate that fails by itself; the default cannot be left out."""
        if label not in {each.label for each in self._candidates}:
            return False
        self._record.refuse(label, reason)
        self._known(self._record.candidates())
        for listener in self._listeners:
            listener.candidate_refused(label, reason)
        return True

    def _course(self, rows: Sequence[TrialRow]) -> SearchState:
        return SearchState(self._study, self._seed, self._candidates, rows)

    def _known(self, candidates: tuple[Candidate, ...]) -> None:
        self._candidates = candidates
        every = with_candidates(self._study, [replace(each, refused="") for each in candidates])
        self._configurations = {each.label: each for each in every.configurations()}

    def _enter(self, newcomers: Sequence[Candidate]) -> None:
        before = self._candidates
        self._known((*before, *newcomers))
        tried = tuple(replace(each, refused=self._refusal(each)) for each in newcomers)
        self._record.enter(tried)
        self._known((*before, *tried))
        for listener in self._listeners:
            for each in tried:
                if each.refused:
                    listener.candidate_refused(each.label, each.refused)
                else:
                    listener.candidate_entered(each)

    def _refusal(self, candidate: Candidate) -> str:
        """Why the workloads or the host cannot do with a candidate; empty where they can."""
        configuration = self._configurations[candidate.label]
        for request in self._study.workloads:
            if reason := refusal(request, configuration):
                return f"{request.label}: {reason}"
        try:
            errors = self._node.preflight(self._study.workloads, [configuration])
        except UsageError as error:  # as where its files would not fit
            return f"{error.wanted}: {error.found}"
        return "".join(f"{error.wanted}: {error.found}" for error in errors.values())


def _told(budget: Budget, used: Spent) -> str:
    match budget:
        case TrialBudget(trials):
            return f"{used.trials} of {trials} trials"
        case TimeBudget(seconds):
            return f"{format_seconds(used.seconds)} of {format_seconds(seconds)}"
        case unreachable:
            assert_never(unreachable)


def _seconds_left(budget: Budget, used: Spent, seconds_per_trial: float) -> float:
    match budget:
        case TrialBudget(trials):
            return (trials - used.trials) * seconds_per_trial
        case TimeBudget(seconds):
            return max(0.0, seconds - used.seconds)
        case unreachable:
            assert_never(unreachable)
