"""Schedule of a search: rounds of the default and the racing candidates."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import assert_never

from iostudy.analysis.paired import as_fraction
from iostudy.errors import UsageError
from iostudy.execution.listeners import Listener, Progress
from iostudy.ledger.rows import TrialRow
from iostudy.node.protocol import Node
from iostudy.report.formatting import format_count, format_signed_change
from iostudy.results.comparisons import ComparisonResult
from iostudy.study.combinations import Configuration
from iostudy.study.model import Study
from iostudy.study.plan import Block
from iostudy.study.requests import explain_refusal
from iostudy.units import format_seconds
from iostudy_search.candidates import add_candidates
from iostudy_search.record import SearchRecord
from iostudy_search.search import Budget, Candidate, TimeBudget, TrialBudget, require_search
from iostudy_search.state import BudgetUse, SearchState


class SearchSchedule:
    """Enters candidates that pass the node's preflight, and races them.

    The ledger records candidates before their first trial, and the outcome. A resumed search
    continues with the same candidates.
    """

    def __init__(
        self,
        study: Study,
        seed: int,
        record: SearchRecord,
        node: Node,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self._study = study
        self._search = require_search(study)
        self._seed = seed
        self._record = record
        self._node = node
        self._listeners = listeners
        self._set_candidates(record.candidates())

    @property
    def seed(self) -> int:
        """The seed of the search."""
        return self._seed

    def next(self, rows: Sequence[TrialRow], without: Collection[str] = ()) -> Block | None:
        """Return the next block of the round; record the outcome at the end of budget or space.

        A round needs every workload. A search that gave one up stops without an outcome.
        """
        if without or self._record.outcome() is not None:
            return None
        while newcomers := self._state(rows).new_candidates():
            self._enter(newcomers)
        state = self._state(rows)
        block = state.next_block()
        if block is None:
            self._record.end(state.outcome())
        return block

    def configuration(self, label: str) -> Configuration:
        """Return the default or a candidate."""
        return self._configurations[label]

    def comparisons(self, rows: Sequence[TrialRow]) -> tuple[ComparisonResult, ...]:
        """Return no comparisons: a search selects its winner by the same data."""
        return ()

    def progress(
        self, after: Block, rows: Sequence[TrialRow], seconds_per_trial: float
    ) -> Progress:
        """Return the used budget and the leading candidate."""
        state = self._state(rows)
        used = BudgetUse.from_rows(rows)
        spent = _format_budget_use(self._search.budget, used)
        return Progress(
            block=after,
            seconds_left=_seconds_left(self._search.budget, used, seconds_per_trial),
            status=f"{format_count(len(self._candidates), 'candidate')}, {spent}; "
            f"{self._describe_leader(state)}",
        )

    def _describe_leader(self, state: SearchState) -> str:
        """``ahead: +4.1 % after 2 rounds: 8192``, with no interval: the leader was lucky, too."""
        if state.incumbent is None:
            return "no candidate leads the default"
        entrant = state.race.entrants[state.incumbent]
        change = format_signed_change(as_fraction(entrant.estimate))
        rounds = format_count(entrant.blocks, "round")
        return f"ahead: {change} after {rounds}: {self._candidates[state.incumbent].label}"

    def drop(self, label: str, reason: str) -> bool:
        """Refuse a candidate that always fails; the default cannot be refused."""
        if label not in {candidate.label for candidate in self._candidates}:
            return False
        self._record.refuse(label, reason)
        self._set_candidates(self._record.candidates())
        for listener in self._listeners:
            listener.configuration_refused(label, reason)
        return True

    def _state(self, rows: Sequence[TrialRow]) -> SearchState:
        return SearchState(self._study, self._seed, self._candidates, rows)

    def _set_candidates(self, candidates: tuple[Candidate, ...]) -> None:
        self._candidates = candidates
        study = add_candidates(
            self._study, [replace(candidate, refused="") for candidate in candidates]
        )
        self._configurations = {
            configuration.label: configuration for configuration in study.configurations()
        }

    def _enter(self, newcomers: Sequence[Candidate]) -> None:
        before = self._candidates
        self._set_candidates((*before, *newcomers))
        tried = tuple(replace(newcomer, refused=self._refusal(newcomer)) for newcomer in newcomers)
        self._record.enter(tried)
        self._set_candidates((*before, *tried))
        for listener in self._listeners:
            for candidate in tried:
                if candidate.refused:
                    listener.configuration_refused(candidate.label, candidate.refused)

    def _refusal(self, candidate: Candidate) -> str:
        """Explain why a workload or the host refuses a candidate; empty if none does."""
        configuration = self._configurations[candidate.label]
        for request in self._study.workloads:
            if reason := explain_refusal(request, configuration):
                return f"{request.label}: {reason}"
        try:
            errors = self._node.preflight(self._study.workloads, [configuration])
        except UsageError as error:  # for example too little space
            return f"{error.wanted}: {error.found}"
        return "".join(f"{error.wanted}: {error.found}" for error in errors.values())


def _format_budget_use(budget: Budget, used: BudgetUse) -> str:
    match budget:
        case TrialBudget(trials):
            return f"{used.trials} of {trials} trials"
        case TimeBudget(seconds):
            return f"{format_seconds(used.seconds)} of {format_seconds(seconds)}"
        case unreachable:
            assert_never(unreachable)


def _seconds_left(budget: Budget, used: BudgetUse, seconds_per_trial: float) -> float:
    match budget:
        case TrialBudget(trials):
            return (trials - used.trials) * seconds_per_trial
        case TimeBudget(seconds):
            return max(0.0, seconds - used.seconds)
        case unreachable:
            assert_never(unreachable)
