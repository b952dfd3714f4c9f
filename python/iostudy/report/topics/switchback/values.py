"""Windows of a workload: plan, confirmation and telemetry."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.analysis.switchback.confirmation import ConfirmationOutcome
from iostudy.report.base import Span, Value
from iostudy.report.topics.bottlenecks.diagnosis_values import DiagnosisReport
from iostudy.telemetry.covariates import Covariate


class ConfirmationReport(Value):
    """A comparison of windows in whole trials; changes are fractions of the figure."""

    configuration: str
    """Label of the configuration."""
    blocks: int
    """Blocks of whole trials, each with one trial of the configuration and of the baseline."""
    change: FiniteFloat
    """Change against the baseline in whole trials, as a fraction."""
    interval: Span
    """95 % confidence interval of ``change``."""
    windows_change: FiniteFloat
    """Change against the baseline in windows, as a fraction."""
    windows_interval: Span | None
    """Repeated confidence interval of ``windows_change``; null if unknown."""
    difference: FiniteFloat
    """Change in trials relative to that in windows, as a fraction."""
    difference_interval: Span
    """95 % confidence interval of ``difference``, from the standard errors of both."""
    outcome: ConfirmationOutcome
    """Whether trials and windows agree within the margin."""
    blocks_needed: int | None
    """Blocks of trials that would probably decide an undecided outcome; null if unknown."""


class RunReport(Value):
    """Telemetry of one run of the workload."""

    windows: int
    """Number of its windows."""
    started_at: FiniteFloat
    """Unix time in seconds."""
    seconds: FiniteFloat
    """Duration in seconds."""
    shares: dict[Covariate, FiniteFloat]
    """Disturbances as fractions: steal and foreign CPU of the CPU time, foreign I/O of the bytes.

    Unknown ones are absent.
    """
    diagnosis: DiagnosisReport
    """Bottleneck over the whole run, under all its configurations together."""
    notes: tuple[str, ...]
    """Remarks on the run, such as blocks that were measured again."""


class SwitchbackReport(Value):
    """The windows of one workload."""

    workload: str
    """Label of the workload."""
    window_seconds: FiniteFloat
    """Planned length of a window in seconds."""
    washout_seconds: FiniteFloat
    """Discarded time after a switch in seconds; the longest one in earlier ledgers."""
    blocks: int
    """Number of measured blocks."""
    max_blocks: int
    """Blocks after which an undecided comparison ends."""
    rounds_per_block: int
    """Windows of a configuration in a block, whose figure is the mean of its windows."""
    windows: int
    """Number of measured windows."""
    measuring_seconds: FiniteFloat
    """Time from the start of the first window to the end of the last one, in seconds."""
    bias: FiniteFloat
    """Largest bias of a comparison by responses to switches, a log-ratio in every interval."""
    confirmations: tuple[ConfirmationReport, ...] = ()
    """Confirmations by whole trials."""
    unconfirmed: tuple[str, ...] = ()
    """Configurations whose confirmation has fewer than two blocks of whole trials."""
    runs: tuple[RunReport, ...] = ()
    """Runs of the workload, with telemetry."""
