"""Messages between the controller and the server of trials on a node, which are data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field

from iostudy import errors
from iostudy.errors import IostudyError, WorkloadError
from iostudy.node.protocol import Span, TrialResult
from iostudy.telemetry.summary import Figures
from iostudy.workloads.measurement import BYTES, Histogram


class NotStartedError(WorkloadError):
    """A run was called off at the start line, for a reason of another node."""


class LateStartError(WorkloadError):
    """A node was ready after the instant at which it was to start."""


_KINDS: Mapping[str, type[IostudyError]] = {
    kind.__name__: kind
    for kind in (
        IostudyError,
        errors.UsageError,
        errors.TargetError,
        errors.BusyError,
        errors.ResourceError,
        errors.TrialError,
        errors.NotReadyError,
        errors.SettingError,
        errors.WorkloadError,
        errors.RecordError,
        errors.RestoreError,
        NotStartedError,
        LateStartError,
    )
}
"""The errors that the controller distinguishes; others count as the nearest of these."""


def _require_kind(name: str) -> str:
    if name not in _KINDS:
        raise ValueError(f"{name!r} is no kind of error")
    return name


@dataclass(frozen=True)
class NodeError:
    """An error on a node, as data."""

    kind: Annotated[str, AfterValidator(_require_kind)]
    wanted: str
    found: str
    where: str
    remedy: str

    @classmethod
    def describe(cls, error: IostudyError) -> Self:
        """The data of an error."""
        kind = next(parent.__name__ for parent in type(error).__mro__ if parent.__name__ in _KINDS)
        return cls(kind, error.wanted, error.found, error.where, error.remedy)

    def on(self, node: str) -> IostudyError:
        """The error with the name of its node."""
        return _KINDS[self.kind](
            self.wanted,
            found=f"{node}: {self.found}",
            where=f"{node}: {self.where}",
            remedy=self.remedy,
        )


def _require_size(figures: Figures) -> Figures:
    if figures.get(BYTES, -1.0) < 0:
        raise ValueError(f"no figure {BYTES}")
    return figures


def _require_time(span: Span) -> Span:
    if span.ended <= span.began:
        raise ValueError("a run that ends before it begins")
    return span


def _require_processors(machine: Figures) -> Figures:
    if machine.get("cores", 1.0) <= 0:
        raise ValueError("a machine without processors")
    return machine


@dataclass(frozen=True)
class NodeTrial:
    """What the controller uses of a node's `TrialResult`, under the same names.

    ``machine`` is that of the summary of telemetry. Samples stay on no node: the clocks of nodes
    have no common time axis.
    """

    figures: Annotated[Mapping[str, float], AfterValidator(_require_size)]
    settings: Mapping[str, str]
    machine: Annotated[Figures, AfterValidator(_require_processors)]
    phases: Mapping[str, float]
    notes: tuple[str, ...]
    latencies: Mapping[str, Histogram]
    departures: tuple[str, ...]
    span: Annotated[Span, AfterValidator(_require_time)]

    @classmethod
    def of(cls, result: TrialResult) -> Self:
        """The part of a result that goes to the controller."""
        assert result.span is not None
        return cls(
            result.figures,
            result.settings,
            result.telemetry.summary.machine,
            result.phases,
            result.notes,
            result.latencies,
            result.departures,
            result.span,
        )


@dataclass(frozen=True)
class Call:
    """A method of a `ServedNode` and its arguments."""

    method: str
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Release:
    """The end of the wait at the start line: at an instant of the node's clock, or None: no run."""

    instant: float | None


@dataclass(frozen=True)
class TrialRequest:
    """A call, its number in the order of calls, and its release once there is one.

    ``call`` is None for the last one, which ends the server. The same request may come again: a
    call is carried out once. ``seconds`` is the longest wait for an answer.
    """

    number: int
    call: Call | None
    release: Release | None
    seconds: Annotated[float, Field(ge=0)]


class ServerPhase(StrEnum):
    """What the server does with a call; ``ENDED`` is that of the server itself."""

    STARTING = "starting"
    BUSY = "busy"
    READY = "ready"
    DONE = "done"
    ENDED = "ended"


@dataclass(frozen=True)
class Outcome:
    """The value of a call, or its error."""

    value: Any = None
    error: NodeError | None = None


@dataclass(frozen=True)
class Answer:
    """A phase; ``outcome`` is there when it is DONE, ``line`` explains the end of a server."""

    phase: ServerPhase
    outcome: Outcome | None = None
    line: str = ""

    @property
    def is_settled(self) -> bool:
        """Whether the controller has to act."""
        return self.phase in (ServerPhase.READY, ServerPhase.DONE)
