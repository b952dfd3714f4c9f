"""Search space and budget of a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from iostudy.analysis.search.space import Point, Space
from iostudy.study.combinations import NamedConfiguration
from iostudy.units import format_seconds

DEFAULT = "default"
"""The configuration that candidates are compared with: every parameter as the host has it."""

CONFLICTING_KEYS = ("factors", "configurations", "design", "baseline", "bounds", "refused")
"""Keys of a study that compares what its file names, and so of none that searches."""

DEFAULT_ONLY = (NamedConfiguration(DEFAULT, {}),)
"""The configurations of a search before its first candidate."""

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
        return f"{format_seconds(self.seconds)} of trials"


Budget = TrialBudget | TimeBudget


@dataclass(frozen=True)
class Search:
    """The space, the budget, and the points that are tried before any other, by their labels.

    ``default`` is where the default lies in the space; None where it lies outside. ``worst``: the
    share that a candidate may lose on any workload; None: as much as it likes.
    """

    space: Space
    budget: Budget
    tries: Mapping[str, Point]
    default: Point | None = None
    worst: float | None = None


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
class Outcome:
    """How a search ended: the label of the candidate that was ahead of the default, or None."""

    winner: str | None
