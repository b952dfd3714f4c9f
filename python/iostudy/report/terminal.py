"""The report in a terminal: rich renderables, which fall back to plain text off a terminal.

Colour only repeats what a symbol and a word say already; rich leaves it out where NO_COLOR is set.
"""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from iostudy.analysis.verdict import Verdict
from iostudy.report import wording
from iostudy.report.values import Report, Result, WorkloadTold

_STYLES = {
    Verdict.BETTER: "green",
    Verdict.WORSE: "red",
    Verdict.EQUIVALENT: "blue",
    Verdict.INCONCLUSIVE: "dim",
}

_CAPTION = "{unit}: mean of its own blocks; against {baseline}: paired, in the blocks both have run"


def render(report: Report) -> RenderableType:
    """A table per workload, then the sentences that answer the question."""
    tables = [workload_table(workload) for workload in report.workloads]
    sentences = [Padding(Text(sentence), (0, 1)) for sentence in report.answer]
    notes = [Padding(Text(f"note: {note}", style="dim"), (0, 1)) for note in report.notes]
    return Group(*tables, *sentences, *notes)


def workload_table(workload: WorkloadTold) -> Table:
    """Configuration, figure, change with its interval, verdict and blocks, done or under way."""
    table = Table(
        title=Text(_title(workload), style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    baseline = workload.results[0].configuration
    table.add_column("configuration", overflow="fold")
    table.add_column(Text(workload.figure.unit), justify="right", no_wrap=True)
    table.add_column(Text(f"against {baseline}"), justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    table.add_column("blocks", justify="right", overflow="fold")
    for result in workload.results:
        table.add_row(*_cells(result))
    if len({result.blocks for result in workload.results}) > 1:
        table.caption = Text(_CAPTION.format(unit=workload.figure.unit, baseline=baseline))
        table.caption_justify = "left"
    return table


def _cells(result: Result) -> tuple[Text, ...]:
    style = _STYLES[result.verdict] if result.verdict is not None else "dim"
    verdict = f"{wording.verdict_symbol(result)} {wording.verdict(result)}".strip()
    return (
        Text(result.configuration),
        Text(wording.significant(result.value)),
        Text("" if result.baseline else wording.change(result)),
        Text(verdict, style=style),
        Text(wording.blocks(result)),
    )


def _title(workload: WorkloadTold) -> str:
    better = "higher" if workload.figure.higher_is_better else "lower"
    return f"{workload.label}: {workload.figure.name}, {better} is better"
