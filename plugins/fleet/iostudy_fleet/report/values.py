"""Values of the report on a fleet."""

from __future__ import annotations

from typing import Literal

from pydantic import FiniteFloat

from iostudy.analysis.verdict import Verdict
from iostudy.report.base import Span, Value, declare_schema
from iostudy.report.topics.verdicts import Result
from iostudy.workloads.definition import Figure


class OddFinding(Value):
    """An effect of a node that is unlike that of the other nodes."""

    workload: str
    """Label of the workload; ``bandwidth of fio`` for a figure that does not decide."""
    configuration: str
    """Label of the configuration; the baseline for its figure itself."""
    change: FiniteFloat
    """Difference from the mean of the nodes that are not odd, as a fraction: of the baseline's
    figure, or of the ratio to the baseline."""
    p_value: FiniteFloat
    """Probability of a distance like this in a fleet of equal nodes, for all nodes and effects."""


class NodeResult(Value):
    """Results of a node on one workload, as in its own report."""

    workload: str
    """Label of the workload; ``bandwidth of fio`` for a figure that does not decide."""
    results: tuple[Result, ...]
    """The baseline, then each comparison."""


class NodeReport(Value):
    """A node of the fleet."""

    node: str
    """Name of the node: its host name, or the end of the folder's path if that is ambiguous."""
    place: str
    """Output folder of its study, which has the node's own report."""
    started_at: FiniteFloat
    """Unix time in seconds."""
    finished: bool
    """Whether every comparison has ended."""
    traits: dict[str, str]
    """Disk model, firmware, kernel and other traits that are known."""
    odd: tuple[OddFinding, ...]
    """What is odd about it."""
    workloads: tuple[NodeResult, ...]
    """Its own results."""
    left_out: dict[str, str]
    """Configurations that the host refused, with the reason."""


class FleetDifference(Value):
    """A change against the baseline with its interval and verdict."""

    change: FiniteFloat | None
    """Change of the figure, as a fraction."""
    interval: Span | None
    """Its interval."""
    verdict: Verdict
    """Verdict by the interval and the margin."""
    by_margin: bool
    """Whether the whole interval lies beyond the margin."""


class ClassMember(Value):
    """The nodes with the same traits."""

    label: str
    """Values of the traits."""
    nodes: tuple[str, ...]
    """Names of the nodes."""
    change: FiniteFloat | None
    """Pooled change against the baseline, as a fraction; of the baseline's figure, against the
    mean of all nodes."""
    interval: Span | None
    """Interval of the change; null if it is too wide for a number."""


class ClassReport(Value):
    """Classes of nodes whose effects differ."""

    workload: str
    """Label of the workload; ``bandwidth of fio`` for a figure that does not decide."""
    configuration: str
    """Label of the configuration; the baseline for its figure itself."""
    traits: tuple[str, ...]
    """The traits that divide the nodes in this way; several if they cannot be separated."""
    p_value: FiniteFloat
    """p value of equal classes, adjusted for all such tests."""
    classes: tuple[ClassMember, ...]
    """The classes."""


class Heterogeneity(Value):
    """How much the nodes differ beyond their own noise."""

    tau: FiniteFloat
    """Standard deviation of true effects between nodes, as a log-ratio."""
    tau_interval: Span
    """Its 95 % interval."""
    i_squared: FiniteFloat
    """Share of the variance of nodes' estimates that is due to differences between nodes."""


class FleetComparison(Value):
    """A configuration compared with the baseline on one workload, over all nodes."""

    workload: str
    """Label of the workload; ``bandwidth of fio`` for a figure that does not decide."""
    configuration: str
    """Label of the configuration."""
    figure: Figure
    """The compared figure."""
    nodes: int
    """Number of pooled nodes."""
    mean: FleetDifference
    """Mean over nodes of this kind."""
    new_node: FleetDifference
    """The true effect on one more node of this kind: a prediction interval."""
    heterogeneity: Heterogeneity
    """How much the nodes differ."""
    verdicts: dict[Verdict, int]
    """Number of nodes by their own verdict."""


class BaselineSpread(Value):
    """The baseline's figure over all nodes."""

    workload: str
    """Label of the workload; ``bandwidth of fio`` for a figure that does not decide."""
    configuration: str
    """Label of the baseline."""
    figure: Figure
    """The figure."""
    nodes: int
    """Number of nodes."""
    value: FiniteFloat
    """Geometric mean over nodes, in the figure's unit."""
    heterogeneity: Heterogeneity
    """How much the nodes differ."""


class FleetReport(Value):
    """Report on one study on several nodes."""

    schema_name: Literal["iostudy.fleet/1"] = declare_schema("iostudy.fleet/1")
    iostudy_version: str
    """Version of iostudy that made the report."""
    question: str
    """Question of the study."""
    name: str
    """Name of the study."""
    baseline: str
    """Label of the baseline."""
    margin: FiniteFloat
    """Equivalence margin, as a fraction."""
    risk: FiniteFloat
    """Probability of any wrong verdict on the fleet, as a fraction."""
    headline: str
    """The answer in one sentence."""
    caveats: tuple[str, ...]
    """What limits the conclusions."""
    nodes: tuple[NodeReport, ...]
    """All nodes, odd nodes first."""
    comparisons: tuple[FleetComparison, ...]
    """All comparisons, workload by workload."""
    baselines: tuple[BaselineSpread, ...]
    """The baseline's figure on each workload."""
    classes: tuple[ClassReport, ...]
    """Classes of nodes that differ."""
    study_text: str
    """Study file of the first node."""
