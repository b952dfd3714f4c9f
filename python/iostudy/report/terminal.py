"""The report in a terminal: rich renderables, which fall back to plain text off a terminal.

Colour only repeats what a symbol and a word say already; rich leaves it out where NO_COLOR is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from rich import box
from rich.console import Console, ConsoleOptions, Group, JustifyMethod, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from iostudy.analysis.verdict import Verdict
from iostudy.report import rank_tables, tables, wording
from iostudy.report.columns import FittingTable
from iostudy.report.values import (
    PublishedTold,
    RankingTold,
    ReferenceTold,
    Report,
    Result,
    WorkloadTold,
)

_STYLES = {
    Verdict.BETTER: "green",
    Verdict.WORSE: "red",
    Verdict.EQUIVALENT: "blue",
    Verdict.INCONCLUSIVE: "dim",
}

_UNLIMITED = 10_000
_SHARED = "{unit}: mean of its own blocks; {against}: paired, in the blocks both have run"


def render(report: Report) -> RenderableType:
    """All that is told: the summary, and what was measured beside the figures of the verdicts."""
    details = [_details(workload) for workload in report.workloads]
    return Group(summary(report), *details)


def summary(report: Report) -> RenderableType:
    """A table per workload, the sentences that answer the question, and what others published."""
    verdicts = [workload_table(workload) for workload in report.workloads]
    legend = wording.blocks_legend(r for workload in report.workloads for r in workload.results)
    legends = [Padding(Text(legend, style="dim"), (0, 1, 1, 1))] if legend else []
    ranking = [_ranking(report.ranking, report)] if report.ranking else []
    sentences = [Padding(Text(sentence), (0, 1)) for sentence in report.answer]
    notes = [Padding(Text(f"note: {note}", style="dim"), (0, 1)) for note in report.notes]
    published = [_reference(report.reference)] if report.reference else []
    return Group(*verdicts, *legends, *ranking, *sentences, *notes, *published)


def _ranking(told: RankingTold, report: Report) -> RenderableType:
    """All workloads together; each alone where they contradict each other."""
    together, alone = rank_tables.combined(told, report), rank_tables.alone(told, report)
    tables = [FittingTable(rank_tables.TITLE.lower(), together)]
    tables += [FittingTable("", alone)] if alone else []
    about = (*rank_tables.remarks(told, report), rank_tables.known(told, report))
    texts = (Padding(Text(text, style="dim"), (0, 1)) for text in about)
    return Group(*tables, *texts, Text())


def workload_table(workload: WorkloadTold) -> RenderableType:
    """Configuration, figure, change with its interval, verdict and blocks, done or under way."""
    return _Fitting(workload)


@dataclass(frozen=True)
class _Fitting:
    """A table, or a paragraph for each configuration where a table would have to cut words."""

    workload: WorkloadTold

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        table = _table(self.workload)
        widest = options.update(width=_UNLIMITED)
        fits = Measurement.get(console, widest, table).minimum <= options.max_width
        yield table if fits else _paragraphs(self.workload)


def _table(workload: WorkloadTold) -> Table:
    """Only a configuration may wrap, between its levels."""
    table = Table(
        title=Text(_title(workload), style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
        caption=Text("\n".join(_captions(workload))) if _captions(workload) else None,
        caption_justify="left",
    )
    rows = [_cells(result) for result in workload.results]
    table.add_column("configuration")
    heads = (workload.figure.unit, _against(workload), "verdict", "blocks")
    for place, head in enumerate(map(Text, heads), start=1):
        whole = max(text.cell_len for text in (head, *(row[place] for row in rows)))
        justify: JustifyMethod = "left" if head.plain == "verdict" else "right"
        table.add_column(head, justify=justify, min_width=whole, no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def _cells(result: Result) -> tuple[Text, ...]:
    return (
        Text(result.configuration),
        Text(wording.significant(result.value)),
        Text("" if result.baseline else wording.change(result)),
        _verdict(result),
        Text(wording.blocks(result)),
    )


def _details(workload: WorkloadTold) -> RenderableType:
    told: list[RenderableType] = []
    for section in tables.sections(workload):
        title = f"{workload.label}: {section.title}"
        told += [Text(), *(FittingTable(title, table) for table in section.tables)]
        told.append(Padding(Text(section.known, style="dim"), (0, 1)))
    return Group(*told)


def _reference(reference: ReferenceTold) -> RenderableType:
    """Published figures beside the user's own, and what has to be known to read them."""
    if not reference.compared:
        alone = f"{reference.name}: {wording.reference_alone(reference)}"
        return Padding(Text(alone, style="dim"), (0, 1))
    by_workload = groupby(reference.compared, key=lambda published: published.workload)
    tables = [_published(f"{name} beside {reference.name}", own) for name, own in by_workload]
    known = [f"- {text}" for text in (*reference.circumstances, *reference.caveats)]
    about = (wording.reference_intro(reference), *known)
    return Group(Text(), *tables, *(Padding(Text(text, style="dim"), (0, 1)) for text in about))


def _published(title: str, told: Iterable[PublishedTold]) -> Table:
    """A line for each figure, and one below it for each configuration."""
    table = Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("figure", no_wrap=True)
    for head in ("published", "change", "own"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("own change", justify="right")
    for figure, group in groupby(told, key=lambda published: published.figure):
        table.add_row(Text(figure))
        for published in group:
            table.add_row(*map(Text, _published_cells(published)))
    return table


def _published_cells(published: PublishedTold) -> tuple[str, ...]:
    return (
        f"  {published.configuration}",
        wording.published_value(published),
        "" if published.baseline else wording.signed_percent(published.change),
        wording.own_value(published),
        wording.own_change(published),
    )


def _paragraphs(workload: WorkloadTold) -> RenderableType:
    told = [paragraph for result in workload.results for paragraph in _paragraph(result, workload)]
    captions = [Text(caption, style="dim") for caption in _captions(workload)]
    return Group(Text(_title(workload), style="bold"), *told, *captions, Text())


def _paragraph(result: Result, workload: WorkloadTold) -> Iterator[RenderableType]:
    value = f"{wording.significant(result.value)} {workload.figure.unit}"
    yield Text(result.configuration)
    yield _indented(Text(f"{value}, blocks: {wording.blocks(result)}"))
    if not result.baseline:
        yield _indented(Text(f"{wording.change(result)} {_against(workload)}"))
    yield _indented(_verdict(result))


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 2))


def _captions(workload: WorkloadTold) -> list[str]:
    shared = _SHARED.format(unit=workload.figure.unit, against=_against(workload))
    return [shared] if len({result.blocks for result in workload.results}) > 1 else []


def _against(workload: WorkloadTold) -> str:
    return wording.against(workload.results[0].configuration)


def _verdict(result: Result) -> Text:
    style = _STYLES[result.verdict] if result.verdict is not None else "dim"
    words = wording.verdict(result, by_margin="by ≥ margin")
    return Text(f"{wording.verdict_symbol(result)} {words}".strip(), style=style)


def _title(workload: WorkloadTold) -> str:
    better = "higher" if workload.figure.higher_is_better else "lower"
    return f"{workload.label}: {workload.figure.name}, {better} is better"
