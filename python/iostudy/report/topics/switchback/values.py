"""Windows of a workload: their plan, the pilot behind it, carry-over and confirmation."""

from __future__ import annotations

from enum import StrEnum

from pydantic import FiniteFloat

from iostudy.report.base import Span, Value


class AllanPoint(Value):
    """The relative Allan deviation of the baseline at one window length."""

    seconds: FiniteFloat
    deviation: FiniteFloat


class ResponsePoint(Value):
    """The mean log rate at a time after a switch, relative to the end of the curve."""

    seconds: FiniteFloat
    log_ratio: FiniteFloat
    interval: Span


class LevelResponse(Value):
    """The response to a switch to one configuration, and the washout that follows from it."""

    configuration: str
    washout_seconds: FiniteFloat | None
    curve: tuple[ResponsePoint, ...]


class CarryOver(StrEnum):
    """What may make a window differ from another one of the same configuration."""

    POSITION = "position in the block"
    PREVIOUS = "previous configuration"


class CarryOverReport(Value):
    """The test of one source of carry-over over all windows of a workload."""

    source: CarryOver
    p: FiniteFloat
    group: str
    """The position or the configuration with the largest effect."""
    effect: FiniteFloat
    """Its effect on the figure, as a fraction."""
    interval: Span
    flagged: bool
    """The effect is neither chance nor below a quarter of the margin."""


class ConfirmationReport(Value):
    """The recommended configuration in whole trials, against the baseline."""

    configuration: str
    blocks: int
    change: FiniteFloat
    interval: Span | None
    windows_change: FiniteFloat
    windows_interval: Span | None
    agrees: bool
    """The intervals of trials and windows overlap, or one of them is unknown."""


class SwitchbackReport(Value):
    """The windows of one workload."""

    workload: str
    window_seconds: FiniteFloat
    expected_blocks: int
    """The blocks that find the margin, by the pilot."""
    blocks: int
    windows: int
    measuring_seconds: FiniteFloat
    """From the start of the first window to the end of the last one."""
    deviation: FiniteFloat
    """The expected standard deviation of a paired log-ratio."""
    allan: tuple[AllanPoint, ...]
    responses: tuple[LevelResponse, ...]
    carry_over: tuple[CarryOverReport, ...]
    confirmation: ConfirmationReport | None = None
