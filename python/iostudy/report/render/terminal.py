"""Terminal renderer: rich renderables, plain text if the output is not a terminal.

Colour only repeats what a symbol and a word say already; rich leaves it out where NO_COLOR is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from rich import box
from rich.console import (
    Console,
    ConsoleOptions,
    Group,
    JustifyMethod,
    OverflowMethod,
    RenderableType,
)
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from iostudy.analysis.verdict import Verdict
from iostudy.report.formatting import (
    format_against,
    format_count,
    format_signed_change,
    join_words,
)
from iostudy.report.section import Document, Section
from iostudy.report.text_table import FittingTable, TextTable
from iostudy.report.topics import registry
from iostudy.report.topics.reference.text import (
    format_own_change,
    format_own_value,
    format_published_value,
    introduce_reference,
)
from iostudy.report.topics.reference.values import PublishedFigureReport, ReferenceReport
from iostudy.report.topics.verdicts.text import (
    choose_verdict_symbol,
    format_blocks,
    format_blocks_legend,
    format_change,
    format_slow_runs,
    format_value,
    format_verdict,
)
from iostudy.report.topics.verdicts.values import Result
from iostudy.report.values import Report, Step, WorkloadReport
from iostudy.units import format_percent
from iostudy.visible import visible

VERDICT_STYLES = {
    Verdict.BETTER: "green",
    Verdict.WORSE: "red",
    Verdict.EQUIVALENT: "blue",
    Verdict.NOT_WORSE: "blue",
    Verdict.NOT_BETTER: "blue",
    Verdict.INCONCLUSIVE: "dim",
}

_UNLIMITED = 10_000
_COLUMNS = (6, 5, 4)
"""Columns of a table of verdicts: configuration, figure, change, verdict, slow runs, blocks; the
last ones are left out in a narrow terminal."""
_INTERVAL_WIDTH = 8
"""Of the longest word of a change with its interval: ``[-14.6,``."""
_SHARED = "{unit}: mean over all own blocks; {against}: paired, over common blocks"


def render(report: Report) -> RenderableType:
    """Render the summary and the details of all workloads."""
    shut = (
        _render_tables(own.title, own.folded, ())
        for own in registry.build_summary_sections(report)
        if own.folded
    )
    details = (_details(workload, report) for workload in report.workloads)
    return Group(render_summary(report), Text(), *shut, *details)


def render_document(document: Document) -> RenderableType:
    """Render a document other than a report."""
    known = (Padding(Text(text), (0, 1)) for text in document.notes)
    listing = document.listing
    listed = (Text(listing.title, style="bold"), Text(listing.text)) if listing else ()
    sections = (
        _render_tables(own.title, (*own.leading_tables, *own.tables), own.notes)
        for own in document.sections
    )
    return Group(Text(document.title, style="bold"), *known, Text(), *sections, *listed)


def render_summary(report: Report) -> RenderableType:
    """The answer, a table per workload, what it means, what to do, and what others published."""
    verdicts = [render_workload_table(workload) for workload in report.workloads]
    legend = format_blocks_legend(r for workload in report.workloads for r in workload.results)
    legends = [Padding(_text(legend, style="dim"), (0, 1, 1, 1))] if legend else []
    sections = map(_section, registry.build_summary_sections(report))
    sentences = [Padding(_text(sentence), (0, 1)) for sentence in report.answer]
    next_steps = (line for step in report.next_steps for line in _step(step))
    notes = [Padding(_text(f"note: {note}", style="dim"), (0, 1)) for note in report.notes]
    published = [_reference(report.reference)] if report.reference else []
    return Group(
        _text(report.headline, style="bold"),
        Text(),
        *verdicts,
        *legends,
        *sections,
        *sentences,
        *next_steps,
        *notes,
        *published,
    )


def _step(step: Step) -> Iterator[RenderableType]:
    yield Padding(_text(step.text), (0, 1))
    if step.command:
        yield Padding(_text(step.command, overflow="fold"), (0, 3))


def _section(section: Section) -> RenderableType:
    """Return the summary of a section and a hint to the details."""
    more = [*_counted_charts(section), *(_title_of(section, table) for table in section.folded)]
    hint = (f"Also in report.html: {join_words(more)}.",) if more else ()
    return _render_tables(
        section.title, (*section.leading_tables, *section.tables), (*section.notes, *hint)
    )


def _counted_charts(section: Section) -> list[str]:
    return [format_count(len(section.charts), "chart")] if section.charts else []


def _title_of(section: Section, table: TextTable) -> str:
    return table.title or section.title


def _render_tables(title: str, shown: Iterable[TextTable], about: Iterable[str]) -> RenderableType:
    texts_report = (FittingTable("", _visible(table)) for table in shown)
    texts = (Padding(_text(text, style="dim"), (0, 1)) for text in about)
    return Group(_text(title, style="bold"), *texts_report, *texts, Text())


def render_workload_table(workload: WorkloadReport) -> RenderableType:
    """Configuration, figure, change with its interval, verdict and blocks, done or under way."""
    return _Fitting(workload)


@dataclass(frozen=True)
class _Fitting:
    """A table, with fewer columns in a narrow terminal, or a paragraph for each configuration."""

    workload: WorkloadReport

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        widest = options.update(width=_UNLIMITED)
        for columns in _COLUMNS:
            table = _table(self.workload, columns)
            if Measurement.get(console, widest, table).minimum <= options.max_width:
                yield table
                return
        yield _paragraphs(self.workload)


def _table(workload: WorkloadReport, columns: int) -> Table:
    """The first columns of the table. Only a configuration may wrap, between its levels."""
    table = Table(
        title=_text(_title(workload), style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
        caption=_text("\n".join(_captions(workload))) if _captions(workload) else None,
        caption_justify="left",
    )
    rows = [_cells(result)[:columns] for result in workload.results]
    table.add_column("configuration")
    heads = (workload.figure.unit, _against(workload), "verdict", "slow runs", "blocks")
    for place, head in enumerate(map(_text, heads[: columns - 1]), start=1):
        whole = max(text.cell_len for text in (head, *(row[place] for row in rows)))
        justify: JustifyMethod = "left" if head.plain == "verdict" else "right"
        table.add_column(head, justify=justify, min_width=whole, no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def _cells(result: Result) -> tuple[Text, ...]:
    return (
        _text(result.configuration),
        _text(format_value(result)),
        _text("" if result.baseline else format_change(result)),
        _verdict(result),
        _text(f"≤ {format_percent(result.slow.at_most)}" if result.slow else ""),
        _text(format_blocks(result)),
    )


def _details(workload: WorkloadReport, report: Report) -> RenderableType:
    texts = (
        _render_tables(
            f"{workload.label}: {own.title}",
            (*own.leading_tables, *own.tables, *own.folded),
            own.notes,
        )
        for own in registry.build_workload_sections(workload, report)
    )
    return Group(*texts)


def _reference(reference: ReferenceReport) -> RenderableType:
    """Return published figures next to the user's, and how to read them."""
    if not reference.compared:
        alone = f"{reference.name}: {introduce_reference(reference)}"
        return Padding(_text(alone, style="dim"), (0, 1))
    by_workload = groupby(reference.compared, key=lambda published: published.workload)
    tables = [
        _published(f"{name} compared with {reference.name}", own) for name, own in by_workload
    ]
    known = [f"- {text}" for text in (*reference.circumstances, *reference.caveats)]
    about = (introduce_reference(reference), *known)
    return Group(Text(), *tables, *(Padding(_text(text, style="dim"), (0, 1)) for text in about))


def _published(title: str, figures: Iterable[PublishedFigureReport]) -> Table:
    """A line for each figure, and one below it for each configuration."""
    table = Table(
        title=_text(title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("figure", no_wrap=True)
    for head in ("published", "change"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("own", justify="right", overflow="fold")
    table.add_column("own change", justify="right", overflow="fold", min_width=_INTERVAL_WIDTH)
    for figure, group in groupby(figures, key=lambda published: published.figure):
        table.add_row(_text(figure))
        for published in group:
            table.add_row(*map(_text, _published_cells(published)))
    return table


def _published_cells(published: PublishedFigureReport) -> tuple[str, ...]:
    return (
        f"  {published.called}",
        format_published_value(published),
        "" if published.baseline else format_signed_change(published.change),
        format_own_value(published),
        format_own_change(published),
    )


def _paragraphs(workload: WorkloadReport) -> RenderableType:
    texts = [paragraph for result in workload.results for paragraph in _paragraph(result, workload)]
    captions = [_text(caption, style="dim") for caption in _captions(workload)]
    return Group(_text(_title(workload), style="bold"), *texts, *captions, Text())


def _paragraph(result: Result, workload: WorkloadReport) -> Iterator[RenderableType]:
    value = f"{format_value(result)} {workload.figure.unit}"
    yield _text(result.configuration)
    yield _indented(_text(f"{value}, blocks: {format_blocks(result)}"))
    if not result.baseline:
        yield _indented(_text(f"{format_change(result)} {_against(workload)}"))
    yield _indented(_verdict(result))
    if slow := format_slow_runs(result):
        yield _indented(_text(f"slow runs: {slow}"))


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 2))


def _captions(workload: WorkloadReport) -> list[str]:
    shared = _SHARED.format(unit=workload.figure.unit, against=_against(workload))
    return [shared] if len({result.blocks for result in workload.results}) > 1 else []


def _against(workload: WorkloadReport) -> str:
    return format_against(workload.results[0].configuration)


def _verdict(result: Result) -> Text:
    style = VERDICT_STYLES[result.verdict] if result.verdict is not None else "dim"
    words = format_verdict(result, by_margin="by ≥ margin")
    return _text(f"{choose_verdict_symbol(result.verdict)} {words}".strip(), style=style)


def _title(workload: WorkloadReport) -> str:
    better = "higher" if workload.figure.higher_is_better else "lower"
    return f"{workload.label}: {workload.figure.name}, {better} is better"


def _visible(table: TextTable) -> TextTable:
    rows = [tuple(map(visible, row)) for row in table.rows]
    heads = tuple(map(visible, table.heads))
    return replace(table, title=visible(table.title), heads=heads, rows=rows)


def _text(text: str, style: str = "", overflow: OverflowMethod | None = None) -> Text:
    return Text(visible(text, keep="\n"), style=style, overflow=overflow)
