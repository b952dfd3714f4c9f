"""Terminal renderer: rich renderables, plain text if the output is not a terminal.

Colour only repeats what a symbol and a word say already; rich leaves it out where NO_COLOR is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from rich import box
from rich.console import Console, ConsoleOptions, Group, OverflowMethod, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from iostudy.report.answer import Answer
from iostudy.report.base import Step
from iostudy.report.formatting import format_signed_change
from iostudy.report.render.answer_screen import lay_out
from iostudy.report.section import Document, FittingTable, Section, TextTable
from iostudy.report.topics import registry
from iostudy.report.topics.reference import (
    PublishedFigureReport,
    ReferenceReport,
    format_own_change,
    format_own_value,
    format_published_value,
    introduce_reference,
)
from iostudy.report.topics.verdicts import build_verdict_table, format_blocks_legend, list_verdicts
from iostudy.report.values import Report
from iostudy.visible import visible

_INTERVAL_WIDTH = 8
"""Of the longest word of a change with its interval: ``[-14.6,``."""


def render_answer(answer: Answer) -> RenderableType:
    """Render the answer on one screen, in the width of the terminal."""
    return _Screen(answer)


@dataclass(frozen=True)
class _Screen:
    answer: Answer

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        yield from lay_out(self.answer, options.max_width)


def render(report: Report) -> RenderableType:
    """Render the whole report: answer, verdicts, next steps, and all sections with their tables."""
    verdicts = list_verdicts(report.workloads)
    tables = (FittingTable("", _visible(build_verdict_table(each, report))) for each in verdicts)
    legend = format_blocks_legend(result for each in verdicts for result in each.results)
    dim = [*([legend] if legend else []), *(f"note: {note}" for note in report.notes)]
    workloads = (
        _section(own, f"{workload.label}: ")
        for workload in report.workloads
        for own in registry.build_workload_sections(workload, report)
    )
    return Group(
        _text(report.headline, style="bold"),
        Text(),
        *(Padding(_text(sentence), (0, 1)) for sentence in report.answer),
        *(line for step in report.next_steps for line in _step(step)),
        Text(),
        *tables,
        *(Padding(_text(text, style="dim"), (0, 1)) for text in dim),
        Text(),
        *map(_section, registry.build_summary_sections(report)),
        *workloads,
        *([_reference(report.reference)] if report.reference else []),
    )


def render_document(document: Document) -> RenderableType:
    """Render a document other than a report; what is folded is left to other forms."""
    known = (Padding(Text(text), (0, 1)) for text in document.notes)
    listing = document.listing
    listed = (Text(listing.title, style="bold"), Text(listing.text)) if listing else ()
    sections = (_section(replace(own, folded=())) for own in document.sections)
    return Group(Text(document.title, style="bold"), *known, Text(), *sections, *listed)


def _step(step: Step) -> Iterator[RenderableType]:
    yield Padding(_text(step.text), (0, 1))
    if step.command:
        yield Padding(_text(step.command, overflow="fold"), (0, 3))


def _section(section: Section, about: str = "") -> RenderableType:
    tables = (*section.leading_tables, *section.tables, *section.folded)
    return Group(
        _text(f"{about}{section.title}", style="bold"),
        *(FittingTable("", _visible(table)) for table in tables),
        *(Padding(_text(text, style="dim"), (0, 1)) for text in section.notes),
        Text(),
    )


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
            cells = (
                f"  {published.called}",
                format_published_value(published),
                "" if published.baseline else format_signed_change(published.change),
                format_own_value(published),
                format_own_change(published),
            )
            table.add_row(*map(_text, cells))
    return table


def _visible(table: TextTable) -> TextTable:
    rows = [tuple(map(visible, row)) for row in table.rows]
    heads = tuple(map(visible, table.heads))
    return replace(table, title=visible(table.title), heads=heads, rows=rows)


def _text(text: str, style: str = "", overflow: OverflowMethod | None = None) -> Text:
    return Text(visible(text, keep="\n"), style=style, overflow=overflow)
