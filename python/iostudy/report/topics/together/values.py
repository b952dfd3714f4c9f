"""Nodes that ran each trial together."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.report.base import Value


class JointNodeReport(Value):
    """The runs of a node under one configuration."""

    workload: str
    """Label of the workload."""
    configuration: str
    """Label of the configuration."""
    node: str
    """Name of the node."""
    trials: int
    """Counted trials of the node."""
    seconds: FiniteFloat
    """Mean duration of its run, by its own clock."""
    relative: FiniteFloat | None
    """Mean of its duration relative to that of the median node, minus 1; None if it ran alone."""
    straggled: int | None
    """Trials in which it took longer than the median node by more than the margin."""
    start_after: FiniteFloat | None
    """Mean time of its start after the first start of the trial, in seconds."""


class AbsenceReport(Value):
    """A counted block without all nodes."""

    workload: str
    """Label of the workload."""
    block: int
    """Number of the block, from 1."""
    missing: tuple[str, ...]
    """Nodes of other blocks that were lost before."""


class StartsReport(Value):
    """Times from the first to the last start of a trial, over trials on several nodes."""

    trials: int
    """Counted trials on several nodes."""
    median: FiniteFloat
    """Median of these times, in seconds."""
    longest: FiniteFloat
    """The longest of them, in seconds."""
    share: FiniteFloat
    """Median of their shares of the time of the trial."""
    clock_error: FiniteFloat
    """Largest possible error of a time on the common clock, in seconds."""


class TogetherReport(Value):
    """Trials that all nodes ran at the same time."""

    margin: FiniteFloat
    """Margin of the study, beyond which a node is a straggler."""
    trials: int
    """Counted trials."""
    drawn: bool
    """Whether the load is a number of nodes, drawn at random in each round."""
    starts: StartsReport | None
    """Start skew; None if every trial ran on one node."""
    nodes: tuple[JointNodeReport, ...]
    """Nodes by workload and configuration, the slowest first."""
    absences: tuple[AbsenceReport, ...]
    """Counted blocks of all nodes that ran without some of them."""
