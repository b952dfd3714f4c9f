"""Rules for read-ahead, request size, queue depth, write caches and flushes."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.host.advice.facts import DeviceFacts, Facts
from iostudy.host.advice.finding import (
    STREAMING_READS,
    STREAMING_WRITES,
    AdviceRule,
    Certainty,
    Observation,
    format_command,
    set_command,
    study_command,
    write_command,
)
from iostudy.host.device_kinds import DeviceKind

_READ_AHEAD = "block.read_ahead_kb"
_MAX_SECTORS = "block.max_sectors_kb"
_NR_REQUESTS = "block.nr_requests"
_ABI = "Documentation/ABI/stable/sysfs-block of the kernel"
DEFAULT_READ_AHEAD_KB = 128
STREAMING_READ_AHEAD_KB = (1024, 4096, 16384)
NCQ_DEPTH = 31
LARGE_REQUEST_KB = 32767
"""Value of report R5; some virtual devices report only the limit of the number type."""


def _read_ahead(facts: Facts) -> Iterator[Observation]:
    for entry in facts.writable:
        # btrfs has its own read-ahead, which no device queue shows.
        if entry.filesystem == "btrfs":
            continue
        device = facts.device(entry.devices[0])
        kib = device.number("read_ahead_kb")
        if kib is not None and kib <= DEFAULT_READ_AHEAD_KB:
            levels = (kib, *STREAMING_READ_AHEAD_KB)
            yield Observation(
                subject=device.node.device.disk,
                found=f"{kib} KiB",
                advised="the fastest level in a study",
                evidence=f"queue/read_ahead_kb, under {entry.mount.point}",
                command=study_command(entry, _READ_AHEAD, levels, STREAMING_READS),
            )


def _max_sectors(facts: Facts) -> Iterator[Observation]:
    for disk in facts.disks:
        largest, hardware = disk.number("max_sectors_kb"), disk.number("max_hw_sectors_kb")
        possible = min(hardware or 0, LARGE_REQUEST_KB)
        entry = facts.place_over(disk.name)
        if largest is not None and largest < possible and entry:
            yield Observation(
                subject=disk.name,
                found=f"{largest} KiB",
                advised=f"up to {possible} KiB",
                evidence=f"queue/max_hw_sectors_kb: {hardware}",
                command=study_command(entry, _MAX_SECTORS, (largest, possible), STREAMING_WRITES),
            )


def _depth_of_one(facts: Facts) -> Iterator[Observation]:
    for disk in facts.disks:
        # On a USB stick the protocol sets it, and the kernel refuses more.
        real = disk.is_ata and disk.node.kind in (DeviceKind.ROTATIONAL, DeviceKind.SSD)
        if disk.queue_depth == 1 and real:
            path = f"/sys/block/{disk.name}/device/queue_depth"
            yield Observation(
                subject=disk.name,
                found="one command at a time",
                advised=f"{NCQ_DEPTH}, as ATA allows",
                evidence=path,
                command=write_command(path, str(NCQ_DEPTH)),
            )


def _too_few_requests(facts: Facts) -> Iterator[Observation]:
    for disk in facts.disks:
        requests = disk.number("nr_requests")
        if requests is not None and disk.queue_depth is not None and requests < disk.queue_depth:
            yield Observation(
                subject=disk.name,
                found=str(requests),
                advised=f"at least {disk.queue_depth}",
                evidence=f"device/queue_depth: {disk.queue_depth}",
                command=set_command(_NR_REQUESTS, disk.queue_depth, disk.name),
            )


def _few_requests(facts: Facts) -> Iterator[Observation]:
    for disk in facts.disks:
        requests, entry = disk.number("nr_requests"), facts.place_over(disk.name)
        is_sorted = disk.scheduler is not None and disk.scheduler.current != "none"
        benefits = disk.node.kind is DeviceKind.ROTATIONAL and is_sorted
        if requests is not None and entry and benefits:
            yield Observation(
                subject=disk.name,
                found=str(requests),
                advised="the fastest level in a study",
                evidence=f"queue/nr_requests, queue depth {disk.queue_depth or 'unknown'}",
                command=study_command(
                    entry, _NR_REQUESTS, (requests, requests * 4), STREAMING_WRITES
                ),
            )


RULES = (
    AdviceRule(
        id="queue-depth-one",
        title="A disk processes one command at a time",
        certainty=Certainty.RECOMMENDATION,
        why="Without native command queuing a disk cannot reorder requests by head position, and "
        "idles between them. Some drives with faulty firmware are limited to one on purpose.",
        source='libata FAQ, "Enabling, disabling and checking NCQ"',
        check=_depth_of_one,
    ),
    AdviceRule(
        id="nr-requests-below-depth",
        title="The request queue is shorter than the device's queue depth",
        certainty=Certainty.RECOMMENDATION,
        setting=_NR_REQUESTS,
        why="With one hardware queue the device never reaches its queue depth; with several, each "
        "queue has that many requests.",
        source=f"{_ABI}, nr_requests",
        check=_too_few_requests,
    ),
    AdviceRule(
        id="read-ahead-streaming",
        title="Read-ahead is the kernel's default",
        certainty=Certainty.MEASURE,
        setting=_READ_AHEAD,
        why="Concurrent streams cost a seek at each switch. More read-ahead means fewer switches, "
        "but wastes memory and bandwidth on random reads. Report R5 found 16 MiB best for its "
        "jobs.",
        source=f"{_ABI}, read_ahead_kb; report R5",
        check=_read_ahead,
    ),
    AdviceRule(
        id="max-sectors-below-hardware",
        title="The request size limit is below the hardware's limit",
        certainty=Certainty.MEASURE,
        setting=_MAX_SECTORS,
        why="The kernel's limit prevents large requests from delaying others. Larger requests can "
        "help sequential streams on a RAID or a disk, and lengthen the wait of later "
        "requests.",
        source=f"{_ABI}, max_sectors_kb and max_hw_sectors_kb; report R5",
        check=_max_sectors,
    ),
    AdviceRule(
        id="nr-requests-to-sort",
        title="The number of requests that a scheduler can sort",
        certainty=Certainty.MEASURE,
        setting=_NR_REQUESTS,
        why="A longer queue gives the scheduler more requests to merge and sort, but requests "
        "wait longer. Report R5 searched 32 to 512 and kept 128.",
        source=f"{_ABI}, nr_requests; report R5",
        check=_few_requests,
    ),
)


_WRITE_BACK = "write back"
_NO_BARRIER = {"nobarrier", "barrier=0"}
_WRITE_CACHE = "block.write_cache"


def _flush_disabled(facts: Facts) -> Iterator[Observation]:
    for entry in facts.writable:
        options = sorted(_NO_BARRIER & set(entry.options))
        below = facts.topology.select_related(entry.devices).by_name
        volatile = [disk for disk in facts.disks if disk.name in below and _is_volatile(disk)]
        if options and volatile:
            point = str(entry.mount.point)
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
            fua = {None: "unknown", 0: "no"}.get(disk.number("fua"), "yes")
            yield Observation(
                subject=disk.name,
                found=f"{_WRITE_BACK}; protection against power loss is unknown",
                advised="find out before comparing durable writes",
                evidence=f"queue/write_cache: {_WRITE_BACK}; forced unit access (queue/fua): {fua}",
                command=_inquiry_command(disk),
            )


def _is_volatile(disk: DeviceFacts) -> bool:
    return disk.queue.get("write_cache") == _WRITE_BACK


def _inquiry_command(disk: DeviceFacts) -> str:
    """Query the drive itself; of a disk on another bus only the model leads to a data sheet."""
    node = str(disk.node.device.path)
    if disk.node.kind is DeviceKind.NVME:
        return format_command(["nvme", "id-ctrl", "--human-readable", node])
    if disk.node.device.bus == "scsi" and disk.node.kind is not DeviceKind.VIRTUAL:
        return format_command(["smartctl", "--xall", node])
    return format_command(["lsblk", "--nodeps", "-o", "NAME,VENDOR,MODEL,SERIAL,REV", node])


CACHE_RULES = (
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
        setting=_WRITE_CACHE,
        why="The kernel flushes such a cache for every fsync. Drives with power-loss protection "
        "answer immediately, others take milliseconds, so durable writes differ by drive and "
        "not by setting. 'write through' would not prove protection: it can be set by hand, "
        "and changes the kernel, not the drive.",
        source="Documentation/ABI/stable/sysfs-block of the kernel, write_cache",
        check=_unknown_protection,
    ),
)
