"""Published figures in the pages of field reports, and the ready-made studies that show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from iostudy.report.section import TextTable
from iostudy.report.topics.scaling import build_published_curves
from iostudy.study import library, reference
from iostudy.study.model import Study
from iostudy.study.parser import load
from iostudy.study.reference import Publication, PublishedFigure

_FOLDER = Path(__file__).resolve().parents[2] / "docs/field-reports"
_BEGIN, _END = "<!-- published figures: written by make docs -->\n", "<!-- end -->\n"
_ITEMS = "<!-- items: written by make docs -->\n"
_RESULTS = "<!-- results of {}: written by make field-reports -->\n"
_SCHEDULERS = ("none", "mq-deadline", "kyber", "bfq")
"""What a kernel of today offers."""
INDEX = "index"
_PAGES = {
    "hadoop-disk-tuning": "R1",
    "shared-home": "R3",
    "io-schedulers": "R4",
    "hep-storage": "R5",
}
RESULT_PAGES = {**{report: page for page, report in _PAGES.items()}, "R2": "../edit-log"}
"""The page with the results of each report."""


def write_index() -> str:
    """Return the index of field reports with its tables of studies and items."""
    text = _replace_in(_read("index"), _format_studies(), _BEGIN)
    return _replace_in(text, _format_items(), _ITEMS)


def write_pages() -> dict[str, partial[str]]:
    """Return the page of each report with its path: its published figures are in a table."""
    return {
        f"docs/field-reports/{page}.md": partial(_write_page, page, name)
        for page, name in _PAGES.items()
    }


def list_own_figures(study: Study) -> list[str]:
    """List the published figures that stand next to the study's own, with their configurations."""
    published = reference.get(study.reference or "")
    offered = {"block.scheduler": _SCHEDULERS}
    labels = {c.label for c in study.with_offered(offered).configurations()}
    names: dict[str, list[str]] = {}
    for figure in published.figures:
        counterparts = {figure.configuration, published.counterparts.get(figure.configuration)}
        if counterparts & labels and any(_is_measured(figure, published, study)):
            names.setdefault(figure.figure, []).append(figure.configuration)
    figures = (f"{figure} of {', '.join(rows)}" for figure, rows in names.items())
    curves = (
        f"curves of {curve.figure}"
        for workload in study.workloads
        for curve in build_published_curves(study, workload)
    )
    return [*figures, *dict.fromkeys(curves)]


def _is_measured(figure: PublishedFigure, published: Publication, study: Study) -> Iterator[bool]:
    for workload in study.workloads:
        has_load = figure.load in (None, getattr(workload.options, published.load, None))
        yield has_load and (figure.is_of(workload) or figure.is_modelled(workload))


def _write_page(page: str, name: str) -> str:
    published = reference.get(name)
    return _replace(page, _format_loads(published) if published.load else _format(published))


def _format(published: Publication) -> str:
    names = {figure.configuration: figure.workload for figure in published.figures}
    values = {(_title(row), row.configuration): f"{row.value:,g}" for row in published.figures}
    rows = [
        (title, *(values.get((title, name), "") for name in names))
        for title in dict.fromkeys(map(_title, published.figures))
    ]
    return _table(("", *(f"{name}, {workload}" for name, workload in names.items())), rows)


def _format_loads(published: Publication) -> str:
    loads = sorted({figure.load for figure in published.figures if figure.load is not None})
    values = {
        (_title(row), row.configuration, row.load): f"{row.value:,g}" for row in published.figures
    }
    rows = [
        (title, name, *(values[title, name, load] for load in loads))
        for title, name in dict.fromkeys((title, name) for title, name, _ in sorted(values))
    ]
    return _table(("", "", *(f"{load:g} {published.load}" for load in loads)), rows)


def _title(figure: PublishedFigure) -> str:
    return figure.figure if figure.unit == figure.figure else f"{figure.figure}, {figure.unit}"


def _format_studies() -> str:
    studies = ((name, load(library.find_study(name))) for name in library.names())
    rows = [
        (f"`{name}`", study.reference, "; ".join(figures))
        for name, study in studies
        if study.reference and (figures := list_own_figures(study))
    ]
    return _table(("study", "report", "published figures next to its own"), rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in (heads, *rows)]
    return "\n".join((lines[0], "|" + "---|" * len(heads), *lines[1:])) + "\n"


def write_results(page: str, name: str, circumstances: str, tables: Iterable[TextTable]) -> None:
    """Write a report's results on a page: a sentence on their circumstances, and tables."""
    parts = [f"{circumstances}\n"]
    for table in tables:
        rows = [[cell.replace("|", "\\|") for cell in row] for row in table.rows]
        parts += [f"**{table.title}**\n"] * bool(table.title) + [_table(table.heads, rows)]
    text = _replace(page, "\n".join(parts), _RESULTS.format(name))
    (_FOLDER / f"{page}.md").write_text(text, "utf-8")


def _format_items() -> str:
    rows = [
        (
            name,
            item.item.replace("|", "\\|"),
            ", ".join(f"`{study}`" for study in item.studies) or "none",
        )
        for name in reference.names()
        for item in reference.get(name).items
    ]
    return _table(("report", "item", "studies, the best first"), rows)


def _replace(page: str, table: str, begin: str = _BEGIN) -> str:
    return _replace_in(_read(page), table, begin)


def _read(page: str) -> str:
    return (_FOLDER / f"{page}.md").read_text("utf-8")


def _replace_in(text: str, table: str, begin: str) -> str:
    before, _, rest = text.partition(begin)
    return before + begin + table + _END + rest.partition(_END)[2]
