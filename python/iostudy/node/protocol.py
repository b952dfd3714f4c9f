"""What a study asks of a machine, wherever that machine is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from iostudy.errors import IostudyError
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.telemetry.recorder import Telemetry
from iostudy.workloads.definition import Histogram, Part


@dataclass(frozen=True)
class TrialResult:
    """What a trial that came to its end hands back.

    ``settings`` are the values read back while it ran (``block.scheduler@loop0`` -> ``bfq``);
    ``devices`` are those under test, which share the workload's files, none of them on top of
    another (none where the files lie on no device);
    ``phases`` are seconds spent outside and inside the workload, in the order they happened;
    ``notes`` say what was done to the caches, and what the workload had to say. ``latencies``,
    ``parts`` and ``departures`` are the workload's, see `iostudy.workloads.definition.Measured`.
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


class BlockSession(Protocol):
    """A node made ready for the trials of one block of one workload."""

    def trial(self, configuration: Configuration) -> TrialResult:
        """Apply, reset, run under telemetry, restore.

        Raises SettingError or WorkloadError when the trial could not be carried out (settings are
        back then), RestoreError when something could not be put back.
        """


class Node(Protocol):
    """A machine that can be studied."""

    def offered(self, setting: str, on: Sequence[str] = ()) -> tuple[str, ...]:
        """The levels of a setting that this machine offers on the study's target, or there."""

    def preflight(
        self, requests: Sequence[WorkloadRequest], configurations: Sequence[Configuration]
    ) -> Mapping[str, IostudyError]:
        """Try, before the first trial, whether every one of them can be carried out.

        Every setting is written, read back and restored once. Given are the configurations that
        this machine refuses, by label, each with the error that says why. Raises TargetError where
        there is too little room, UsageError where a workload lacks what it needs.
        """

    def circumstances(self) -> Mapping[str, Any]:
        """Host, versions and target as plain JSON values."""

    def block(self, request: WorkloadRequest, seed: int) -> AbstractContextManager[BlockSession]:
        """Make ready for a block, and clean up behind it. ``seed`` makes the data of the block."""
