"""Progress of a running study on stderr: live lines on a terminal, else plain lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.live import Live
from rich.text import Text

from iostudy.analysis.verdict import Verdict
from iostudy.cli.comparison_lines import ComparisonTable
from iostudy.cli.console import err, say
from iostudy.cli.mode_text import find_mode_text
from iostudy.cli.streams import replace_unencodable
from iostudy.execution.listeners import Listener, Progress, WindowProgress
from iostudy.ledger.given_up_workloads import GivenUpWorkload
from iostudy.ledger.rows import PlanRow, RunRow, TrialRow
from iostudy.node.service import study_restarts_service
from iostudy.report.base import build_span
from iostudy.report.formatting import format_change_interval, format_count, join_words
from iostudy.report.topics.switchback import describe_plan
from iostudy.results.comparisons import ComparisonResult, exclude_bounds
from iostudy.study.mode import find_mode
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.plan import Block
from iostudy.telemetry.covariates import Covariate, compute_covariates
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.units import format_percent, format_seconds
from iostudy.visible import visible

_PREPARING = "preparing the target"


@contextmanager
def show_progress() -> Iterator[Listener]:
    """A listener that shows progress for as long as the context is open."""
    if not err.is_interactive:
        yield PlainProgress()
        return
    # Drawn when something happens and by no thread, which would take CPU time from a trial.
    with Live(LiveView(_PREPARING), console=err, auto_refresh=False, transient=True) as live:
        yield LiveProgress(live)


class HostCondition:
    """Means of the covariates over the telemetry so far, weighted by time."""

    def __init__(self) -> None:
        self._seconds: dict[Covariate, float] = {}
        self._sums: dict[Covariate, float] = {}

    def add(self, summary: TelemetrySummary) -> None:
        """Add the telemetry of an ended trial or run."""
        for covariate, share in compute_covariates(summary).items():
            self._seconds[covariate] = self._seconds.get(covariate, 0.0) + summary.seconds
            self._sums[covariate] = self._sums.get(covariate, 0.0) + share * summary.seconds

    def describe(self, margin: float) -> str:
        """``host disturbed: steal 7.1 %``: every share above the margin; empty without telemetry.

        A disturbance that takes less than the margin hardly moves a figure by more than that.
        """
        shares = {
            covariate: self._sums[covariate] / seconds
            for covariate, seconds in self._seconds.items()
            if seconds > 0
        }
        if not shares:
            return ""
        largest = sorted(shares, key=lambda covariate: shares[covariate], reverse=True)
        above = [name for name in largest if shares[name] > margin]
        named = ", ".join(
            f"{name} {format_percent(round(shares[name], 3))}" for name in above or largest[:1]
        )
        return f"host {'disturbed' if above else 'quiet'}: {named}"


class _EventLines(Listener):
    """Listener that prints a permanent line for each important event."""

    def study_began(
        self, study: Study, seed: int, recorded: int, current: Sequence[ComparisonResult]
    ) -> None:
        text = find_mode_text(study)
        line = f"{study.name}: {text.describe_size(study)}, seed {seed}"
        levels = study.refused_levels.items()
        left_out = {f"{name}={v}": why for name, refused in levels for v, why in refused.items()}
        for label, reason in {**left_out, **study.left_out}.items():
            line += f"\nleft out: {label}: {reason}"
        say(f"{line}; {recorded} {text.measured} are recorded already" if recorded else line)

    def windows_planned(self, plan: PlanRow) -> None:
        say(describe_plan(plan))

    def confirmation_began(
        self, labels: Mapping[str, Sequence[str]], blocks: int, recorded: int
    ) -> None:
        say(_format_confirmation(labels, blocks, recorded))

    def block_repeated(self, block: Block, attempt: int, reason: str) -> None:
        say(f"block {block.index} of {block.workload}: attempt {attempt} does not count ({reason})")

    def pause_began(self, seconds: float) -> None:
        say(f"waiting {format_seconds(seconds)} for a quieter machine before the next attempt")

    def time_limit_reached(self, seconds: float) -> None:
        say(f"the time limit of {format_seconds(seconds)} is reached")

    def workload_given_up(self, given_up: GivenUpWorkload) -> None:
        say(
            f"{given_up.workload} is given up in block {given_up.block}: {given_up.explanation}; "
            "`--resume` tries it again"
        )

    def configuration_refused(self, label: str, reason: str) -> None:
        say(f"left out: {label}: {reason}")

    def block_ended(self, progress: Progress) -> None:
        if progress.power_estimate:
            say(progress.power_estimate)


class PlainProgress(_EventLines):
    """One line a block."""

    def __init__(self) -> None:
        self._confirming = False

    def confirmation_began(
        self, labels: Mapping[str, Sequence[str]], blocks: int, recorded: int
    ) -> None:
        super().confirmation_began(labels, blocks, recorded)
        self._confirming = True

    def checking_began(self, study: Study) -> None:
        say(_format_checking(study))

    def block_ended(self, progress: Progress) -> None:
        if progress.status:
            block = f"round {progress.block.index} {progress.block.workload}"
            say(f"{block}: {_format_status(progress)}")
            return
        decided = sum(map(is_decided, progress.comparisons))
        block = f"block {progress.block.index}/{progress.blocks} {progress.block.workload}"
        if self._confirming:
            say(f"confirmation, {block}: {_format_time_left(progress.seconds_left)}")
            return
        count = f"{decided} of {len(progress.comparisons)} comparisons decided"
        say(f"{block}: {count}, {_format_time_left(progress.seconds_left)}")
        super().block_ended(progress)


class LiveProgress(_EventLines):
    """Live status and a line per comparison, removed at the end."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._view = LiveView(_PREPARING)
        self._host = HostCondition()
        self._study: Study | None = None
        self._blocks = 0
        self._phase = "trials"

    def checking_began(self, study: Study) -> None:
        self._study = study
        self._show(phase=_format_checking(study))

    def study_began(
        self, study: Study, seed: int, recorded: int, current: Sequence[ComparisonResult]
    ) -> None:
        super().study_began(study, seed, recorded, current)
        self._study = study
        self._blocks = study.last_block if find_mode(study).has_last_block else 0
        self._show(table=ComparisonTable(study, current))

    def windows_measured(self, request: WorkloadRequest, progress: WindowProgress) -> None:
        assert self._view.table is not None
        self._show(
            phase="windows",
            table=replace(self._view.table, results=progress.comparisons),
            left=_format_time_left(progress.seconds_left),
            detail=f"{progress.done} of {progress.blocks} blocks of {request.label}",
        )

    def run_ended(self, run: RunRow) -> None:
        self._add_telemetry(run.summary)

    def confirmation_began(
        self, labels: Mapping[str, Sequence[str]], blocks: int, recorded: int
    ) -> None:
        super().confirmation_began(labels, blocks, recorded)
        self._phase, self._blocks = "confirmation by whole trials", blocks
        self._show(left="")

    def trial_began(self, row: TrialRow, trials: int) -> None:
        again = f", attempt {row.attempt}" if row.attempt > 1 else ""
        of_all = f"block {row.block}/{self._blocks}" if self._blocks else f"round {row.block}"
        block = f"{of_all} {row.workload}{again}"
        trial = f"trial {row.position} of {trials}: {row.configuration}"
        self._show(phase=self._phase, detail=f"{block}: {trial}")

    def trial_ended(self, row: TrialRow) -> None:
        if row.summary is not None:
            self._add_telemetry(row.summary)

    def workload_given_up(self, given_up: GivenUpWorkload) -> None:
        super().workload_given_up(given_up)
        if (table := self._view.table) is not None:
            given = frozenset({*table.given_up, given_up.workload})
            self._show(table=replace(table, given_up=given))

    def block_ended(self, progress: Progress) -> None:
        super().block_ended(progress)
        if progress.status:
            self._show(status=_format_status(progress))
        elif (table := self._view.table) is not None:
            self._show(
                left=_format_time_left(progress.seconds_left),
                table=replace(table, results=progress.comparisons),
            )

    def _add_telemetry(self, summary: TelemetrySummary) -> None:
        self._host.add(summary)
        assert self._study is not None
        host = self._host.describe(self._study.decide.margin)
        self._view = replace(self._view, host=host)

    def _show(self, **changes: Any) -> None:
        self._view = replace(self._view, **changes)
        self._live.update(self._view, refresh=True)


