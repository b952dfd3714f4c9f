"""Wait for the initial resync of a volume, at full speed."""

from __future__ import annotations

import time

from iostudy.errors import TargetError
from iostudy.host.files import ROOT
from iostudy.line_handler import LineHandler
from iostudy.settings import kinds
from iostudy.settings.change import Change
from iostudy.settings.scratch.volume.volume import Volume
from iostudy.settings.transaction.transaction import Transaction
from iostudy.units import format_percent, format_seconds
from iostudy.workloads.tick import Tick

_POLL_SECONDS, _REPORT_SECONDS = 0.5, 10.0
_SPEED_LIMITS = ("speed_limit_max", "speed_limit_min")
_FULL_SPEED_KB = 10_000_000
"""KiB/s on each member, above what any disk moves."""


def wait_for_sync(
    volume: Volume, transaction: Transaction, tick: Tick, on_progress: LineHandler
) -> None:
    """Wait until the volume has no background work, with the kernel's speed limits raised.

    TargetError if a member fails, or the user ends the study.
    """
    if volume.read_state().progress is None:
        return
    with transaction.apply_temporarily(*_full_speed()):
        _wait(volume, tick, on_progress)


def _full_speed() -> tuple[Change, ...]:
    """Changes of the limits that md has; a dm-mirror has none."""
    present = (name for name in _SPEED_LIMITS if (ROOT / "proc/sys/dev/raid" / name).exists())
    limits = [setting for name in present for setting in kinds.bind(f"sysctl.dev.raid.{name}", ".")]
    return kinds.prepare_changes(dict.fromkeys(limits, str(_FULL_SPEED_KB)))


def _wait(volume: Volume, tick: Tick, on_progress: LineHandler) -> None:
    began = reported = time.monotonic()
    while (state := volume.read_state()).progress is not None:
        if not tick(0):
            raise _unsynced(volume, "the study was ended", "resume the study")
        now = time.monotonic()
        if now - reported >= _REPORT_SECONDS:
            reported = now
            on_progress(_describe(state.progress, now - began))
        time.sleep(_POLL_SECONDS)
    # md makes a RAID 5 with a missing member and recovers it, so only the end shows faults.
    if state.faults:
        raise _unsynced(volume, "; ".join(state.faults), "replace the disk")


def _describe(progress: float, seconds: float) -> str:
    left = f", about {format_seconds(seconds / progress - seconds)} left" if progress else ""
    return f"resync of the volume: {format_percent(progress)}{left}"


def _unsynced(volume: Volume, found: str, remedy: str) -> TargetError:
    return TargetError(
        "to wait for the resync of the volume",
        found=found,
        where=volume.name,
        remedy=remedy,
    )
