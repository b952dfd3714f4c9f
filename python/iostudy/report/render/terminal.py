"""Terminal renderer: rich renderables, plain text if the output is not a terminal.

Colour only repeats what a symbol and a word say already; rich leaves it out where NO_COLOR is set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rich.console import Group, OverflowMethod, RenderableType
from rich.padding import Padding
from rich.text import Text

from iostudy.report.base import Step
from iostudy.report.section import DIFFERENCE_TITLE, Document, Section, TextTable
from iostudy.report.topics import registry
from iostudy.report.topics.verdicts import build_verdict_table, explain_marks, list_verdicts
from iostudy.report.values import Report
from iostudy.visible import visible


def render(report: Report) -> RenderableType:
    """Render the whole report: answer, verdicts, next steps, and all sections with their tables."""
    tables = (build_verdict_table(table, report.noun) for table in list_verdicts(report.workloads))
    marks = filter(None, [explain_marks(list_verdicts(report.workloads))])
    dim = (*marks, *(f"note: {note}" for note in report.notes))
    workloads = (
        _section(section, f"{workload.label}: ")
        for workload in report.workloads
        for section in registry.build_workload_sections(workload, report)
    )
    return Group(
        _text(report.headline, style="bold"),
        Text(),
        *(Padding(_text(sentence), (0, 1)) for sentence in report.answer),
        *(line for step in report.next_steps for line in _step(step)),
        Text(),
        *map(TextTable.make_visible, tables),
        *(Padding(_text(text, style="dim"), (0, 1)) for text in dim),
        Text(),
        *map(_section, registry.build_summary_sections(report)),
        *workloads,
        *map(_section, registry.build_closing_sections(report)),
    )


def render_document(document: Document) -> RenderableType:
    """Render a document other than a report; what is folded is left to other forms."""
    known = (Padding(Text(text), (0, 1)) for text in document.notes)
    titled = (Text(DIFFERENCE_TITLE, style="bold"), Text(document.difference))
    listed = titled if document.difference else ()
    sections = (_section(replace(section, folded=())) for section in document.sections)
    return Group(Text(document.title, style="bold"), *known, Text(), *sections, *listed)


def _step(step: Step) -> Iterator[RenderableType]:
    yield Padding(_text(step.text), (0, 1))
    if step.command:
        yield Padding(_text(step.command, overflow="fold"), (0, 3))


def _section(section: Section, about: str = "") -> RenderableType:
    tables = (*section.leading_tables, *section.tables, *section.folded)
    return Group(
        _text(f"{about}{section.title}", style="bold"),
        *map(TextTable.make_visible, tables),
        *(Padding(_text(text, style="dim"), (0, 1)) for text in section.notes),
        Text(),
    )


def _text(text: str, style: str = "", overflow: OverflowMethod | None = None) -> Text:
    return Text(visible(text, keep="\n"), style=style, overflow=overflow)
