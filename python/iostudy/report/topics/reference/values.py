"""Values of a publication."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, FiniteFloat

from iostudy.report.base import Span, Value


class MeasuredCounterpart(Value):
    """The study's own figure for a published one."""

    configuration: str
    """Label of the study's configuration. Its name may differ from the published one."""
    unit: str
    """Unit of the value."""
    value: FiniteFloat
    """Geometric mean over ``blocks``."""
    blocks: int
    """Number of blocks shared with the counterpart of the published baseline."""
    change: FiniteFloat | None
    """Change against that counterpart, as a fraction; null for itself."""
    interval: Span | None
    """Confidence interval of the change; null if unknown."""


class PublishedFigureReport(Value):
    """One published figure of one configuration."""

    configuration: str
    """Published name of the configuration."""
    baseline: bool
    """Whether it is the published baseline."""
    workload: str
    """Label of the workload."""
    figure: str
    """Name of the figure."""
    unit: str
    """Published unit."""
    value: FiniteFloat
    """Published value."""
    runs: int
    """Number of runs that the value summarizes."""
    load: str = ""
    """Published load, such as ``20 jobs``; empty with a single one."""
    change: FiniteFloat | None
    """Change against the published baseline, as a fraction; null for the baseline."""
    own: MeasuredCounterpart | None
    """The study's own figure; null without such a configuration, workload, figure or block."""

    @property
    def called(self) -> str:
        """The configuration with its load: ``HDFS at 20 jobs``."""
        return f"{self.configuration} at {self.load}" if self.load else self.configuration


class PublishedOrderReport(Value):
    """A published ranking over several workloads, the best first."""

    where: str
    """Conditions of the ranking."""
    order: tuple[str, ...]
    """Names of the configurations, the best first."""


class ReferenceReport(Value):
    """A publication on the question. No verdict uses its figures."""

    name: str
    """Name of the reference in study files."""
    title: str
    """Title of the publication."""
    kind: str
    """Kind of publication, such as ``blog post``."""
    year: int
    """Year of publication."""
    source: str
    """Where it was published, and by whom."""
    circumstances: tuple[str, ...]
    """Published conditions of its measurements."""
    caveats: tuple[str, ...]
    """Limits of its figures."""
    open_questions: tuple[str, ...]
    """Questions that it leaves open."""
    baseline: str
    """Published name of the baseline."""
    orders: tuple[PublishedOrderReport, ...]
    """Published rankings with at least two configurations of the study."""
    figures: tuple[PublishedFigureReport, ...]
    """Published figures."""

    @property
    def compared(self) -> tuple[PublishedFigureReport, ...]:
        """The figures of the workloads that the study has figures of too."""
        own = {figure.workload for figure in self.figures if figure.own is not None}
        return tuple(figure for figure in self.figures if figure.workload in own)

    @property
    def shown(self) -> tuple[PublishedFigureReport, ...]:
        """The compared figures, or all of them where the study has none of these."""
        return self.compared or self.figures


class PublicationReport(Value):
    """A publication by itself."""

    schema_name: Literal["iostudy.reference/1"] = Field(
        default="iostudy.reference/1", serialization_alias="schema"
    )
    """The form of this document; the number grows when a reader of the old form would fail."""
    published: ReferenceReport
    """The publication."""
