"""Publication as a document for every renderer."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.report.section import Document, Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.reference.text import format_published_change, format_published_value
from iostudy.report.topics.reference.values import PublishedFigureReport, ReferenceReport

PUBLISHED_NOTE = (
    "Figures of another machine, as published: no verdict, check or test uses them. "
    "`iostudy report DIR --reference {name}` compares a study's own figures with them."
)


def build_reference_document(reference: ReferenceReport) -> Document:
    """The figures first, then what has to be known to read them."""
    return Document(
        title=f"{reference.name}: {reference.title}",
        notes=(
            f"{reference.kind}, {reference.source}.",
            PUBLISHED_NOTE.format(name=reference.name),
        ),
        sections=tuple(_sections(reference)),
    )


def _sections(reference: ReferenceReport) -> Iterator[Section]:
    yield Section(
        name="published",
        title="Published figures",
        notes=(f"Changes are against {reference.baseline}, where that has the figure.",),
        tables=(_figures(reference),),
    )
    if reference.orders:
        orders = tuple(f"{own.where}: {' > '.join(own.order)}" for own in reference.orders)
        yield Section(name="orders", title="Published ranking", notes=orders)
    yield Section(name="circumstances", title="Circumstances", notes=reference.circumstances)
    yield Section(name="caveats", title="Caveats", notes=reference.caveats)
    yield Section(name="open-questions", title="Open questions", notes=reference.open_questions)


def _figures(reference: ReferenceReport) -> TextTable:
    heads = ("workload", "figure", "configuration", "published", "change")
    return TextTable("", heads, [_row(figure) for figure in reference.figures], names=3)


def _row(figure: PublishedFigureReport) -> tuple[str, ...]:
    return (
        figure.workload,
        figure.figure,
        figure.configuration,
        format_published_value(figure),
        "" if figure.change is None else format_published_change(figure),
    )
