"""Write caches, and who empties them."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.host.advice.commands import joined
from iostudy.host.advice.facts import DeviceFacts, Facts
from iostudy.host.advice.finding import Certainty, Rule, Sighting
from iostudy.host.kinds import Kind
from iostudy.host.topology import Place

_WRITE_BACK = "write back"
_NO_BARRIER = {"nobarrier", "barrier=0"}
_SETTING = "block.write_cache"


def _flush_disabled(facts: Facts) -> Iterator[Sighting]:
    for place in facts.writable:
        options = sorted(_NO_BARRIER & set(place.options))
        volatile = [disk for disk in _disks_under(facts, place) if _is_volatile(disk)]
        if options and volatile:
            point = str(place.mount.point)
            yield Sighting(
                subject=point,
                found=", ".join(options),
                advised="barrier",
                evidence=f"{', '.join(d.name for d in volatile)}: queue/write_cache: {_WRITE_BACK}",
                command=joined(["mount", "-o", "remount,barrier", point]),
                setting="mount.barrier",
            )


def _unknown_protection(facts: Facts) -> Iterator[Sighting]:
    for disk in facts.disks:
        if _is_volatile(disk):
            yield Sighting(
                subject=disk.name,
                found=f"{_WRITE_BACK}; protection against power loss cannot be told",
                advised="know it before comparing durable writes",
                evidence=_what_can_be_told(disk),
                command=_ask(disk),
            )


def _disks_under(facts: Facts, place: Place) -> Iterator[DeviceFacts]:
    below = facts.topology.around(place.devices).by_name
    return (disk for disk in facts.disks if disk.name in below)


def _is_volatile(disk: DeviceFacts) -> bool:
    return disk.queue.get("write_cache") == _WRITE_BACK


def _what_can_be_told(disk: DeviceFacts) -> str:
    fua = disk.number("fua")
    told = {None: "not told", 0: "no"}.get(fua, "yes")
    return f"queue/write_cache: {_WRITE_BACK}; forced unit access (queue/fua): {told}"


def _ask(disk: DeviceFacts) -> str:
    """What may tell more: the drive itself, or for a virtual disk whoever runs the host."""
    node = str(disk.node.device.path)
    if disk.node.kind is Kind.NVME:
        return joined(["nvme", "id-ctrl", "--human-readable", node])
    return joined(["smartctl", "--xall", node])


RULES = (
    Rule(
        id="flush-disabled-volatile-cache",
        title="Flushes are switched off over a volatile cache",
        certainty=Certainty.FACT,
        why="What the drive has only cached is lost with its power, and a file system whose "
        "order of writes was not kept can be damaged. Data-sheets tell of capacitors, the kernel "
        "does not: with protected drives it is safe, and then the kernel need not be told.",
        source='Documentation/admin-guide/ext4.rst of the kernel, "barrier"; '
        "Documentation/block/writeback_cache_control.rst",
        check=_flush_disabled,
    ),
    Rule(
        id="write-cache-unknown-protection",
        title="A write cache of which the kernel cannot tell whether it survives a power failure",
        certainty=Certainty.FACT,
        setting=_SETTING,
        why="The kernel flushes such a cache for every fsync. Drives with capacitors answer at "
        "once, others take milliseconds, so that durable writes differ by drive and not by "
        "setting. 'write through' would be no proof of the contrary: it can be set by hand, and "
        "changes what the kernel does, not the drive.",
        source="Documentation/ABI/stable/sysfs-block of the kernel, write_cache",
        check=_unknown_protection,
    ),
)
