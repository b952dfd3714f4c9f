"""Prober of a modelled drive on its virtual clock."""

from __future__ import annotations

from collections.abc import Sequence

from iostudy._native import DriveModel
from iostudy.prober import Request, Timing
from iostudy_lab.drives import drive_file
from iostudy_lab.drives.disk import Disk
from iostudy_lab.drives.flash import Flash

_MOST_BLOCKS = 4096
_MOST_DEPTH = 256


class ModelProber:
    """A new drive of the model; its clock continues from request to request."""

    def __init__(self, drive: Disk | Flash) -> None:
        model = DriveModel(drive_file.parameters(drive))
        self.blocks = model.blocks()
        self.unit = 1
        self.most_blocks = _MOST_BLOCKS
        self.most_depth = _MOST_DEPTH
        self._queue = drive.queue.depth if isinstance(drive, Disk) else drive.depth
        self._running = model.start()

    def run(self, requests: Sequence[Request], depth: int) -> list[Timing]:
        """Serve requests. A host queue holds those beyond the depth of the drive."""
        times = self._running.run(requests, min(depth, self._queue))
        return [Timing(start, end) for start, end in times]
