"""Tests of a section of values, rendered by every format."""

from __future__ import annotations

import io
import json
from html.parser import HTMLParser

import pytest
from rich.console import Console

from iostudy.report.render import html, markdown, terminal
from iostudy.report.section import Chart, Section, TextTable, make_table
from iostudy.report.topics import registry
from tests.report.factory import report
from tests.report.render.test_html import Page

SPEC = {"layer": [{"mark": "line", "encoding": {}}], "title": "a"}
SECTION = Section(
    name="curves",
    title="Scaling curves",
    notes=("Jobs at once & what they reach.",),
    draw=lambda: (Chart(SPEC, "none rises to 400 MiB/s", "Point: a mean."),),
    tables=(TextTable("knees", ("scheduler", "jobs"), [("none", "<40>")], names=1),),
    folded=(TextTable("every level", ("scheduler", "jobs", "MiB/s"), [("none", "20", "9")], 1),),
)


@pytest.fixture(autouse=True)
def _only_this(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "build_summary_sections", lambda _report: (SECTION,))


class TextParser(HTMLParser):
    """The text of every element, by its name; and charts by their ids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.labels: dict[str, str | None] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        attributes = dict(attrs)
        self.labels[attributes.get("id") or ""] = attributes.get("aria-label")

    def handle_data(self, data: str) -> None:
        for tag in self.open[-1:]:
            self.texts.setdefault(tag, []).append(data)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass


def test_the_page_has_its_charts_its_tables_and_an_entry_in_the_contents() -> None:
    text = html.render(report(blocks=2))
    page = TextParser(text)
    assert '<a href="#curves">Scaling curves</a>' in text
    assert "Scaling curves" in page.texts["h2"]
    assert page.labels["curves-1"] == "none rises to 400 MiB/s"
    assert json.loads(Page(text).unpacked("charts"))["charts"]["curves-1"] == SECTION.charts[0].spec
    assert page.texts["figcaption"][0] == "Point: a mean."
    assert "Jobs at once & what they reach." in page.texts["p"]
    assert "<40>" in page.texts["span"]
    assert "every level (1 row)" in page.texts["summary"]


def test_markdown_has_all_tables_and_collapses_details() -> None:
    text = markdown.render(report(blocks=2))
    assert "## Scaling curves\n\nJobs at once \\& what they reach.\n\nknees:\n\n| scheduler" in text
    assert "<details><summary>every level</summary>\n\n| scheduler | jobs | MiB/s |" in text


def test_terminal_has_all_tables() -> None:
    console = Console(file=io.StringIO(), width=100)
    console.print(terminal.render(report(blocks=2)))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "<40>" in text
    assert "every level" in text


def test_heads_of_a_table_may_be_equal() -> None:
    table = make_table([[("blocks", 1), ("blocks", "2")], [("blocks", 3), ("blocks", "4")]])
    assert table.heads == ("blocks", "blocks")
    assert table.rows == [("1", "2"), ("3", "4")]