def _format_status(progress: Progress) -> str:
    return f"{progress.status}; {_format_time_left(progress.seconds_left)}"


def _format_confirmation(labels: Mapping[str, Sequence[str]], blocks: int, recorded: int) -> str:
    confirmed = "; ".join(f"{join_words(names)} on {where}" for where, names in labels.items())
    trials = blocks * sum(1 + len(names) for names in labels.values())
    text = f"confirming {confirmed} by {trials} whole trials"
    return f"{text}; {recorded} trials are recorded already" if recorded else text


def _format_checking(study: Study) -> str:
    count = format_count(len(study.configurations()), "configuration")
    restart = ", with a restart of the cluster's daemons for each"
    cost = restart if study_restarts_service(study) else ""
    return f"checking that the host takes {count}{cost}"


def _format_time_left(seconds: float) -> str:
    return f"at most {format_seconds(seconds)} left"


@dataclass(frozen=True)
class LiveView:
    """The live lines, cut to the width and the height of the terminal.

    What is taller cannot be taken back: it would stay in the scrollback at every change. Without
    room for every comparison, each workload has a line.
    """

    phase: str
    left: str = ""
    host: str = ""
    detail: str = ""
    status: str = ""
    table: ComparisonTable | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        room = console.height - 1
        for line in self._lines(options.max_width, room):
            shown = _encodable(line, options.encoding)
            shown.no_wrap = True
            shown.overflow = "crop" if options.ascii_only else "ellipsis"
            yield shown

    def _lines(self, width: int, room: int) -> list[Text]:
        head = "; ".join(filter(None, (self.phase, self.left, self.host)))
        lines = [Text(visible(text)) for text in (head, self.detail, self.status) if text]
        if self.table is None:
            return lines[:room]
        if len(lines) + self.table.height <= room:
            return [*lines, *self.table.lines(width)]
        lines += [Text(visible(text)) for text in _format_workloads(self.table.results)]
        if len(lines) > room:
            more = Text(f"and {len(lines) - room + 1} workloads more")
            return [*lines[: room - 1], more]
        return lines


