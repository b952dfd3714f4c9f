"""Progress of a running study on stderr: live lines on a terminal, else plain lines."""

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
from iostudy.execution.switchback.pilot import pilot_seconds
from iostudy.ledger.abandoned_workloads import AbandonedWorkload
from iostudy.ledger.rows import PilotRow, TrialRow
from iostudy.node.clusters import needs_restarts
from iostudy.report.finite import build_span
from iostudy.report.formatting import format_count, format_interval, format_signed_percent
from iostudy.report.topics.switchback.text import describe_plan
from iostudy.results.comparisons import ComparisonResult, exclude_bounds
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.plan import Block
from iostudy.study.search import Search
from iostudy.units import format_seconds
from iostudy.visible import visible

_PREPARING = "preparing the target"


@contextmanager
def show_progress() -> Iterator[Listener]:
    """A listener that shows progress for as long as the context is open."""
    if not err.is_interactive:
        yield PlainProgress()
        return
    # Drawn when something happens and by no thread, which would take CPU time from a trial.
    with Live(View(_PREPARING), console=err, auto_refresh=False, transient=True) as live:
        yield LiveProgress(live)


class _EventLines(Listener):
    """Listener that prints a permanent line for each important event."""

    def study_began(self, study: Study, seed: int, recorded: int) -> None:
        """Print the size of the study and its recorded trials."""
        say(_format_start(study, seed, recorded))

    def pilot_began(self, study: Study, request: WorkloadRequest) -> None:
        """Print the duration of a pilot."""
        say(f"pilot of {request.label}: {format_seconds(pilot_seconds(study.configurations()))}")

    def pilot_ended(self, pilot: PilotRow) -> None:
        """Print the windows that it chose, or why whole trials decide."""
        say(describe_plan(pilot))

    def block_repeated(self, block: Block, attempt: int, reason: str) -> None:
        """Print why the block is invalid."""
        say(f"block {block.index} of {block.workload}: attempt {attempt} does not count ({reason})")

    def pause_began(self, seconds: float) -> None:
        """Print the duration of a pause."""
        say(f"waiting {format_seconds(seconds)} for a quieter machine before the next attempt")

    def workload_given_up(self, given_up: AbandonedWorkload) -> None:
        """Print which workload; the previous line has the reason."""
        say(
            f"{given_up.workload} is given up in block {given_up.block}: none of "
            f"{given_up.attempts} attempts counts; `--resume` tries it again"
        )

    def candidate_refused(self, label: str, reason: str) -> None:
        """Print why the search excludes a candidate."""
        say(f"left out: {label}: {reason}")

    def block_ended(self, progress: Progress) -> None:
        """Print the minimum detectable effect."""
        if progress.power_estimate:
            say(progress.power_estimate)


class PlainProgress(_EventLines):
    """One line a block."""

    def checking_began(self, study: Study) -> None:
        """Print that the configurations are checked, which can take as long as a block."""
        say(_format_checking(study))

    def block_ended(self, progress: Progress) -> None:
        """Print the progress of the study."""
        if progress.search is not None:
            search = _format_search(progress)
            say(f"round {progress.block.index} {progress.block.workload}: {search}")
            return
        decided = sum(map(_is_decided, progress.comparisons))
        block = f"block {progress.block.index}/{progress.blocks} {progress.block.workload}"
        count = f"{decided} of {len(progress.comparisons)} comparisons decided"
        say(f"{block}: {count}, {_format_time_left(progress)}")
        super().block_ended(progress)


