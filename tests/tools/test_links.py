"""Links of the documentation lead to existing files and headings, on the site too."""

import re
from functools import cache
from pathlib import Path

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


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, heading = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return "://" in link or (target.exists() and (not heading or heading in anchors(target)))


def test_relative_links_lead_to_files_and_headings():
    links = [
        (page, link)
        for page in PAGES
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8"))
    ]
    assert links
    assert [link for link in links if not leads_somewhere(*link)] == []


def test_an_empty_line_precedes_each_heading():
    # The site's Markdown reads a heading right below a table as one more row of it.
    headings = {
        page: re.findall(r"^[^\n]+\n(#+ .*)$", without_code(page), re.MULTILINE) for page in PAGES
    }
    assert {page: found for page, found in headings.items() if found} == {}
