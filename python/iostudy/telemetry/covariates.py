"""Disturbances of a trial from outside the study, measured as covariates (pure).

A covariate never excludes a trial by default: see "Covariates" in docs/method/validity.md.
"""

from __future__ import annotations

from enum import StrEnum

from iostudy.telemetry.summary import TelemetrySummary


class Covariate(StrEnum):
    """A disturbance that is measured in every trial, as a share."""

    STEAL = "steal"
    FOREIGN_CPU = "foreign CPU"
    FOREIGN_IO = "foreign I/O"

    @property
    def whole(self) -> str:
        """The quantity of which it is a share."""
        match self:
            case Covariate.STEAL | Covariate.FOREIGN_CPU:
                return "the CPU time"
            case Covariate.FOREIGN_IO:
                return "the workload's own bytes"


FOREIGN_FIGURE = "%foreign"
"""The telemetry figure of foreign I/O, in percent of the workload's own bytes."""


def compute_covariates(summary: TelemetrySummary) -> dict[Covariate, float]:
    """Compute the covariates of a trial as fractions; an unknown one is absent.

    Sources: ``%steal`` of proc_stat(5); ``foreign_%cpu`` of all cores; `FOREIGN_FIGURE`, which
    `iostudy.execution.validity.foreign_io_share` computes when the trial ends.
    """
    machine, found = summary.machine, dict[Covariate, float]()
    if "%steal" in machine:
        found[Covariate.STEAL] = machine["%steal"] / 100
    if machine.keys() >= {"foreign_%cpu", "cores"}:
        found[Covariate.FOREIGN_CPU] = machine["foreign_%cpu"] / 100 / machine["cores"]
    if FOREIGN_FIGURE in machine:
        found[Covariate.FOREIGN_IO] = machine[FOREIGN_FIGURE] / 100
    return found