class LiveProgress(_EventLines):
    """Live status and a line per workload, removed at the end."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._view = View(_PREPARING)
        self._blocks = 0

    def checking_began(self, study: Study) -> None:
        """Show that the configurations are checked."""
        self._blocks = 0 if study.search is not None else study.decide.max_blocks
        self._show(replace(self._view, status=_format_checking(study)))

    def trial_began(self, row: TrialRow, trials: int) -> None:
        """Show the current trial; its configuration comes last, as long lines are cut."""
        again = f", attempt {row.attempt}" if row.attempt > 1 else ""
        of_all = f"block {row.block}/{self._blocks}" if self._blocks else f"round {row.block}"
        block = f"{of_all} {row.workload}{again}"
        trial = f"trial {row.position} of {trials}: {row.configuration}"
        self._show(replace(self._view, status=f"{block}: {trial}"))

    def block_ended(self, progress: Progress) -> None:
        """Show the current comparisons."""
        super().block_ended(progress)
        if progress.search is not None:
            self._show(replace(self._view, left=_format_search(progress)))
            return
        self._show(
            replace(self._view, left=_format_time_left(progress), comparisons=progress.comparisons)
        )

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
        lines = [*filter(None, (self.status, self.left)), *_format_workloads(self.comparisons)]
        room = console.height - 1
        if len(lines) > room:
            lines = [*lines[: room - 1], f"and {len(lines) - room + 1} workloads more"]
        for line in lines:
            yield Text(visible(line), no_wrap=True, overflow="ellipsis")


def _format_workloads(current: Sequence[ComparisonResult]) -> Iterator[str]:
    for workload, group in groupby(current, key=lambda result: result.workload):
        yield f"{workload}: {_format_counts(own := list(group))}{_format_best(own)}"


def _format_counts(own: Sequence[ComparisonResult]) -> str:
    """Count the decided comparisons of a workload: ``1 of 3 decided (1 better)``."""
    found = Counter(result.comparison.verdict for result in own if _is_decided(result))
    verdicts = ", ".join(f"{found[verdict]} {verdict}" for verdict in Verdict if found[verdict])
    text = f"{found.total()} of {len(own)} decided"
    return f"{text} ({verdicts})" if verdicts else text


def _format_best(own: Sequence[ComparisonResult]) -> str:
    """Return the best configuration and the baseline, with the change once it has an interval."""
    known = [s for s in exclude_bounds(own) if build_span(s.comparison.change_interval) is not None]
    if not known:
        return ""
    best = max(known, key=lambda result: result.comparison.estimate)
    change = format_signed_percent(best.comparison.change)
    interval = format_interval(build_span(best.comparison.change_interval))
    return f"; best: {change} {interval} {best.configuration}"


def _is_decided(result: ComparisonResult) -> bool:
    return result.comparison.verdict is not Verdict.INCONCLUSIVE


def _format_search(progress: Progress) -> str:
    """``12 candidates, 37 of 120 trials; ahead: +4.1 % after 2 rounds: 8192; at most 3 min left``.

    The change has no interval: the leader of many candidates was also lucky.
    """
    found = progress.search
    assert found is not None
    text = f"{format_count(found.candidates, 'candidate')}, {found.spent}"
    ahead = "no candidate leads the default"
    if found.incumbent:
        change = format_signed_percent(as_fraction(found.log_ratio))
        ahead = f"ahead: {change} after {format_count(found.blocks, 'round')}: {found.incumbent}"
    return f"{text}; {ahead}; {_format_time_left(progress)}"


def _format_start(study: Study, seed: int, recorded: int) -> str:
    if study.search is not None:
        return _format_search_start(study, study.search, seed, recorded)
    configurations = format_count(len(study.configurations()), "configuration")
    trials = f"{configurations} x {format_count(len(study.workloads), 'workload')}"
    text = f"{study.name}: {trials}, up to {study.decide.max_blocks} blocks, seed {seed}"
    for label, reason in study.left_out.items():
        text += f"\nleft out: {label}: {reason}"
    return f"{text}; {recorded} trials are recorded already" if recorded else text


def _format_search_start(study: Study, search: Search, seed: int, recorded: int) -> str:
    parameters = format_count(len(search.space.parameters), "parameter")
    workloads = format_count(len(study.workloads), "workload")
    text = f"{study.name}: a search of {parameters} for {search.budget}, {workloads}, seed {seed}"
    return f"{text}; {recorded} trials are recorded already" if recorded else text


def _format_checking(study: Study) -> str:
    count = format_count(len(study.configurations()), "configuration")
    restarts = study.needs_hadoop and needs_restarts(study.factors)
    cost = ", with a restart of the cluster's daemons for each" if restarts else ""
    return f"checking that the host takes {count}{cost}"


def _format_time_left(progress: Progress) -> str:
    return f"at most {format_seconds(progress.seconds_left)} left"
