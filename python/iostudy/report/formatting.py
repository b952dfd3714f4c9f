"""Formatting of numbers, changes, intervals and lists in reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from pydantic import JsonValue

from iostudy.ledger.given_up_workloads import GivenUpWorkload
from iostudy.report.base import Span, finite
from iostudy.results.comparisons import FIRST_LEVELS
from iostudy.study.combinations import Factor, find_labelling_factors
from iostudy.study.mode import find_mode
from iostudy.study.model import Study
from iostudy.study.names import short_names
from iostudy.units import (
    format_change_ends,
    format_relative_change,
    format_relative_interval,
    format_rounded_size,
    format_significant,
)

UNKNOWN = "–"
_BYTES = "_bytes"

_WORTH_WAITING = 8
"""Times as many blocks, as far as a study can be continued; more are not the first thing to try."""

MOST_BLOCKS = 1000
"""Largest useful estimate of needed blocks; beyond it the estimate is a guess."""
_LONGEST_IN_HEAD = 12


def format_figure(value: float | None) -> str:
    """Three significant digits without an exponent: 1234.5 -> ``1230``, 5.1 -> ``5.10``."""
    return UNKNOWN if value is None else format_significant(value)


def format_mean(value: float | None, interval: Span | None) -> str:
    """A figure with its interval, if it has one: ``512 [498, 526]``."""
    ends = f" [{format_figure(interval.low)}, {format_figure(interval.high)}]" if interval else ""
    return format_figure(value) + ends


def format_signed_change(fraction: float | None) -> str:
    """A change: ``-12.0 %``; above 100 % the ratio: ``30.0 x``."""
    return UNKNOWN if fraction is None else format_relative_change(fraction)


def format_interval(span: Span | None) -> str:
    """The interval of a change in percent."""
    return UNKNOWN if span is None else format_change_ends(span.low, span.high)


def format_against(baseline: str) -> str:
    """Return the head of a column of changes, with a long label shortened."""
    return f"against {baseline}" if len(baseline) <= _LONGEST_IN_HEAD else "against baseline"


def format_change_interval(change: float | None, interval: Span | None) -> str:
    """A change and its interval, whose ends are infinite where they are unknown."""
    if change is None:
        return UNKNOWN if interval is None else f"{UNKNOWN} {format_interval(interval)}"
    ends = (interval.low, interval.high) if interval else (-1.0, math.inf)
    return format_relative_interval(change, *ends)


def format_blocks_needed(number: int, about: str = "about ", more: str = ">") -> str:
    """Return the blocks that a decision probably needs: ``about 124``, ``>1000`` if impractical."""
    return f"{more}{MOST_BLOCKS}" if number > MOST_BLOCKS else f"{about}{number}"


def is_feasible_extension(needed: int, max_blocks: int) -> bool:
    """Whether a study of so many blocks is the first thing to try, after one of ``max_blocks``."""
    return needed <= _WORTH_WAITING * max_blocks


def describe_given_up(workload: GivenUpWorkload) -> str:
    """Describe a workload that a study gave up, with the reason and the remedy."""
    instead = (
        "Without limits in `validity:`, a new study reports disturbances and discards no trial for "
        "them."
        if workload.disturbed
        else "Fix the cause; --resume tries it again."
    )
    what = f"{workload.workload} was given up in block {workload.block}"
    return f"{what}: {workload.explanation}. {instead}"


def join_words(items: Sequence[str], word: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *most, last = items
    return f"{', '.join(most)} {word} {last}" if most else last


def format_count(number: int, noun: str) -> str:
    """``1 block``, ``5 blocks``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def format_fact_name(name: str, value: JsonValue) -> str:
    """The name of a circumstance: ``memory_bytes`` -> ``memory`` where its text has the unit."""
    return (name.removesuffix(_BYTES) if isinstance(value, int) else name).replace("_", " ")


def format_fact(value: JsonValue, name: str) -> str:
    """A circumstance that is no mapping, as text."""
    if isinstance(value, list):
        return ", ".join(format_fact(item, name) for item in value) or UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and name.endswith(_BYTES):
        return format_rounded_size(value)
    return UNKNOWN if value is None or value == "" else str(value)


def format_time(unix_seconds: float) -> str:
    """A time in UTC, to the second."""
    return datetime.fromtimestamp(unix_seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def finite_values(values: Mapping[str, float] | None) -> dict[str, float | None]:
    """A mapping of numbers, each finite or None."""
    return {name: finite(value) for name, value in (values or {}).items()}


def round_values(values: Mapping[str, float] | None) -> dict[str, float | None]:
    """Return `finite_values` rounded to six digits, the precision of kernel counters over a time.

    The other ten digits would be more than half of a report of thousands of trials.
    """
    return {name: round_value(value) for name, value in finite_values(values).items()}


def round_value(value: float | None) -> float | None:
    """Round to six digits, more than a screen or print shows."""
    return None if value is None else float(f"{value:.6g}")


SELF_NAMED = ("workload.run", "workload.job")
"""Factors whose levels name themselves: commands and job files."""
_WORDS = ("none", "all", "on", "off", "true", "false")
"""Labels that read as ordinary words of a sentence."""


def find_single_factor(study: Study) -> str:
    """Return the short name of the factor if labels have only its level.

    Empty if the study file names its configurations, if several factors label them, or if the
    levels name themselves.
    """
    if study.chosen or study.design is not None:
        return ""
    names = find_labelling_factors(study.factors)
    if len(names) != 1 or names[0] in SELF_NAMED:
        return ""
    return short_names(names)[names[0]]


def name_configuration(label: str, factor: str) -> str:
    """Name a configuration in a sentence: ``read_ahead_kb=1024``.

    ``factor`` is that of ``find_single_factor``; if it is empty, the label already names them.
    """
    return quote_label(f"{factor}={label}" if factor else label)


def quote_label(label: str) -> str:
    """Return a label, in quotation marks if it reads as several or as ordinary words."""
    apart = " " in label or "," in label or label in _WORDS
    return f"“{label}”" if apart else label


_NOUNS = {"block.scheduler": "scheduler", "workload.run": "command"}


def find_study_noun(study: Study) -> str:
    """Return the noun of what a study compares: ``level``, or that of its factor."""
    return "level" if find_mode(study).compares_levels else find_factor_noun(study.factors)


def find_baseline_label(study: Study) -> str:
    """Return the label of what a study compares with: the baseline, or the first levels."""
    return FIRST_LEVELS if find_mode(study).compares_levels else study.baseline.label


def find_factor_noun(factors: Sequence[Factor]) -> str:
    """Return the noun of the varied factor, after "no": ``scheduler``, ``direct value``."""
    names = find_labelling_factors(factors)
    if len(names) != 1:
        return "configuration"
    (name,) = names
    return _NOUNS.get(name, f"{name.rpartition('.')[2]} value")
