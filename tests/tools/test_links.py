"""Links of the documentation lead to existing files and headings, on the site too."""

import re
from functools import cache
from pathlib import Path

import pytest
from tools.docs.documents import ROOT

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


def without_code(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)


@cache
def anchors(page: Path) -> set[str]:
    text = without_code(page)
    headings = [
        re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    ]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_to_files_and_headings(page):
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        path, _, heading = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if "://" not in link and (
            not target.exists() or (heading and heading not in anchors(target))
        ):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_an_empty_line_precedes_each_heading(page):
    # The site's Markdown reads a heading right below a table as one more row of it.
    assert re.findall(r"^[^\n]+\n(#+ .*)$", without_code(page), re.MULTILINE) == []
