"""Covariates of the trials or windows, and the workloads that a study gave up."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.report.base import Value
from iostudy.telemetry.covariates import Covariate


class CovariateShare(Value):
    """The mean of a covariate over the trials or windows of one configuration, as a fraction."""

    configuration: str
    """Label of the configuration."""
    trials: int
    """Number of blocks in which it is known, each with one trial or some windows."""
    share: FiniteFloat | None
    """Mean share, as a fraction; null if unknown."""


class Imbalance(Value):
    """A configuration with more, or less, of a covariate than the others."""

    configuration: str
    """Label of the configuration."""
    share: FiniteFloat
    """Its mean share in the blocks that it has in common with others, as a fraction."""
    others: FiniteFloat
    """Mean share of the others in the same blocks, as a fraction."""
    meaning: str
    """What the imbalance means for the verdict."""


class CovariateReport(Value):
    """One covariate on one workload."""

    workload: str
    """Label of the workload."""
    covariate: Covariate
    """The covariate."""
    shares: tuple[CovariateShare, ...]
    """Mean shares, in the study's order of configurations."""
    p: FiniteFloat | None
    """p-value of the randomisation test within blocks; null if no trials of a block differ."""
    testable: bool
    """Whether the number of blocks is large enough to show an imbalance."""
    imbalance: Imbalance | None
    """The flagged imbalance; null without one."""


class GivenUpWorkloadReport(Value):
    """A workload that the study gave up: all attempts at a block failed."""

    workload: str
    """Label of the workload."""
    block: int
    """Number of the block."""
    attempts: int
    """Number of attempts at it; 0 if it could not begin."""
    reason: str
    """Why the last attempt was not valid."""
    disturbed: bool
    """True if a limit of ``validity:`` was exceeded; false if a trial failed."""
