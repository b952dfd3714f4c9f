"""Expected and observed rates of volumes."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.report.base import Value


class MemberReport(Value):
    """A disk of the volume, measured alone before the volume was made."""

    device: str
    """Kernel name of the disk."""
    read_rate: FiniteFloat
    """Sequential reads, in MiB/s."""
    reads_per_second: FiniteFloat
    """Random reads of 4 KiB per second, with 16 in flight."""
    write_rate: FiniteFloat
    """Sequential writes with a flush at their end, in MiB/s."""
    writes_per_second: FiniteFloat
    """Random writes of 4 KiB per second, with 16 in flight and a flush at their end."""
    is_slow: bool
    """Whether a rate is below 80 % of the median of all disks, and no disk was made like it."""


class DeviceRequests(Value):
    """Requests of one direction through one device."""

    device: str
    """All names of the device, such as ``253:2 = dm-2 = vg0/home``."""
    requests_in: FiniteFloat
    """Requests per second that reached it."""
    requests_out: FiniteFloat
    """Requests per second that it completed, after merging."""


class VolumeRateReport(Value):
    """One direction of the trials of a configuration on a workload."""

    workload: str
    """Label of the workload."""
    configuration: str
    """Label of the configuration."""
    direction: str
    """``read`` or ``write``."""
    disks: int
    """Number of disks that can work on different data of this direction at a time."""
    expected: FiniteFloat
    """Sequential rate of that many of the slowest disk, in MiB/s."""
    expected_requests: FiniteFloat
    """Random requests per second of that many of the slowest disk."""
    observed: FiniteFloat
    """Mean rate of the volume over the counted trials, in MiB/s."""
    requests: FiniteFloat
    """Requests per second that the volume completed."""
    member_requests: FiniteFloat
    """Requests per second that reached its disks."""
    completed: FiniteFloat
    """Requests per second that the disks completed, after merging."""
    devices: tuple[DeviceRequests, ...]
    """The volume, the layers below it and its disks, from the top."""


class VolumeReport(Value):
    """A volume and its disks."""

    members: tuple[MemberReport, ...]
    """The disks of the target, in its order."""
    rates: tuple[VolumeRateReport, ...]
    """Rates by workload, configuration and direction."""
