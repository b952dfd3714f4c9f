"""Rules for file systems that do not allocate by the stripes of the volume below."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.host.advice.commands import format_command
from iostudy.host.advice.facts import DeviceFacts, Facts
from iostudy.host.advice.finding import AdviceRule, Certainty, Observation
from iostudy.host.device_kinds import DeviceKind
from iostudy.host.devices import SECTOR_BYTES
from iostudy.host.topology import MountEntry
from iostudy.units import format_size

_VOLUMES = (DeviceKind.ARRAY, DeviceKind.LVM)
_UNALIGNED = "no stripe"


def _off_stripe(facts: Facts) -> Iterator[Observation]:
    for place in facts.writable:
        device = facts.device(place.devices[0])
        unit, width = (device.number(name) or 0 for name in ("minimum_io_size", "optimal_io_size"))
        # Without several units there is no stripe: a mirror, a linear volume.
        if device.node.kind in _VOLUMES and 0 < unit < width and width % unit == 0:
            yield from _observe(facts, place, device, unit, width)


def _observe(
    facts: Facts, place: MountEntry, device: DeviceFacts, unit: int, width: int
) -> Iterator[Observation]:
    point = place.mount.point
    match place.filesystem:
        case "xfs":
            own = tuple(_option(place, name) * SECTOR_BYTES for name in ("sunit", "swidth"))
            found, fits = _describe(*own), own == (unit, width)
            command = ["xfs_info", str(point)]
        case "ext4" if space := facts.space.get(point):
            block = space.block_bytes
            own_width = _option(place, "stripe") * block
            found, fits = _describe(0, own_width), own_width == width
            geometry = f"stride={unit // block},stripe_width={width // block}"
            command = ["tune2fs", "-E", geometry, str(device.node.device.path)]
        case _:
            return
    if not fits:
        yield Observation(
            subject=str(point),
            found=found,
            advised=_describe(unit, width),
            evidence=f"/proc/self/mountinfo; queue of {device.name}: minimum_io_size {unit}, "
            f"optimal_io_size {width}",
            command=format_command(command),
        )


def _option(place: MountEntry, name: str) -> int:
    """Return the number in ``name=number``, 0 without it."""
    values = (option.partition("=") for option in place.options)
    found = (number for key, _, number in values if key == name and number.isdecimal())
    return int(next(found, 0))


def _describe(unit: int, width: int) -> str:
    if not width:
        return _UNALIGNED
    return f"stripes of {format_size(width)}" + (
        f" in units of {format_size(unit)}" if unit else ""
    )


RULES = (
    AdviceRule(
        id="file-system-off-stripe",
        title="A file system does not know the stripes of its volume",
        certainty=Certainty.RECOMMENDATION,
        why="Files that begin within a stripe make a RAID 5 or 6 read before it writes, and "
        "spread unevenly over the disks of any striped volume. tune2fs applies from the next "
        "mount. xfs keeps what mkfs.xfs was given (su, sw); xfs_info shows it.",
        source="mke2fs(8) and tune2fs(8), stride and stripe_width; xfs(5), sunit and swidth; "
        "Documentation/ABI/stable/sysfs-block of the kernel, minimum_io_size, optimal_io_size",
        check=_off_stripe,
    ),
)
