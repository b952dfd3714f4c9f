"""The wait for the resync of a new volume: progress, time left, faults, and its end by the user."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from iostudy.errors import TargetError
from iostudy.line_handler import ignore_line
from iostudy.node import volume_sync
from iostudy.node.volume_sync import wait_for_sync
from iostudy.settings.scratch.volume.layout import Manager
from iostudy.settings.scratch.volume.manager import VolumeState
from iostudy.settings.scratch.volume.volume import Volume
from iostudy.workloads.tick import continue_run


@dataclass(frozen=True)
class ResyncingVolume(Volume):
    """A volume of these states, one after the other."""

    states: Iterator[VolumeState] = field(kw_only=True)

    def read_state(self) -> VolumeState:
        return next(self.states)


class Clock:
    """Time that passes only in a sleep."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volume_sync, "time", Clock())


def resyncing(*states: VolumeState) -> Volume:
    return ResyncingVolume(Path("/scratch-0"), Manager.MD, (), states=iter(states))


def test_progress_and_time_left_every_ten_seconds() -> None:
    lines: list[str] = []
    steps = [VolumeState(number / 80) for number in range(80)]
    volume = resyncing(VolumeState(0.0), *steps, VolumeState())
    wait_for_sync(volume, continue_run, lines.append)
    assert lines == [
        "resync of the volume: 25 %, about 30.0 s left",
        "resync of the volume: 50 %, about 20.0 s left",
        "resync of the volume: 75 %, about 10.0 s left",
    ]


def test_a_member_that_fails_ends_it() -> None:
    volume = resyncing(VolumeState(0.1), VolumeState(0.2), VolumeState(None, ("1 missing",)))
    with pytest.raises(TargetError, match="1 missing"):
        wait_for_sync(volume, continue_run, ignore_line)


def test_the_user_ends_it() -> None:
    volume = resyncing(VolumeState(0.1), VolumeState(0.1))
    with pytest.raises(TargetError, match="the study was ended"):
        wait_for_sync(volume, lambda _: False, ignore_line)
