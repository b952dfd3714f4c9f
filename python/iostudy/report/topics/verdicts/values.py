"""Results of workloads and configurations."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.analysis.series import Flag
from iostudy.analysis.verdict import Verdict
from iostudy.report.base import Span, Value


class ConfigurationReport(Value):
    """A configuration: one level per factor."""

    label: str
    """Label of the configuration."""
    baseline: bool
    """Whether it is the baseline."""
    settings: dict[str, str]
    """Requested values of settings of the host, by name."""
    options: dict[str, str]
    """Requested values of workload options, by name."""
    read_back: dict[str, tuple[str, ...]]
    """Actual values in its trials, by name and place of each setting; several if they varied."""


class Result(Value):
    """Comparison of a configuration with the baseline on one workload.

    The baseline itself has a mean and no comparison.
    """

    configuration: str
    """Label of the configuration."""
    baseline: bool
    """Whether it is the baseline."""
    bound: bool = False
    """Whether it is a bound: it shows what is possible, and cannot be recommended."""
    blocks: int
    """Number of counted blocks shared with the baseline; for the baseline all of its own."""
    value: FiniteFloat | None
    """Geometric mean over those blocks, in the figure's unit; null if unknown."""
    simulator_error: str = ""
    """Largest error of the simulator's throughput under this configuration, in words; empty for a
    measured figure."""
    change: FiniteFloat | None = None
    """Change of the figure against the baseline, as a fraction; null if unknown."""
    interval: Span | None = None
    """Repeated confidence interval of the change, as fractions; null if unknown."""
    robust_change: FiniteFloat | None = None
    """Hodges-Lehmann estimate of the change, robust against outliers; null if unknown."""
    robust_interval: Span | None = None
    """Repeated confidence interval of the change by signed ranks, as fractions; null if unknown."""
    verdict: Verdict | None = None
    """Verdict by the interval and the margin; null for the baseline."""
    by_margin: bool = False
    """Whether the whole interval lies beyond the margin."""
    fragile: bool = False
    """Whether the robust interval gives another verdict."""
    futile: bool = False
    """Whether the comparison ended early without a verdict: further blocks had little chance of
    one."""
    blocks_needed: int | None = None
    """Estimated blocks in all for a verdict of an inconclusive comparison; null otherwise."""
    flags: tuple[Flag, ...] = ()
    """Violated assumptions of the verdict, found in the paired log-ratios."""

    def has_ended(self, max_blocks: int) -> bool:
        """Return whether no further block can change it."""
        decided = self.verdict not in (None, Verdict.INCONCLUSIVE)
        return decided or self.futile or self.blocks >= max_blocks
