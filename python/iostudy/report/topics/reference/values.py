"""Values of a publication."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, FiniteFloat

from iostudy.report.base import Span, Value


class MeasuredCounterpart(Value):
    """The user's own figure for a published one."""

    configuration: str
    """The published one, or what it is called today."""
    unit: str
    value: FiniteFloat
    """Geometric mean over ``blocks``."""
    blocks: int
    """Blocks that the counterpart of the published baseline has run too."""
    change: FiniteFloat | None
    """Against that namesake; None for itself."""
    interval: Span | None


class PublishedFigureReport(Value):
    """One published figure of one configuration."""

    configuration: str
    baseline: bool
    workload: str
    figure: str
    unit: str
    """The published unit."""
    value: FiniteFloat
    runs: int
    """Number of runs of the value."""
    load: str = ""
    """Under which load, such as ``20 jobs``; empty where there is only one."""
    change: FiniteFloat | None
    """Against the published baseline; None for the baseline itself."""
    own: MeasuredCounterpart | None
    """None where the study has no such configuration, workload or figure, or no block of it yet."""

    @property
    def called(self) -> str:
        """The configuration with its load: ``HDFS at 20 jobs``."""
        return f"{self.configuration} at {self.load}" if self.load else self.configuration


class PublishedOrderReport(Value):
    """A published ranking over several workloads, the best first."""

    where: str
    order: tuple[str, ...]


class ReferenceReport(Value):
    """Published figures on the question; no verdict uses them."""

    name: str
    title: str
    kind: str
    year: int
    source: str
    circumstances: tuple[str, ...]
    caveats: tuple[str, ...]
    open_questions: tuple[str, ...]
    baseline: str
    orders: tuple[PublishedOrderReport, ...]
    """Orders with at least two configurations of the study."""
    figures: tuple[PublishedFigureReport, ...]

    @property
    def compared(self) -> tuple[PublishedFigureReport, ...]:
        """The figures of the workloads that the study has figures of too."""
        own = {figure.workload for figure in self.figures if figure.own is not None}
        return tuple(figure for figure in self.figures if figure.workload in own)


class PublicationReport(Value):
    """A publication by itself."""

    schema_name: Literal["iostudy.reference/1"] = Field(
        default="iostudy.reference/1", serialization_alias="schema"
    )
    """The form of this document; the number grows when a reader of the old form would fail."""
    published: ReferenceReport
