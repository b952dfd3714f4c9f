"""Protocol of a machine under test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from iostudy.errors import IostudyError
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.telemetry.recorder import Telemetry
from iostudy.workloads.measurement import Histogram, Part
from iostudy.workloads.windows import WindowMeter

Wait: TypeAlias = Callable[[], None]
StartLine: TypeAlias = Callable[[], Wait]
"""Called when a trial is ready to run; the workload starts when the wait that it returns ends."""


def start_at_once() -> Wait:
    """The start line of a node that waits for no other."""
    return lambda: None


@dataclass(frozen=True)
class Span:
    """A time from ``began`` to ``ended``, in seconds of CLOCK_MONOTONIC."""

    began: float
    ended: float

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.ended - self.began


@dataclass(frozen=True)
class TrialResult:
    """The result of a completed trial.

    ``settings`` are the values read back while it ran (``block.scheduler@loop0`` -> ``bfq``).
    ``devices`` are those under test: they share the workload's files, and none is on top of
    another. There are none if the files lie on no device. ``phases`` are seconds spent outside and
    inside the workload, in the order they happened. ``notes`` are those on caches and of the
    workload. ``latencies``, ``parts`` and ``departures`` are the workload's, see
    `iostudy.workloads.definition.Measurement`. ``span`` is the run of the workload on the node's
    clock, None on a simulated node.
    """

    figures: Mapping[str, float]
    settings: Mapping[str, str]
    telemetry: Telemetry
    devices: tuple[str, ...]
    phases: Mapping[str, float]
    notes: tuple[str, ...]
    latencies: Mapping[str, Histogram] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    departures: tuple[str, ...] = ()
    span: Span | None = None


@dataclass(frozen=True)
class RunResult:
    """The result of a run that was switched; ``settings`` by configuration, else as in a trial."""

    settings: Mapping[str, Mapping[str, str]]
    telemetry: Telemetry
    devices: tuple[str, ...]
    notes: tuple[str, ...]


class SwitchedRun(Protocol):
    """A steady run of a workload under telemetry, whose configuration can be switched."""

    @property
    def meter(self) -> WindowMeter:
        """The windows of the run."""

    def now(self) -> float:
        """Return the CLOCK_MONOTONIC time in seconds."""

    def switch(self, label: str) -> None:
        """Switch to a configuration; SettingError if it is refused."""

    def verify(self) -> None:
        """Read the settings in force back; SettingError if one is not as it was switched to."""

    def wait(self, until: float) -> None:
        """Wait for a time of `now`; WorkloadError if the run has ended before."""

    def begin_check(self) -> None:
        """Begin to check whether the devices of the run work as they should."""

    def end_check(self) -> tuple[str, ...]:
        """Return the reasons why measurements since `begin_check` do not count."""

    def stop(self) -> RunResult:
        """End the run; return what was recorded, also if it failed or its context has ended."""


class BlockSession(Protocol):
    """A node prepared for the trials of one block of one workload."""

    def switched_run(
        self, configurations: Sequence[Configuration]
    ) -> AbstractContextManager[SwitchedRun]:
        """Start a run under the first configuration; the end of the context stops it.

        The run continues while the others are switched in. Errors are those of a trial.
        """

    def trial(self, configuration: Configuration) -> TrialResult:
        """Apply, reset, run under telemetry, restore.

        Raises SettingError or WorkloadError if the trial failed (settings are restored),
        RestoreError if a setting could not be restored.
        """


class Node(Protocol):
    """A machine under test."""

    def offered(self, setting: str, on: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the levels that this machine offers for a setting on the target or on ``on``."""

    def preflight(
        self, requests: Sequence[WorkloadRequest], configurations: Sequence[Configuration]
    ) -> Mapping[str, IostudyError]:
        """Try every configuration before the first trial.

        Every setting is written, read back and restored once. Returns the refused configurations
        by label, each with its error. Raises TargetError if there is too little space, UsageError
        if a workload lacks a requirement.
        """

    def circumstances(self) -> Mapping[str, Any]:
        """Return host, versions and target as plain JSON values."""

    def block(
        self, request: WorkloadRequest, seed: int, round_seed: int
    ) -> AbstractContextManager[BlockSession]:
        """Prepare a block and clean up after it. ``seed`` determines the data of the block.

        ``round_seed`` is that of all blocks of a round and of all their attempts; a fleet draws its
        nodes by it. Raises NotReadyError if the block cannot begin now, and may later.
        """
