"""Watch of the disks of a target during a trial, such as the lateness of modelled drives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iostudy.settings.scratch.disk import FindDiskState, ScratchDisk


@dataclass(frozen=True)
class DiskWatch:
    """The watches of the disks since the start of a trial."""

    running: Sequence[FindDiskState] = ()

    @classmethod
    def begin(cls, disks: Sequence[ScratchDisk]) -> DiskWatch:
        """Begin to watch now; TargetError if a disk has failed."""
        return cls(tuple(disk.watch() for disk in disks))

    def end(self) -> tuple[dict[str, Mapping[str, float]], tuple[str, ...]]:
        """Return figures by device, and reasons why the trial does not count."""
        states = [find() for find in self.running]
        figures = {own.device: own.figures for own in states if own.figures}
        return figures, tuple(f"{own.device}: {own.invalid}" for own in states if own.invalid)
