"""Search space and budget of a search."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import PlainValidator

from iostudy import units
from iostudy.plugins import Mode
from iostudy.study.combinations import NamedConfiguration
from iostudy.study.model import Design, Study
from iostudy.study.names import scalar_text
from iostudy.study.problems import KeyPath
from iostudy_search.optimizer.space import Point, SearchSpace

_MAX_TRIALS = 1_000_000
"""Of a budget: at a second each they take 12 days."""
_MAX_BUDGET_SECONDS = 30 * 24 * 3600
"""A month; a host changes more in it than a candidate does."""
_BUDGET = "write trials or a time, such as 120 trials or 2h"
_TRIALS = re.compile(r"(\S+) trials?")

DEFAULT = "default"
"""The configuration that candidates are compared with: every parameter as the host has it."""

CONFLICTING_KEYS = ("factors", "configurations", "design", "baseline", "bounds", "refused")
"""Keys of a study that compares what its file names, and so of none that searches."""

DEFAULT_ONLY = (NamedConfiguration(DEFAULT, {}),)
"""The configurations of a search before its first candidate."""

SEARCH = Mode(
    "a search",
    comparisons="iostudy_search.state:compare_nothing",
    strategy="iostudy_search.strategy:STRATEGY",
    text="iostudy_search.text:TEXT",
    instead="compare its confirmation, the folder `confirmation` in it",
    restored="iostudy_search.result:restore_candidates",
    verdict_folder="iostudy_search.result:find_verdict_folder",
    power="iostudy_search.state:find_power_basis",
    report="iostudy_search.report:read_search_report",
)

SLOTS = 4
"""Candidates in a block: with more the default's share of the trials shrinks, but a block takes
longer, and disturbances of the machine meanwhile are not common to all of it."""


@dataclass(frozen=True)
class TrialBudget:
    """So many trials, those of the default included; only those that count are counted."""

    trials: int

    def __str__(self) -> str:
        return f"{self.trials} trials"


@dataclass(frozen=True)
class TimeBudget:
    """So many seconds of trials; only those that count are counted."""

    seconds: float

    def __str__(self) -> str:
        return f"{units.format_seconds(self.seconds)} of trials"


Budget = TrialBudget | TimeBudget


def parse_budget(value: Any) -> Budget:
    """A number of trials or a time, as a study file has it; ValueError for anything else."""
    text = scalar_text(value).strip()
    match = _TRIALS.fullmatch(text)
    if match:
        trials = units.parse_count(match[1])
        if trials > _MAX_TRIALS:
            raise ValueError(f"too large: at most {_MAX_TRIALS} trials")
        return TrialBudget(trials)
    if text.isdecimal() and int(text):  # trials or seconds
        raise ValueError(_BUDGET)
    try:
        seconds = units.parse_seconds(text)
    except ValueError as error:
        raise ValueError(_BUDGET) from error
    if seconds <= 0:
        raise ValueError("more than no time is wanted")
    if seconds > _MAX_BUDGET_SECONDS:
        raise ValueError(f"too long: at most {units.format_exact_seconds(_MAX_BUDGET_SECONDS)}")
    return TimeBudget(seconds)


BudgetValue = Annotated[Budget, PlainValidator(parse_budget, json_schema_input_type=str)]
"""A budget in a study file."""


@dataclass(frozen=True)
class Search(Design):
    """The space, the budget, and the points that are tried before any other, by their labels.

    ``default`` is where the default lies in the space; None where it lies outside. ``worst``: the
    share that a candidate may lose on any workload; None: as much as it likes.
    """

    mode: ClassVar[Mode] = SEARCH
    factors_path: ClassVar[KeyPath] = ("search", "parameters")
    chosen: ClassVar[tuple[NamedConfiguration, ...]] = DEFAULT_ONLY
    space: SearchSpace
    budget: Budget
    tries: Mapping[str, Point]
    default: Point | None = None
    worst: float | None = None

    def set_together(self) -> frozenset[str]:
        """Return the parameters: each candidate writes all of them."""
        return frozenset(parameter.name for parameter in self.space.parameters)


def find_search(study: Study) -> Search | None:
    """Return the search of a study; None if it searches nothing."""
    return study.design if isinstance(study.design, Search) else None


def require_search(study: Study) -> Search:
    """Return the search of a study that has one."""
    search = find_search(study)
    assert search is not None
    return search


@dataclass(frozen=True)
class Candidate:
    """A point that is tried, as the ledger keeps it.

    ``number`` counts from 1; it enters in ``round``, counted from 1, too. ``refused`` says why it
    cannot be run here; empty where it can.
    """

    number: int
    round: int
    label: str
    point: Point
    refused: str = ""


@dataclass(frozen=True)
class SearchOutcome:
    """How a search ended: the label of the candidate that was ahead of the default, or None."""

    winner: str | None
