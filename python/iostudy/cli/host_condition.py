"""Disturbances of a running study, from the telemetry of its ended trials and runs."""

from __future__ import annotations

from iostudy.telemetry.covariates import Covariate, compute_covariates
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.units import format_percent


class HostCondition:
    """Means of the covariates over the telemetry so far, weighted by time."""

    def __init__(self) -> None:
        self._seconds: dict[Covariate, float] = {}
        self._sums: dict[Covariate, float] = {}

    def add(self, summary: TelemetrySummary) -> None:
        """Add the telemetry of an ended trial or run."""
        for covariate, share in compute_covariates(summary).items():
            self._seconds[covariate] = self._seconds.get(covariate, 0.0) + summary.seconds
            self._sums[covariate] = self._sums.get(covariate, 0.0) + share * summary.seconds

    def describe(self, margin: float) -> str:
        """``host disturbed: steal 7.1 %``: every share above the margin; empty without telemetry.

        A disturbance that takes less than the margin hardly moves a figure by more than that.
        """
        shares = {
            covariate: self._sums[covariate] / seconds
            for covariate, seconds in self._seconds.items()
            if seconds > 0
        }
        if not shares:
            return ""
        largest = sorted(shares, key=lambda own: shares[own], reverse=True)
        above = [own for own in largest if shares[own] > margin]
        named = ", ".join(
            f"{own} {format_percent(round(shares[own], 3))}" for own in above or largest[:1]
        )
        return f"host {'disturbed' if above else 'quiet'}: {named}"
