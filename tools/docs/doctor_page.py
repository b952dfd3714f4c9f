"""The chapter on rules in ``docs/doctor.md``, from the rules of `iostudy doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

from iostudy.host.advice.finding import AdviceRule
from iostudy.host.advice.registry import RULES

PAGE = Path(__file__).parents[2] / "docs/doctor.md"
WIDTH = 105
HEADING = "## The rules\n\n"


def page() -> str:
    """The page: its introduction by hand, then every rule with its certainty and source."""
    introduction, heading, _ = PAGE.read_text("utf-8").partition(HEADING)
    if not (introduction and heading):
        raise ValueError(f"{PAGE}: the introduction or the line {HEADING.strip()!r} is missing")
    return introduction + HEADING + "\n".join(line for rule in RULES for line in _lines(rule))


def _lines(rule: AdviceRule) -> Iterator[str]:
    setting = f", `{rule.setting}`" if rule.setting else ""
    yield f"### {rule.id}\n"
    yield _wrapped(f"**{rule.title}** ({rule.certainty}{setting}). {rule.why}")
    yield _wrapped(f"Source: {rule.source}.")


def _wrapped(text: str) -> str:
    return fill(text, WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"
