"""Listeners to the events of a study. They cannot change a study."""

from __future__ import annotations

from collections.abc import Sequence

from iostudy.execution.progress import Progress
from iostudy.ledger.abandoned_workloads import AbandonedWorkload
from iostudy.ledger.rows import PilotRow, TrialRow
from iostudy.results.comparisons import ComparisonResult
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.plan import Block
from iostudy.study.search import Candidate


class Listener:
    """Receives every event; the default methods do nothing."""

    def checking_began(self, study: Study) -> None:
        """The node starts to try every configuration once, before the first trial."""

    def study_began(self, study: Study, seed: int, recorded: int) -> None:
        """The study starts; ``recorded`` trials of a resumed study are already in the ledger."""

    def pilot_began(self, study: Study, request: WorkloadRequest) -> None:
        """The pilot of a workload of a switchback study starts."""

    def pilot_ended(self, pilot: PilotRow) -> None:
        """A pilot is in the ledger, with the plan of its windows or the reason against them."""

    def trial_began(self, row: TrialRow, trials: int) -> None:
        """A trial starts, one of ``trials`` in its attempt at the block; not recorded yet."""

    def trial_ended(self, row: TrialRow) -> None:
        """A trial is in the ledger."""

    def block_repeated(self, block: Block, attempt: int, reason: str) -> None:
        """An attempt at a block does not count, for the given reason."""

    def pause_began(self, seconds: float) -> None:
        """The study pauses before the next attempt, to wait for a quieter machine."""

    def workload_given_up(self, given_up: AbandonedWorkload) -> None:
        """The study gives a workload up and continues with the others."""

    def candidate_entered(self, candidate: Candidate) -> None:
        """A candidate enters the search."""

    def candidate_refused(self, label: str, reason: str) -> None:
        """The search refuses a candidate, for the given reason."""

    def block_ended(self, progress: Progress) -> None:
        """A block is complete and counts."""

    def study_ended(self, final: Sequence[ComparisonResult]) -> None:
        """Every comparison is decided, or has its maximum number of blocks."""
