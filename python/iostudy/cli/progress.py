"""How a running study shows itself on stderr: a few live lines, or plain ones off a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby

from rich.console import Console, ConsoleOptions
from rich.live import Live
from rich.text import Text

from iostudy.analysis.paired import as_fraction
from iostudy.analysis.verdict import Verdict
from iostudy.cli.console import err, say
from iostudy.execution.listeners import Listener
from iostudy.execution.progress import Progress
from iostudy.ledger.given_up import GivenUp
from iostudy.ledger.rows import TrialRow
from iostudy.node.clusters import needs_restarts
from iostudy.report import wording
from iostudy.report.finite import span
from iostudy.results.comparisons import ComparisonResult, exclude_bounds
from iostudy.study.model import Study
from iostudy.study.plan import Block
from iostudy.study.search import Search
from iostudy.units import format_seconds
from iostudy.visible import visible

_BEFORE_ALL = "making the target ready"


@contextmanager
def listener() -> Iterator[Listener]:
    """A listener that shows progress for as long as the context is open."""
    if not err.is_interactive:
        yield PlainProgress()
        return
    # Drawn when something happens and by no thread, which would take CPU time from a trial.
    with Live(View(_BEFORE_ALL), console=err, auto_refresh=False, transient=True) as live:
        yield LiveProgress(live)


class _Told(Listener):
    """What is worth a line that stays, on a terminal and off it."""

    def study_began(self, study: Study, seed: int, recorded: int) -> None:
        """How much there is, and what was there already."""
        say(_beginning(study, seed, recorded))

    def block_repeated(self, block: Block, attempt: int, reason: str) -> None:
        """Why the block does not count."""
        say(f"block {block.index} of {block.workload}: attempt {attempt} does not count ({reason})")

    def pause_began(self, seconds: float) -> None:
        """That nothing runs, and for how long."""
        say(f"waiting {format_seconds(seconds)} for a quieter machine before the next attempt")

    def workload_given_up(self, given_up: GivenUp) -> None:
        """Which workload; the line before it says why."""
        say(
            f"{given_up.workload} is given up in block {given_up.block}: none of "
            f"{given_up.attempts} attempts counts; `--resume` tries it again"
        )

    def candidate_refused(self, label: str, reason: str) -> None:
        """Why the search does without it."""
        say(f"left out: {label}: {reason}")

    def block_ended(self, progress: Progress) -> None:
        """What the noise lets the study decide."""
        if progress.outlook:
            say(progress.outlook)


class PlainProgress(_Told):
    """One line a block."""

    def checking_began(self, study: Study) -> None:
        """That the configurations are tried; it can take as long as a block."""
        say(_checking(study))

    def block_ended(self, progress: Progress) -> None:
        """How far the study is."""
        if progress.search is not None:
            say(f"round {progress.block.index} {progress.block.workload}: {_search(progress)}")
            return
        decided = sum(map(_is_decided, progress.comparisons))
        block = f"block {progress.block.index}/{progress.blocks} {progress.block.workload}"
        count = f"{decided} of {len(progress.comparisons)} comparisons decided"
        say(f"{block}: {count}, {_left(progress)}")
        super().block_ended(progress)


class LiveProgress(_Told):
    """What is being done, and a line for each workload, in place; gone at the end."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._view = View(_BEFORE_ALL)
        self._blocks = 0

    def checking_began(self, study: Study) -> None:
        """That the configurations are tried."""
        self._blocks = 0 if study.search is not None else study.decide.max_blocks
        self._show(replace(self._view, status=_checking(study)))

    def trial_began(self, row: TrialRow, trials: int) -> None:
        """Which trial it is; the configuration comes last, for it is cut if it is too long."""
        again = f", attempt {row.attempt}" if row.attempt > 1 else ""
        of_all = f"block {row.block}/{self._blocks}" if self._blocks else f"round {row.block}"
        block = f"{of_all} {row.workload}{again}"
        trial = f"trial {row.position} of {trials}: {row.configuration}"
        self._show(replace(self._view, status=f"{block}: {trial}"))

    def block_ended(self, progress: Progress) -> None:
        """Where its comparisons stand."""
        super().block_ended(progress)
        if progress.search is not None:
            self._show(replace(self._view, left=_search(progress)))
            return
        self._show(replace(self._view, left=_left(progress), comparisons=progress.comparisons))

    def _show(self, view: View) -> None:
        self._view = view
        self._live.update(view, refresh=True)


