"""The chapter on rules in docs/doctor.md. ``python -m tests.host.advice.documented`` writes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

from iostudy.host.advice.finding import Rule
from iostudy.host.advice.registry import RULES

DOCUMENT = Path(__file__).parents[3] / "docs" / "doctor.md"
WIDTH = 105
HEADING = "## The rules\n\n"


def chapter() -> str:
    """Every rule with what it says, how sure it is and who says so."""
    return HEADING + "\n".join(line for rule in RULES for line in _lines(rule))


def _lines(rule: Rule) -> Iterator[str]:
    setting = f", `{rule.setting}`" if rule.setting else ""
    yield f"### {rule.id}\n"
    yield _wrapped(f"**{rule.title}** ({rule.certainty}{setting}). {rule.why}")
    yield _wrapped(f"Source: {rule.source}.")


def _wrapped(text: str) -> str:
    return fill(text, WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"


if __name__ == "__main__":
    before = DOCUMENT.read_text().partition(HEADING)[0]
    DOCUMENT.write_text(before + chapter())
