"""Sections, charts and documents as values for all renderers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from iostudy.report.text_table import TextTable


@dataclass(frozen=True)
class Chart:
    """A chart: its Vega-Lite specification, and its content in words.

    ``alternative`` describes it for those who cannot see it; ``legend`` explains it (may be
    empty).
    """

    spec: dict[str, Any]
    alternative: str
    legend: str


@dataclass(frozen=True)
class Section:
    """Charts, tables and notes on one topic.

    ``name`` is its address in the page: lower-case letters, digits and hyphens. ``leading_tables``
    precede the charts. ``folded`` tables are long or rarely needed; renderers may fold them.
    """

    name: str
    title: str
    notes: tuple[str, ...] = ()
    leading_tables: tuple[TextTable, ...] = ()
    charts: tuple[Chart, ...] = ()
    tables: tuple[TextTable, ...] = ()
    folded: tuple[TextTable, ...] = ()


@dataclass(frozen=True)
class Listing:
    """A verbatim text; ``language`` selects its highlighting."""

    title: str
    text: str
    language: str


@dataclass(frozen=True)
class Document:
    """A document other than a report: notes first, then sections."""

    title: str
    notes: tuple[str, ...]
    sections: tuple[Section, ...]
    listing: Listing | None = None
