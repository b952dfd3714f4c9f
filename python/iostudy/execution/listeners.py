"""Listeners to the events of a study, which they cannot change, and its progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iostudy.ledger.given_up_workloads import GivenUpWorkload
from iostudy.ledger.rows import PlanRow, RunRow, TrialRow
from iostudy.results.comparisons import ComparisonResult
from iostudy.results.recommendation import is_undecided
from iostudy.study.mode import find_mode
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.plan import Block


class Listener:
    """Receives every event; the default methods do nothing."""

    def checking_began(self, study: Study) -> None:
        """The node starts to try every configuration once, before the first trial."""

    def study_began(
        self, study: Study, seed: int, recorded: int, current: Sequence[ComparisonResult]
    ) -> None:
        """The study starts; ``recorded`` trials or windows are already in the ledger.

        ``current`` are its comparisons over these.
        """

    def windows_planned(self, plan: PlanRow) -> None:
        """A plan of windows is in the ledger, or the reason why windows cannot decide."""

    def windows_measured(self, request: WorkloadRequest, progress: WindowProgress) -> None:
        """A run of a workload starts, or its next block of windows is in the ledger."""

    def run_ended(self, run: RunRow) -> None:
        """A continuous run is in the ledger with its telemetry."""

    def confirmation_began(
        self, labels: Mapping[str, Sequence[str]], blocks: int, recorded: int
    ) -> None:
        """Whole trials start to confirm these configurations by workload, in so many blocks each.

        ``recorded`` trials of a resumed study are already in the ledger.
        """

    def trial_began(self, row: TrialRow, trials: int) -> None:
        """A trial starts, one of ``trials`` in its attempt at the block; not recorded yet."""

    def trial_ended(self, row: TrialRow) -> None:
        """A trial is in the ledger."""

    def block_repeated(self, block: Block, attempt: int, reason: str) -> None:
        """An attempt at a block does not count, for the given reason."""

    def pause_began(self, seconds: float) -> None:
        """The study pauses before the next attempt, to wait for a quieter machine."""

    def workload_given_up(self, given_up: GivenUpWorkload) -> None:
        """The study gives a workload up and continues with the others."""

    def configuration_refused(self, label: str, reason: str) -> None:
        """A study that chooses its configurations while it runs refuses one."""

    def block_ended(self, progress: Progress) -> None:
        """A block is complete and counts."""

    def time_limit_reached(self, seconds: float) -> None:
        """No further block begins, since the run has used its time limit up."""

    def study_ended(self, final: Sequence[ComparisonResult]) -> None:
        """No block follows: all comparisons have ended, or the time limit is reached."""


@dataclass(frozen=True)
class Progress:
    """Progress of a study after a block.

    ``seconds_left`` is an upper bound: the time if every undecided comparison needs its maximum
    number of blocks. Most stop earlier. ``power_estimate`` is a sentence on the power of the study,
    once per workload, otherwise empty. ``status`` is that of a study which has neither a number of
    blocks nor comparisons, as a part of a sentence.
    """

    block: Block
    seconds_left: float
    blocks: int = 0
    comparisons: tuple[ComparisonResult, ...] = ()
    power_estimate: str = ""
    status: str = ""


@dataclass(frozen=True)
class WindowProgress:
    """Progress of the windows of a workload: ``done`` of at most ``blocks`` blocks.

    ``seconds_left`` is an upper bound for the windows of this workload and of those after it.
    ``comparisons`` are interim before the first analysis, and those of the last one after it.
    """

    done: int
    blocks: int
    seconds_left: float
    comparisons: tuple[ComparisonResult, ...]


def undecided_configurations(
    study: Study, workload: str, current: Sequence[ComparisonResult]
) -> frozenset[str]:
    """Return the labels that the next block of the workload must run, with the baseline.

    Empty when every comparison of the workload is decided or futile. A study of a single
    configuration has no comparison and runs all its blocks. Where levels are compared, all runs
    follow until every effect is decided.
    """
    undecided = {
        result.configuration
        for result in current
        if result.workload == workload and is_undecided(study, result)
    }
    if undecided and not find_mode(study).compares_configurations:
        return frozenset(configuration.label for configuration in study.configurations())
    alone = len(study.configurations()) == 1
    return frozenset({*undecided, study.baseline.label}) if undecided or alone else frozenset()
