"""What has to be known beside a recording, to tell what limited the run (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from iostudy.telemetry.summary import Figures, TelemetrySummary


@dataclass(frozen=True)
class OperatingPoint:
    """What a device did in one run, on average.

    ``queue`` requests were in it at once; each took ``wait_ms`` and moved ``request_kB``; a share
    of ``reads`` (0 to 1) were reads; ``per_second`` were done in a second.
    """

    queue: float
    per_second: float
    wait_ms: float
    request_kB: float  # noqa: N815 - as iostat writes it
    reads: float

    @classmethod
    def of(cls, figures: Figures) -> OperatingPoint | None:
        """The point of iostat's figures of a device; None if it did nothing."""
        reads, writes = figures["r/s"], figures["w/s"]
        if not (done := reads + writes):
            return None
        waits = reads * figures["r_await"] + writes * figures["w_await"]
        moved = figures["rkB/s"] + figures["wkB/s"]
        return cls(figures["aqu-sz"], done, waits / done, moved / done, reads / done)

    def is_like(self, other: OperatingPoint) -> bool:
        """Whether the rates of the two may be compared: like in size, and in what was asked."""
        alike = other.request_kB / _SIZES <= self.request_kB <= other.request_kB * _SIZES
        return alike and abs(self.reads - other.reads) <= _MIX


_SIZES = 2.0
"""Requests up to twice as large are alike: a choice. A device that is limited by its bandwidth does
half as many of them, so that rates of others say nothing of each other."""
_MIX = 0.25
"""As are those of which a quarter more are reads: a choice. Reads and writes cost a device
differently, and a configuration moves the mix by what it merges and caches."""
_LONGER = 1.5
"""A queue this many times as long is another load, and no noise between runs: a choice, twice
as far above 1 as `device.MORE`, as a device gives less than in proportion to what is asked."""
_ALONE = 1.5
"""Requests at once up to which hardly one waits for another: beside the one that is
served there is half a one on average, even at a device that serves one at a time."""


@dataclass(frozen=True)
class SerialUsage:
    """What the workload has that serves its operations one after the other, as it tells itself.

    ``name`` is it in words. For ``waited`` percent of the operations' time they waited for it; for
    ``used`` percent of the run it was at work, None where that is not known. It ``stores`` what it
    is given, so that the workload's devices serve it in turn; else it is a lock in memory.
    """

    name: str
    waited: float
    used: float | None = None
    stores: bool = False


@dataclass(frozen=True)
class DiagnosisContext:
    """What is known of the machine and of the workload.

    ``devices`` are the block devices that files of the run lie on, by their kernel names, none of
    them below another; ``members`` the devices right below each stacked one, ``nfs_mounts`` the NFS
    mounts that files of the run lie on. ``rotational`` are real disks with platters, which serve
    one request after the other; virtual and loop devices claim to be such, and must not be among
    them. ``concurrency`` is how many requests or operations the workload has under way at once,
    None if it does not say. ``serial`` is what these wait for within the workload; it ``spins`` if
    threads of it are on a CPU while they wait. ``measured_seconds`` are those of the recording that
    it measured, None if that is all of it. ``shown`` is what each device has shown in all runs that
    are known, this one included.
    """

    devices: tuple[str, ...] = ()
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rotational: frozenset[str] = frozenset()
    nfs_mounts: tuple[str, ...] = ()
    concurrency: int | None = None
    serial: tuple[SerialUsage, ...] = ()
    spins: bool = False
    measured_seconds: float | None = None
    shown: Mapping[str, tuple[OperatingPoint, ...]] = field(default_factory=dict)

    @property
    def named(self) -> str:
        """Its devices in words."""
        return " and ".join(self.devices)

    def deeper(self, device: str, here: OperatingPoint) -> tuple[OperatingPoint, ...]:
        """What a device has shown of like I/O with a clearly longer queue."""
        alike = self._like(device, here)
        return tuple(each for each in alike if each.queue >= _LONGER * here.queue)

    def shallow(self, device: str, here: OperatingPoint) -> tuple[OperatingPoint, ...]:
        """What a device has shown of like I/O with hardly any queue."""
        return tuple(each for each in self._like(device, here) if each.queue <= _ALONE)

    def _like(self, device: str, here: OperatingPoint) -> tuple[OperatingPoint, ...]:
        return tuple(each for each in self.shown.get(device, ()) if each.is_like(here))

    def disks(self, device: str, seen: TelemetrySummary) -> dict[str, Figures]:
        """The figures of what a device lies on in the end, as far as recorded; else its own."""
        below = {
            name: figures
            for member in self.members.get(device, ())
            for name, figures in self.disks(member, seen).items()
        }
        own = {device: seen.devices[device]} if device in seen.devices else {}
        return below or own

    def is_rotational(self, device: str) -> bool:
        """Whether it is a disk with platters, or lies on one such disk and nothing else."""
        below = self.members.get(device, ())
        return device in self.rotational or (len(below) == 1 and self.is_rotational(below[0]))

    def known(self, seen: TelemetrySummary) -> dict[str, Figures]:
        """The figures of its devices, as far as they were recorded."""
        return {name: seen.devices[name] for name in self.devices if name in seen.devices}

    def busiest(self, seen: TelemetrySummary) -> str:
        """The device of it with the highest %util; "" if none was recorded."""
        known = self.known(seen)
        return max(known, key=lambda name: known[name]["%util"], default="")


def shown(seens: Iterable[TelemetrySummary]) -> dict[str, tuple[OperatingPoint, ...]]:
    """What each device did in each of the runs, for `Ground.shown`."""
    points: dict[str, list[OperatingPoint]] = {}
    for seen in seens:
        for device, figures in seen.devices.items():
            if point := OperatingPoint.of(figures):
                points.setdefault(device, []).append(point)
    return {device: tuple(each) for device, each in points.items()}
