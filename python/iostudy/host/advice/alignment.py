"""Rules for the alignment of partitions, and of file systems to the stripes of a volume."""

from __future__ import annotations

import re
from collections.abc import Iterator

from iostudy.host.advice.facts import DeviceFacts, Facts
from iostudy.host.advice.finding import AdviceRule, Certainty, Observation, format_command
from iostudy.host.device_kinds import DeviceKind
from iostudy.host.devices import SECTOR_BYTES
from iostudy.host.topology import MountEntry
from iostudy.units import format_size

_ABI = "Documentation/ABI/stable/sysfs-block of the kernel"
_PAGE_BYTES = 4096
_PARITY = ("raid4", "raid5", "raid6")


def _misaligned(facts: Facts) -> Iterator[Observation]:
    for part, start in _partitions(facts):
        unit = _natural_unit(part)
        offset = part.alignment_offset_bytes
        # The kernel includes the start of the disk itself; other kernels show no offset.
        if offset or (offset is None and start % unit):
            yield _alignment_observation(
                part,
                found=f"begins at {start} B",
                advised=f"a multiple of {format_size(unit)}",
                evidence=f"alignment_offset: {'unknown' if offset is None else offset}; "
                f"the larger of physical_block_size and minimum_io_size: {unit}",
                check="minimal",
            )


def _off_stripe(facts: Facts) -> Iterator[Observation]:
    for part, start in _partitions(facts):
        optimal = part.number("optimal_io_size") or 0
        if _has_parity_stripes(facts, part, optimal) and start % optimal:
            yield _alignment_observation(
                part,
                found=f"begins at {start} B",
                advised=f"a multiple of {format_size(optimal)}",
                evidence=f"queue/optimal_io_size: {optimal}",
                check="optimal",
            )


def _has_parity_stripes(facts: Facts, part: DeviceFacts, optimal: int) -> bool:
    """Whether a write of that size is a stripe of a RAID 4, 5 or 6.

    md says its level. A RAID controller shows stripes of several units, each larger than a page.
    A disk that shows a block as its unit reports a request that it likes, or nonsense.
    """
    disk = facts.device(part.node.below[0]) if part.node.below else part
    if disk.node.array is not None:
        return optimal > 0 and disk.node.array.level in _PARITY
    unit, is_controller = _natural_unit(part), disk.node.device.bus == "scsi" and not disk.is_ata
    return is_controller and _PAGE_BYTES < unit < optimal and optimal % unit == 0


def _natural_unit(part: DeviceFacts) -> int:
    """Compute the natural alignment like the kernel (queue_limit_alignment_offset)."""
    physical, minimum = part.number("physical_block_size"), part.number("minimum_io_size")
    return max(physical or 1, minimum or 1)


def _partitions(facts: Facts) -> Iterator[tuple[DeviceFacts, int]]:
    for device in facts.devices:
        if device.node.kind is DeviceKind.PARTITION and device.start_bytes is not None:
            yield device, device.start_bytes


def _alignment_observation(
    part: DeviceFacts, *, found: str, advised: str, evidence: str, check: str
) -> Observation:
    device = part.node.device
    number = re.sub(r".*\D", "", device.name)
    disk = str(device.path.with_name(device.disk.rpartition("!")[2]))
    return Observation(
        subject=part.name,
        found=found,
        advised=advised,
        evidence=evidence,
        command=format_command(["parted", "--script", disk, "align-check", check, number]),
    )


RULES = (
    AdviceRule(
        id="partition-misaligned",
        title="A partition is not aligned to the disk's physical blocks",
        certainty=Certainty.FACT,
        why="A write of a file-system block touches two blocks of the disk (or chunks of a RAID), "
        "and each needs read-modify-write. Only a new partition fixes it, and destroys the "
        "data: the command confirms the finding and changes nothing.",
        source=f"{_ABI}, alignment_offset, physical_block_size, minimum_io_size; parted(8)",
        check=_misaligned,
    ),
    AdviceRule(
        id="partition-off-stripe",
        title="A partition is not aligned to the RAID stripe",
        certainty=Certainty.RECOMMENDATION,
        why="A full-stripe write covers parts of two stripes, which a RAID 4, 5 or 6 must "
        "read before it writes. Only arrays of md and SCSI disks with stripes of several units are "
        "checked: a plain disk's optimal_io_size is no stripe. The command confirms the "
        "finding and changes nothing.",
        source=f"{_ABI}, optimal_io_size; parted(8), align-check",
        check=_off_stripe,
    ),
)


_VOLUMES = (DeviceKind.ARRAY, DeviceKind.LVM)


def _not_by_stripes(facts: Facts) -> Iterator[Observation]:
    for entry in facts.writable:
        device = facts.device(entry.devices[0])
        unit, width = (device.number(name) or 0 for name in ("minimum_io_size", "optimal_io_size"))
        # Without several units there is no stripe: a mirror, a linear volume.
        if device.node.kind in _VOLUMES and 0 < unit < width and width % unit == 0:
            yield from _observe(facts, entry, device, unit, width)


def _observe(
    facts: Facts, entry: MountEntry, device: DeviceFacts, unit: int, width: int
) -> Iterator[Observation]:
    point = entry.mount.point
    match entry.filesystem:
        case "xfs":
            layout = tuple(_option(entry, name) * SECTOR_BYTES for name in ("sunit", "swidth"))
            text, fits = _describe(*layout), layout == (unit, width)
            command = ["xfs_info", str(point)]
        case "ext4" if space := facts.space.get(point):
            block = space.block_bytes
            own_width = _option(entry, "stripe") * block
            text, fits = _describe(0, own_width), own_width == width
            geometry = f"stride={unit // block},stripe_width={width // block}"
            command = ["tune2fs", "-E", geometry, str(device.node.device.path)]
        case _:
            return
    if not fits:
        yield Observation(
            subject=str(point),
            found=text,
            advised=_describe(unit, width),
            evidence=f"/proc/self/mountinfo; queue of {device.name}: minimum_io_size {unit}, "
            f"optimal_io_size {width}",
            command=format_command(command),
        )


def _option(entry: MountEntry, name: str) -> int:
    """Return the number in ``name=number``, 0 without it."""
    values = (option.partition("=") for option in entry.options)
    numbers = (number for key, _, number in values if key == name and number.isdecimal())
    return int(next(numbers, 0))


def _describe(unit: int, width: int) -> str:
    if not width:
        return "no stripe"
    return f"stripes of {format_size(width)}" + (
        f" in units of {format_size(unit)}" if unit else ""
    )


STRIPE_RULES = (
    AdviceRule(
        id="file-system-off-stripe",
        title="A file system does not know the stripes of its volume",
        certainty=Certainty.RECOMMENDATION,
        why="Files that begin within a stripe make a RAID 5 or 6 read before it writes, and "
        "spread unevenly over the disks of any striped volume. tune2fs applies from the next "
        "mount. xfs keeps what mkfs.xfs was given (su, sw); xfs_info shows it.",
        source="mke2fs(8) and tune2fs(8), stride and stripe_width; xfs(5), sunit and swidth; "
        "Documentation/ABI/stable/sysfs-block of the kernel, minimum_io_size, optimal_io_size",
        check=_not_by_stripes,
    ),
)