def is_decided(result: ComparisonResult) -> bool:
    """Return whether a comparison has a final verdict."""
    return result.comparison.verdict.is_final


def _encodable(line: Text, encoding: str) -> Text:
    """The line in characters that the terminal can print; other ones would change its width."""
    if (text := replace_unencodable(line.plain, encoding)) == line.plain:
        return line
    return Text(text, spans=line.spans if len(text) == len(line.plain) else [])


def _format_workloads(current: Sequence[ComparisonResult]) -> Iterator[str]:
    for title, group in groupby(current, key=lambda result: result.title):
        yield f"{title}: {_format_counts(rows := list(group))}{_format_best(rows)}"


def _format_counts(results: Sequence[ComparisonResult]) -> str:
    """Count the decided comparisons of a workload: ``1 of 3 decided (1 better)``."""
    counts = Counter(result.comparison.verdict for result in results if is_decided(result))
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    text = f"{counts.total()} of {len(results)} decided"
    return f"{text} ({verdicts})" if verdicts else text


def _format_best(results: Sequence[ComparisonResult]) -> str:
    """Return the best configuration and the baseline, with the change once it has an interval."""
    shown = [
        s for s in exclude_bounds(results) if build_span(s.comparison.change_interval) is not None
    ]
    if not shown:
        return ""
    best = max(shown, key=lambda result: result.comparison.estimate)
    interval = build_span(best.comparison.change_interval)
    change = format_change_interval(best.comparison.change, interval)
    interim = "" if is_decided(best) else "interim "
    return f"; best: {interim}{change} {best.configuration}"
