"""Covariates of the trials, and the workloads that a study gave up."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.report.base import Value
from iostudy.telemetry.covariates import Covariate


class CovariateShare(Value):
    """The mean of a covariate over the counted trials of one configuration, as a fraction."""

    configuration: str
    trials: int
    """The trials of which it is known."""
    share: FiniteFloat | None


class Imbalance(Value):
    """The configuration on which a covariate fell more, or less, than on the others."""

    configuration: str
    share: FiniteFloat
    """Its mean, as a fraction, over the blocks that it shares with others."""
    others: FiniteFloat
    """The mean of the others in the same blocks."""
    meaning: str
    """Its meaning for the verdict."""


class CovariateReport(Value):
    """One covariate on one workload."""

    workload: str
    covariate: Covariate
    shares: tuple[CovariateShare, ...]
    """Shares in the study's order of configurations."""
    p: FiniteFloat | None
    """p-value of the randomisation test within blocks; null if no trials of a block differ."""
    testable: bool
    """Whether so many blocks can show an imbalance at all."""
    imbalance: Imbalance | None
    """Null where none is flagged."""


class GivenUpWorkload(Value):
    """A workload of which no attempt at a block counted."""

    workload: str
    block: int
    attempts: int
    reason: str
    """Reason of the last attempt."""
    disturbed: bool
    """Whether a limit of ``validity:`` was exceeded; otherwise a trial failed by itself."""
