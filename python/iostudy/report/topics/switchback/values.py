"""Windows of a workload: plan, pilot, tests of carry-over, confirmation and telemetry."""

from __future__ import annotations

from enum import StrEnum

from pydantic import FiniteFloat

from iostudy.analysis.switchback.confirmation import ConfirmationOutcome
from iostudy.report.base import Span, Value
from iostudy.report.topics.bottlenecks.diagnosis_values import DiagnosisReport
from iostudy.telemetry.covariates import Covariate


class AllanPoint(Value):
    """The relative Allan deviation of the baseline at one window length."""

    seconds: FiniteFloat
    """Length of the windows in seconds."""
    deviation: FiniteFloat
    """Relative Allan deviation of the rate, as a fraction."""


class ResponsePoint(Value):
    """The mean log rate at a time after a switch, relative to the end of the curve."""

    seconds: FiniteFloat
    """Time after the switch in seconds."""
    log_ratio: FiniteFloat
    """Natural logarithm of the rate relative to the end of the curve."""
    interval: Span
    """Pointwise 90 % confidence interval of ``log_ratio``."""


class LevelResponse(Value):
    """The response to a switch to one configuration, and the washout that follows from it."""

    configuration: str
    """Label of the configuration."""
    washout_seconds: FiniteFloat
    """Discarded time after a switch to the configuration, in seconds."""
    curve: tuple[ResponsePoint, ...]
    """Response curve of the pilot, in order of time."""


class CarryOver(StrEnum):
    """A source of differences between windows of the same configuration."""

    POSITION = "position"
    PREVIOUS = "previous configuration"
    RESIDENCE = "residence"
    DRIFT = "drift"


class CarryOverReport(Value):
    """The test of one effect over the rounds with all configurations."""

    source: CarryOver
    """The source. Residence compares windows after the same configuration with others."""
    p: FiniteFloat
    """p value, adjusted for all positions or configurations."""
    group: str
    """The position in the round or the configuration with the smallest p value.

    Of a drift, the configuration whose windows are the latest against those of the baseline.
    """
    effect: FiniteFloat
    """Its effect on the figure, as a fraction; of a drift the bias of its comparison."""
    interval: Span
    """95 % confidence interval of ``effect``, simultaneous for all positions or configurations."""
    slope: FiniteFloat | None = None
    """Relative change of the figures in a second; null unless the source is drift."""
    slope_interval: Span | None = None
    """95 % confidence interval of ``slope``."""
    flagged: bool
    """Whether the effect is significant and at least a quarter of the margin."""


class ConfirmationReport(Value):
    """A comparison of windows in whole trials; changes are fractions of the figure."""

    configuration: str
    """Label of the configuration."""
    reason: str
    """Reason: it is recommended, or windows do not show a response of it."""
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
    """Number of its windows; 0 for the run of a pilot."""
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
    """Length of a window in seconds."""
    expected_blocks: int
    """Blocks that detect a difference of the margin, by the noise of the pilot."""
    blocks: int
    """Number of measured blocks."""
    rounds_per_block: int
    """Planned windows of a configuration in a block, whose figure is the mean of its windows. A
    block in which a configuration completes nothing has several times as many."""
    windows: int
    """Number of measured windows."""
    tested_rounds: int
    """Rounds with all configurations, which the tests of ``carry_over`` use."""
    measuring_seconds: FiniteFloat
    """Time from the start of the first window to the end of the last one, in seconds."""
    deviation: FiniteFloat
    """Standard deviation of the log-ratio of a pair of windows, by the noise of the pilot.

    The pair is the baseline and the noisiest configuration.
    """
    bias: FiniteFloat
    """Largest bias of a comparison by responses to switches, a log-ratio in every interval."""
    max_blocks: int
    """Blocks after which an undecided comparison ends."""
    allan: tuple[AllanPoint, ...]
    """Allan deviations of the baseline by window length."""
    responses: tuple[LevelResponse, ...]
    """Response and washout of each configuration."""
    carry_over: tuple[CarryOverReport, ...]
    """Tests of position, previous configuration, residence and drift; empty with too few rounds."""
    confirmations: tuple[ConfirmationReport, ...] = ()
    """Confirmations by whole trials."""
    unconfirmed: tuple[str, ...] = ()
    """Configurations whose confirmation has fewer than two blocks of whole trials."""
    runs: tuple[RunReport, ...] = ()
    """Runs of the workload, with telemetry."""
