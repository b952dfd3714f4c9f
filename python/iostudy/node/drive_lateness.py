"""Check of modelled drives over a trial: a trial whose drives were late does not count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from iostudy.settings.scratch.drive import ModelledDrive
from iostudy.settings.scratch.drive_statistics import DriveStatistics


@dataclass(frozen=True)
class DriveWatch:
    """The drives with their statistics at the start of a trial."""

    drives: Sequence[ModelledDrive]
    start: Sequence[DriveStatistics] = field(default_factory=tuple)

    @classmethod
    def begin(cls, drives: Sequence[ModelledDrive]) -> DriveWatch:
        """Read the statistics now; TargetError if a server has ended."""
        return cls(drives, tuple(map(_read, drives)))

    def end(self) -> tuple[dict[str, dict[str, float]], tuple[str, ...]]:
        """Return figures by device, and reasons why the trial does not count."""
        passed = [_read(drive).since(before) for drive, before in self._pairs()]
        names = [drive.device.name for drive in self.drives]
        found = list(zip(names, passed, strict=True))
        figures = {name: each.figures() for name, each in found if each.commands}
        reasons = ((name, each.invalid_reason()) for name, each in found)
        return figures, tuple(f"{name}: {reason}" for name, reason in reasons if reason)

    def _pairs(self) -> list[tuple[ModelledDrive, DriveStatistics]]:
        return list(zip(self.drives, self.start, strict=True))


def _read(drive: ModelledDrive) -> DriveStatistics:
    return DriveStatistics.from_json(drive.read_statistics())
