"""Measured parameters of a drive."""

from __future__ import annotations

from dataclasses import dataclass, field

from iostudy_lab.drives.measure.cache import ReadCache
from iostudy_lab.drives.measure.hits import Hits
from iostudy_lab.drives.measure.layout import DiskLayout
from iostudy_lab.drives.measure.queue_gain import QueueGain
from iostudy_lab.drives.measure.rates import RatePoint
from iostudy_lab.drives.measure.rotation import NoRotation, Rotation
from iostudy_lab.drives.measure.seeks import SeekCurve
from iostudy_lab.drives.measure.writes import Writes


@dataclass
class DriveMeasurement:
    """Parameters found so far; None for what was not measured."""

    blocks: int
    unit: int
    """Blocks of the smallest read."""
    rotation: Rotation | NoRotation | None = None
    rates: tuple[RatePoint, ...] = ()
    queue: QueueGain | None = None
    hits: Hits | None = None
    layout: DiskLayout | None = None
    seeks: SeekCurve | None = None
    cache: ReadCache | None = None
    writes: Writes | None = None
    missing: list[str] = field(default_factory=list)
    """What could not be measured, with the reason."""
    responses_ns: tuple[int, ...] = ()
    """Response times of random reads of the smallest size, one in flight."""
    requests: int = 0
    seconds: float = 0.0

    @property
    def rotates(self) -> bool:
        """Whether the reads show a rotation."""
        return isinstance(self.rotation, Rotation)

    @property
    def complete(self) -> bool:
        """Whether the parameters of a drive file were measured."""
        return self.layout is not None and self.seeks is not None and self.hits is not None
