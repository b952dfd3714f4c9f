"""How a running study shows itself on stderr: a live table, or plain lines off a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Group, RenderableType
from rich.live import Live

from iostudy.analysis.verdict import Verdict
from iostudy.cli.console import err, say
from iostudy.conduct.listeners import Listener
from iostudy.conduct.progress import Progress
from iostudy.conduct.standing import Standing
from iostudy.report import terminal
from iostudy.report.model import workloads_told
from iostudy.study.model import Study
from iostudy.study.plan import Block, Plan
from iostudy.units import format_seconds


@contextmanager
def listener() -> Iterator[Listener]:
    """A listener that shows progress for as long as the context is open."""
    if not err.is_terminal:
        yield PlainProgress()
        return
    with Live(console=err, auto_refresh=False, transient=True) as live:
        yield LiveProgress(live)


class PlainProgress(Listener):
    """One line a block."""

    def study_began(self, study: Study, plan: Plan, recorded: int) -> None:
        """How much there is, and what was there already."""
        say(_beginning(study, plan, recorded))

    def block_repeated(self, block: Block, attempt: int, reason: str) -> None:
        """Why the block does not count."""
        say(_repeated(block, attempt, reason))

    def block_ended(self, progress: Progress) -> None:
        """How far the study is."""
        _print_lines(progress)


class LiveProgress(Listener):
    """The same lines, with the table of verdicts below them."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._study: Study | None = None

    def study_began(self, study: Study, plan: Plan, recorded: int) -> None:
        """How much there is, and what was there already."""
        self._study = study
        say(_beginning(study, plan, recorded))

    def block_repeated(self, block: Block, attempt: int, reason: str) -> None:
        """Why the block does not count."""
        say(_repeated(block, attempt, reason))

    def block_ended(self, progress: Progress) -> None:
        """How far the study is, and where its comparisons stand."""
        assert self._study is not None
        _print_lines(progress)
        self._live.update(_table(self._study, progress.standings), refresh=True)


def _table(study: Study, current: Sequence[Standing]) -> RenderableType:
    return Group(*map(terminal.workload_table, workloads_told(study, current)))


def _beginning(study: Study, plan: Plan, recorded: int) -> str:
    trials = f"{len(study.configurations())} configurations x {len(study.workloads)} workloads"
    text = f"{study.name}: {trials}, up to {study.decide.max_blocks} blocks, seed {plan.seed}"
    for label, reason in study.left_out.items():
        text += f"\nleft out: {label}: {reason}"
    return f"{text}; {recorded} trials are recorded already" if recorded else text


def _repeated(block: Block, attempt: int, reason: str) -> str:
    return f"block {block.index} of {block.workload}: attempt {attempt} does not count ({reason})"


def _print_lines(progress: Progress) -> None:
    decided = sum(
        standing.comparison.verdict is not Verdict.INCONCLUSIVE for standing in progress.standings
    )
    text = (
        f"block {progress.block.index}/{progress.blocks} {progress.block.workload}: "
        f"{decided} of {len(progress.standings)} comparisons decided, "
        f"at most {format_seconds(progress.seconds_left)} left"
    )
    say(text)
    if progress.outlook:
        say(progress.outlook)