@dataclass(frozen=True)
class View:
    """The live lines, cut to the width and the height of the terminal.

    What is taller cannot be taken back: it would stay in the scrollback at every change.
    """

    status: str
    left: str = ""
    comparisons: Sequence[ComparisonResult] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        lines = [*filter(None, (self.status, self.left)), *_workload_lines(self.comparisons)]
        room = console.height - 1
        if len(lines) > room:
            lines = [*lines[: room - 1], f"and {len(lines) - room + 1} workloads more"]
        for line in lines:
            yield Text(visible(line), no_wrap=True, overflow="ellipsis")


def _workload_lines(current: Sequence[ComparisonResult]) -> Iterator[str]:
    for workload, group in groupby(current, key=lambda standing: standing.workload):
        yield f"{workload}: {_counts(own := list(group))}{_leader(own)}"


def _counts(own: Sequence[ComparisonResult]) -> str:
    """How many of a workload's comparisons are decided, and how: ``1 of 3 decided (1 better)``."""
    found = Counter(standing.comparison.verdict for standing in own if _is_decided(standing))
    verdicts = ", ".join(f"{found[verdict]} {verdict}" for verdict in Verdict if found[verdict])
    told = f"{found.total()} of {len(own)} decided"
    return f"{told} ({verdicts})" if verdicts else told


def _leader(own: Sequence[ComparisonResult]) -> str:
    """The best beside the baseline, with its change, as soon as that has an interval."""
    known = [s for s in exclude_bounds(own) if span(s.comparison.change_interval) is not None]
    if not known:
        return ""
    best = max(known, key=lambda standing: standing.comparison.estimate)
    change = wording.signed_percent(best.comparison.change)
    interval = wording.signed_span(span(best.comparison.change_interval))
    return f"; best: {change} {interval} {best.configuration}"


def _is_decided(standing: ComparisonResult) -> bool:
    return standing.comparison.verdict is not Verdict.INCONCLUSIVE


def _search(progress: Progress) -> str:
    """``12 candidates, 37 of 120 trials; ahead: +4.1 % after 2 rounds: 8192; at most 3 min left``.

    No interval stands with the change: who is ahead of many was lucky, too.
    """
    found = progress.search
    assert found is not None
    told = f"{wording.counted(found.candidates, 'candidate')}, {found.spent}"
    ahead = "nothing is ahead of the default"
    if found.incumbent:
        change = wording.signed_percent(as_fraction(found.log_ratio))
        ahead = f"ahead: {change} after {wording.counted(found.blocks, 'round')}: {found.incumbent}"
    return f"{told}; {ahead}; {_left(progress)}"


def _beginning(study: Study, seed: int, recorded: int) -> str:
    if study.search is not None:
        return _beginning_of_search(study, study.search, seed, recorded)
    configurations = wording.counted(len(study.configurations()), "configuration")
    trials = f"{configurations} x {wording.counted(len(study.workloads), 'workload')}"
    text = f"{study.name}: {trials}, up to {study.decide.max_blocks} blocks, seed {seed}"
    for label, reason in study.left_out.items():
        text += f"\nleft out: {label}: {reason}"
    return f"{text}; {recorded} trials are recorded already" if recorded else text


def _beginning_of_search(study: Study, search: Search, seed: int, recorded: int) -> str:
    parameters = wording.counted(len(search.space.parameters), "parameter")
    workloads = wording.counted(len(study.workloads), "workload")
    text = f"{study.name}: a search of {parameters} for {search.budget}, {workloads}, seed {seed}"
    return f"{text}; {recorded} trials are recorded already" if recorded else text


def _checking(study: Study) -> str:
    count = wording.counted(len(study.configurations()), "configuration")
    restarts = study.needs_hadoop and needs_restarts(study.factors)
    cost = ", with the cluster's daemons started anew for each" if restarts else ""
    return f"checking that the host takes {count}{cost}"


def _left(progress: Progress) -> str:
    return f"at most {format_seconds(progress.seconds_left)} left"
