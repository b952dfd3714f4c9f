"""Who is told how a study goes. Listeners only look; nothing they do changes a study."""

from __future__ import annotations

from collections.abc import Sequence

from iostudy.execution.progress import Progress
from iostudy.ledger.given_up import GivenUp
from iostudy.ledger.rows import TrialRow
from iostudy.results.comparisons import ComparisonResult
from iostudy.study.model import Study
from iostudy.study.plan import Block
from iostudy.study.search import Candidate


class Listener:
    """Hears of every step; does nothing unless a method is overridden."""

    def checking_began(self, study: Study) -> None:
        """Every configuration is tried once on the node, before the first trial."""

    def study_began(self, study: Study, seed: int, recorded: int) -> None:
        """``recorded`` trials are in the ledger already (a resumed study)."""

    def trial_began(self, row: TrialRow, trials: int) -> None:
        """A trial begins, one of ``trials`` in its attempt at the block; not recorded yet."""

    def trial_ended(self, row: TrialRow) -> None:
        """A trial is in the ledger."""

    def block_repeated(self, block: Block, attempt: int, reason: str) -> None:
        """An attempt does not count, for that reason."""

    def pause_began(self, seconds: float) -> None:
        """The study waits that long for a quieter machine before the next attempt."""

    def workload_given_up(self, given_up: GivenUp) -> None:
        """No attempt at a block counted; the study continues with its other workloads."""

    def candidate_entered(self, candidate: Candidate) -> None:
        """A search tries a candidate from now on."""

    def candidate_refused(self, label: str, reason: str) -> None:
        """A search does without a candidate, for that reason."""

    def block_ended(self, progress: Progress) -> None:
        """A block is whole and counts."""

    def study_ended(self, final: Sequence[ComparisonResult]) -> None:
        """Every comparison is decided, or its blocks are spent."""
