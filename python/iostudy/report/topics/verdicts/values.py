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


class SlowRunsReport(Value):
    """Runs that failed, or are worse than the configuration's median by over five margins."""

    slow: int
    """Number of slow runs."""
    runs: int
    """Number of runs."""
    at_most: FiniteFloat
    """Upper bound of the share of slow runs, at a confidence of 1 minus the study's risk."""


class SlowNoiseReport(Value):
    """How strongly a configuration feels the slow noise of the machine; 1 is as the baseline."""

    ratio: FiniteFloat | None
    """Ratio to the baseline; null if the baseline seems to feel none."""
    low: FiniteFloat
    """Lower end of its 95 % interval."""
    high: FiniteFloat | None
    """Upper end; null if the baseline may feel none."""


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
    """Geometric mean over those blocks without failed runs, in the figure's unit; null if
    unknown."""
    simulator_error: str = ""
    """Largest error of the simulator's throughput under this configuration, in words; empty for a
    measured figure."""
    change: FiniteFloat | None = None
    """Change of the figure of a typical run against the baseline, as a fraction; null if
    unknown."""
    interval: Span | None = None
    """Repeated confidence interval of the change, as fractions; null if unknown."""
    verdict: Verdict | None = None
    """Verdict by the interval and the margin; null for the baseline."""
    by_margin: bool = False
    """Whether the whole interval lies beyond the margin."""
    fragile: bool = False
    """Whether Student's t gives another verdict."""
    futile: bool = False
    """Whether the comparison ended early without a verdict: further blocks had little chance of
    one."""
    blocks_needed: int | None = None
    """Estimated blocks in all for a final verdict of a comparison without one; null otherwise."""
    slow: SlowRunsReport | None = None
    """Slow and failed runs over those blocks; null if unknown."""
    not_worse: bool = False
    """Whether it is shown not to be worse by the margin, at the level of the study's goal."""
    guarded: bool = False
    """Whether it has shown all that the goal wants of it: not to be worse by the margin."""
    slow_noise: SlowNoiseReport | None = None
    """How strongly it feels slow noise; null for few blocks, and without such noise."""
    flags: tuple[Flag, ...] = ()
    """Violated assumptions of the verdict, found in the paired log-ratios."""

    def has_ended(self, max_blocks: int) -> bool:
        """Return whether no further block can change it."""
        decided = self.verdict is not None and self.verdict.is_final
        return decided or self.futile or self.guarded or self.blocks >= max_blocks
