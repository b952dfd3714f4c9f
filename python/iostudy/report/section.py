"""A section of the report as values: what every format tells in its own way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from iostudy.report.columns import TextTable


@dataclass(frozen=True)
class Drawn:
    """A chart: its Vega-Lite specification, and its content in words.

    ``alternative`` says it to those who cannot see it, ``legend`` how to read it (may be empty).
    """

    spec: dict[str, Any]
    alternative: str
    legend: str


@dataclass(frozen=True)
class Section:
    """Charts and tables that belong together, and what has to be known to read them.

    ``name`` is its address in the page: lower-case letters, digits and hyphens. Tables that come
    ``first`` stand before the charts. Tables that are
    ``shut`` are long, or asked for by few: they are folded where a format can fold.
    """

    name: str
    title: str
    known: tuple[str, ...] = ()
    first: tuple[TextTable, ...] = ()
    drawn: tuple[Drawn, ...] = ()
    tables: tuple[TextTable, ...] = ()
    shut: tuple[TextTable, ...] = ()


@dataclass(frozen=True)
class Listing:
    """A text that is told line by line, as it is; ``language`` is that of its highlighting."""

    title: str
    text: str
    language: str


@dataclass(frozen=True)
class Document:
    """What is told on its own, beside the report of a study: paragraphs first, then sections."""

    title: str
    known: tuple[str, ...]
    sections: tuple[Section, ...]
    listing: Listing | None = None
