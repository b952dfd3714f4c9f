"""Where partitions begin."""

from __future__ import annotations

import re
from collections.abc import Iterator

from iostudy.host.advice.commands import joined
from iostudy.host.advice.facts import DeviceFacts, Facts
from iostudy.host.advice.finding import Certainty, Rule, Sighting
from iostudy.host.kinds import Kind
from iostudy.units import format_size

_ABI = "Documentation/ABI/stable/sysfs-block of the kernel"
_PAGE_BYTES = 4096


def _misaligned(facts: Facts) -> Iterator[Sighting]:
    for part, start in _partitions(facts):
        unit = _natural_unit(part)
        offset = part.alignment_offset_bytes
        # The kernel reckons with where the disk itself begins; kernels that do not, tell none.
        if offset or (offset is None and start % unit):
            yield _sighting(
                part,
                found=f"begins at {start} B",
                advised=f"a multiple of {format_size(unit)}",
                evidence=f"alignment_offset: {'not told' if offset is None else offset}; "
                f"the larger of physical_block_size and minimum_io_size: {unit}",
                check="minimal",
            )


def _off_stripe(facts: Facts) -> Iterator[Sighting]:
    for part, start in _partitions(facts):
        optimal = part.number("optimal_io_size") or 0
        # Some bridges report a size that is no multiple of a page, which can be no stripe.
        if optimal and optimal % _PAGE_BYTES == 0 and start % optimal:
            yield _sighting(
                part,
                found=f"begins at {start} B",
                advised=f"a multiple of {format_size(optimal)}",
                evidence=f"queue/optimal_io_size: {optimal}",
                check="optimal",
            )


def _natural_unit(part: DeviceFacts) -> int:
    """The disk's natural alignment as the kernel reckons it (queue_limit_alignment_offset)."""
    physical, minimum = part.number("physical_block_size"), part.number("minimum_io_size")
    return max(physical or 1, minimum or 1)


def _partitions(facts: Facts) -> Iterator[tuple[DeviceFacts, int]]:
    for device in facts.devices:
        if device.node.kind is Kind.PARTITION and device.start_bytes is not None:
            yield device, device.start_bytes


def _sighting(
    part: DeviceFacts, *, found: str, advised: str, evidence: str, check: str
) -> Sighting:
    device = part.node.device
    number = re.sub(r".*\D", "", device.name)
    disk = str(device.path.with_name(device.disk.rpartition("!")[2]))
    return Sighting(
        subject=part.name,
        found=found,
        advised=advised,
        evidence=evidence,
        command=joined(["parted", "--script", disk, "align-check", check, number]),
    )


RULES = (
    Rule(
        id="partition-misaligned",
        title="A partition does not begin where the disk's blocks do",
        certainty=Certainty.FACT,
        why="A write of a file system's block touches two of the disk's blocks (or chunks of a "
        "RAID), each of which has to be read, changed and written. Only a new partition mends it, "
        "which destroys what is on it: the command confirms the finding and changes nothing.",
        source=f"{_ABI}, alignment_offset, physical_block_size, minimum_io_size; parted(8)",
        check=_misaligned,
    ),
    Rule(
        id="partition-off-stripe",
        title="A partition does not begin at a stripe",
        certainty=Certainty.RECOMMENDATION,
        why="A write of one whole stripe becomes parts of two, which a RAID 5 or 6 must read "
        "before it can write. Mirrors and plain disks do not mind. The command confirms the "
        "finding and changes nothing.",
        source=f"{_ABI}, optimal_io_size; parted(8), align-check",
        check=_off_stripe,
    ),
)
