"""A publication by itself as a document, which every format tells in its own way."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.report import wording
from iostudy.report.columns import TextTable
from iostudy.report.section import Document, Section
from iostudy.report.values.reference import PublishedTold, ReferenceTold

BESIDE = (
    "Another machine's figures, as they were published: no verdict, no check and no test rests on "
    "them. `iostudy report DIR --reference {name}` shows a study's own figures beside them."
)


def document(told: ReferenceTold) -> Document:
    """The figures first, then what has to be known to read them."""
    return Document(
        title=f"{told.name}: {told.title}",
        known=(f"{told.kind}, {told.source}.", BESIDE.format(name=told.name)),
        sections=tuple(_sections(told)),
    )


def _sections(told: ReferenceTold) -> Iterator[Section]:
    yield Section(
        name="published",
        title="Published figures",
        known=(f"Changes are against {told.baseline}, where that has the figure.",),
        tables=(_figures(told),),
    )
    if told.orders:
        orders = tuple(f"{own.where}: {' > '.join(own.order)}" for own in told.orders)
        yield Section(name="orders", title="As they ranked them", known=orders)
    yield Section(name="circumstances", title="Circumstances", known=told.circumstances)
    yield Section(name="caveats", title="What to be careful about", known=told.caveats)
    yield Section(name="open-questions", title="Left open there", known=told.open_questions)


def _figures(told: ReferenceTold) -> TextTable:
    heads = ("workload", "figure", "configuration", "published", "change")
    return TextTable("", heads, [_row(figure) for figure in told.figures], names=3)


def _row(figure: PublishedTold) -> tuple[str, ...]:
    return (
        figure.workload,
        figure.figure,
        figure.configuration,
        wording.published_value(figure),
        "" if figure.change is None else wording.published_change(figure),
    )
