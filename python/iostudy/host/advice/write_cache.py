"""Rules for write caches and flushes."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.host.advice.facts import DeviceFacts, Facts
from iostudy.host.advice.finding import AdviceRule, Certainty, Observation, format_command
from iostudy.host.device_kinds import DeviceKind
from iostudy.host.topology import MountEntry

_WRITE_BACK = "write back"
_NO_BARRIER = {"nobarrier", "barrier=0"}
_SETTING = "block.write_cache"


def _flush_disabled(facts: Facts) -> Iterator[Observation]:
    for place in facts.writable:
        options = sorted(_NO_BARRIER & set(place.options))
        volatile = [disk for disk in _disks_under(facts, place) if _is_volatile(disk)]
        if options and volatile:
            point = str(place.mount.point)
            yield Observation(
                subject=point,
                found=", ".join(options),
                advised="barrier",
                evidence=f"{', '.join(d.name for d in volatile)}: queue/write_cache: {_WRITE_BACK}",
                command=format_command(["mount", "-o", "remount,barrier", point]),
                setting="mount.barrier",
            )


def _unknown_protection(facts: Facts) -> Iterator[Observation]:
    for disk in facts.disks:
        if _is_volatile(disk):
            yield Observation(
                subject=disk.name,
                found=f"{_WRITE_BACK}; protection against power loss is unknown",
                advised="find out before comparing durable writes",
                evidence=_cache_evidence(disk),
                command=_inquiry_command(disk),
            )


def _disks_under(facts: Facts, place: MountEntry) -> Iterator[DeviceFacts]:
    below = facts.topology.select_related(place.devices).by_name
    return (disk for disk in facts.disks if disk.name in below)


def _is_volatile(disk: DeviceFacts) -> bool:
    return disk.queue.get("write_cache") == _WRITE_BACK


def _cache_evidence(disk: DeviceFacts) -> str:
    fua = disk.number("fua")
    support = {None: "unknown", 0: "no"}.get(fua, "yes")
    return f"queue/write_cache: {_WRITE_BACK}; forced unit access (queue/fua): {support}"


def _inquiry_command(disk: DeviceFacts) -> str:
    """Query the drive itself; of a disk on another bus only the model leads to a data sheet."""
    node = str(disk.node.device.path)
    if disk.node.kind is DeviceKind.NVME:
        return format_command(["nvme", "id-ctrl", "--human-readable", node])
    if disk.node.device.bus == "scsi" and disk.node.kind is not DeviceKind.VIRTUAL:
        return format_command(["smartctl", "--xall", node])
    return format_command(["lsblk", "--nodeps", "-o", "NAME,VENDOR,MODEL,SERIAL,REV", node])


RULES = (
    AdviceRule(
        id="flush-disabled-volatile-cache",
        title="Flushes are disabled over a volatile cache",
        certainty=Certainty.FACT,
        why="A power failure loses the drive's cached data, and without ordered writes it can "
        "damage the file system. Data sheets state power-loss protection, the kernel does not "
        "show it. With protected drives nobarrier is safe, and unnecessary.",
        source='Documentation/admin-guide/ext4.rst of the kernel, "barrier"; '
        "Documentation/block/writeback_cache_control.rst",
        check=_flush_disabled,
    ),
    AdviceRule(
        id="write-cache-unknown-protection",
        title="A write cache of unknown power-loss protection",
        certainty=Certainty.FACT,
        setting=_SETTING,
        why="The kernel flushes such a cache for every fsync. Drives with power-loss protection "
        "answer immediately, others take milliseconds, so durable writes differ by drive and "
        "not by setting. 'write through' would not prove protection: it can be set by hand, "
        "and changes the kernel, not the drive.",
        source="Documentation/ABI/stable/sysfs-block of the kernel, write_cache",
        check=_unknown_protection,
    ),
)
