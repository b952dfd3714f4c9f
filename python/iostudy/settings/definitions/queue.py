"""The settings of a block device's queue that do not belong to a scheduler."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from enum import StrEnum

from iostudy.settings.definition import Reach, SettingCondition, SettingDefinition, Switching
from iostudy.settings.values import Choice, Integer, TextLine

_SYSFS_BLOCK = "Documentation/ABI/stable/sysfs-block"


class Layer(StrEnum):
    """Which block devices of a stack a setting belongs to.

    SCHEDULING are the first queues on the way down that schedule requests (the disks below a
    device-mapper volume, say); QUEUE the same or, where none schedules, the last on the way; TOP
    is the whole disk or volume that the file system sits on.
    """

    SCHEDULING = "scheduling"
    QUEUE = "queue"
    TOP = "top"


@dataclass(frozen=True, kw_only=True)
class QueueSettingDefinition(SettingDefinition):
    """A setting that is the file ``attribute`` below ``/sys/block/DEVICE/queue``."""

    attribute: str
    layer: Layer = Layer.QUEUE
    reach: Reach = Reach.DEVICE


PREFIX = "block."

CFQ_2_6_32 = "cfq-2.6.32"
"""A scheduler that no kernel has under that name: it is simulated."""
SCHEDULER = QueueSettingDefinition(
    name="block.scheduler",
    attribute="scheduler",
    default="chosen by the kernel: mq-deadline for a single hardware queue, none for several",
    documentation=(
        "The I/O scheduler, which orders the requests of a device. none keeps the order of "
        "arrival; mq-deadline bounds the waiting time of a request and prefers reads; kyber "
        "limits the queue depth to reach target latencies; bfq shares the bandwidth among "
        "processes. Kernels before 5.0 offer noop, deadline, cfq (and before 2.6.33 anticipatory) "
        "instead. cfq-2.6.32 is cfq as Linux 2.6.32 had it, for simulations only. A new scheduler "
        "resets nr_requests, wbt_lat_usec and its own tunables; iostudy "
        "saves these values and restores them."
    ),
    source=f"Documentation/block/switching-sched.rst; {_SYSFS_BLOCK}",
    layer=Layer.SCHEDULING,
    values=Choice(
        (
            "none",
            "mq-deadline",
            "kyber",
            "bfq",
            "noop",
            "deadline",
            "cfq",
            "anticipatory",
            CFQ_2_6_32,
        )
    ),
    switching=Switching(
        "kyber adapts its depths for a second, bfq and cfq learn for several",
        settled=frozenset({"none", "noop", "mq-deadline", "deadline"}),
    ),
)
READ_AHEAD = QueueSettingDefinition(
    name="block.read_ahead_kb",
    attribute="read_ahead_kb",
    unit="KiB",
    default=(
        "128, or twice the device's optimal I/O size if that is more (since Linux 6.17, on "
        "rotational devices without one, twice max_sectors_kb)"
    ),
    documentation=(
        "Read-ahead of the page cache for sequential buffered reads. 0 turns it off. The kernel "
        "rounds down to whole pages. It belongs to the device below the file system, not to the "
        "disks below that device; btrfs has its own value and ignores this one. Since Linux 6.9 a "
        "change of max_sectors_kb, rotational, write_cache, iostats or add_random resets it to "
        "its default (since 6.15 only if it is smaller). iostudy writes it after them, and "
        "restores it."
    ),
    source=f"{_SYSFS_BLOCK} (read_ahead_kb); mm/readahead.c; block/blk-settings.c",
    layer=Layer.TOP,
    values=Integer(0, 1 << 20, "KiB", step=4),
    switching=Switching("an open file keeps the read-ahead of its opening"),
)
NR_REQUESTS = QueueSettingDefinition(
    name="block.nr_requests",
    attribute="nr_requests",
    unit="requests",
    default="the hardware queue's depth with none; under a scheduler twice that, at most 256",
    documentation=(
        "Maximum number of allocated requests per queue; further submitters wait. With none it is "
        "limited by the hardware's depth. With a scheduler it can be larger, and the scheduler "
        "chooses among these requests."
    ),
    source=f"{_SYSFS_BLOCK} (nr_requests); block/blk-sysfs.c",
    layer=Layer.SCHEDULING,
    values=Integer(4, 10240, "requests"),
    switching=Switching(),
)
MAX_SECTORS = QueueSettingDefinition(
    name="block.max_sectors_kb",
    attribute="max_sectors_kb",
    unit="KiB",
    default="1280 (4096 since Linux 6.17), or max_hw_sectors_kb if that is less",
    documentation=(
        "Maximum size of a request. It is limited by max_hw_sectors_kb, and on a volume by its "
        "disks: raise theirs first. On a rotational device it may raise read_ahead_kb: set that "
        "as well to keep the effects separate."
    ),
    source=f"{_SYSFS_BLOCK} (max_sectors_kb); block/blk-settings.c",
    values=Integer(4, 1 << 20, "KiB"),
    switching=Switching(),
)
NOMERGES = QueueSettingDefinition(
    name="block.nomerges",
    attribute="nomerges",
    default="0",
    documentation=(
        "Merging of requests for adjacent blocks: 0 tries all merges, 1 only simple ones, 2 none."
    ),
    source=f"{_SYSFS_BLOCK} (nomerges)",
    values=Choice(("0", "1", "2")),
    switching=Switching(),
)
RQ_AFFINITY = QueueSettingDefinition(
    name="block.rq_affinity",
    attribute="rq_affinity",
    default="1",
    documentation=(
        "CPU that completes a request: 0 the CPU of the interrupt, 1 the CPU group of the "
        "submitter, 2 the CPU of the submitter."
    ),
    source=f"{_SYSFS_BLOCK} (rq_affinity)",
    values=Choice(("0", "1", "2")),
    switching=Switching(),
)
WRITEBACK_THROTTLING = QueueSettingDefinition(
    name="block.wbt_lat_usec",
    attribute="wbt_lat_usec",
    unit="us",
    default="75000 on rotational devices, 2000 on others; 0 under bfq",
    documentation=(
        "Target read latency of write-back throttling, which delays background writes. 0 turns "
        "throttling off. After a manual write the kernel no longer turns it off for bfq; no write "
        "to the attribute reverses this."
    ),
    source=f"{_SYSFS_BLOCK} (wbt_lat_usec); block/blk-wbt.c",
    values=Integer(0, 60_000_000, "us"),
    switching=Switching(
        "it delays write-back, from which dirty memory separates the workload by seconds"
    ),
)
ROTATIONAL = QueueSettingDefinition(
    name="block.rotational",
    attribute="rotational",
    default="as the device reports it",
    documentation=(
        "Whether the kernel treats the device as a spinning disk (1) or not (0). bfq, the "
        "defaults of wbt_lat_usec and read_ahead_kb, swap and the allocators of btrfs and ext4 "
        "use it; file systems read it at their mount. Virtual disks on flash often report 1. A "
        "change may raise read_ahead_kb: set that as well to keep the effects separate."
    ),
    source=f"{_SYSFS_BLOCK} (rotational)",
    values=Choice(("0", "1")),
    switching=Switching("file systems read it at their mount"),
)
WRITE_CACHE = QueueSettingDefinition(
    name="block.write_cache",
    attribute="write_cache",
    default="as the device reports it",
    documentation=(
        "The kernel's assumption about the device's cache. With 'write through' it sends no "
        "flushes. The device itself does not change."
    ),
    source=f"{_SYSFS_BLOCK} (write_cache)",
    caution=(
        "'write through' on a device with a volatile cache loses data, and possibly file systems, "
        "at a power failure"
    ),
    values=Choice(("write back", "write through")),
    switching=Switching(
        "the first flush of the next level writes what this one left in the device's cache"
    ),
)
IOSTATS = QueueSettingDefinition(
    name="block.iostats",
    attribute="iostats",
    default="1 (0 on device-mapper volumes of old kernels)",
    documentation=(
        "Whether the kernel counts the device's I/O. With 0, /proc/diskstats and the telemetry of "
        "the trial do not change, so foreign I/O remains undetected."
    ),
    source=f"{_SYSFS_BLOCK} (iostats)",
    values=Choice(("0", "1")),
    switching=Switching("with 0 the device counts no I/O, which telemetry of the run needs"),
)
ADD_RANDOM = QueueSettingDefinition(
    name="block.add_random",
    attribute="add_random",
    default="0 on flash, 1 on spinning disks",
    documentation="Whether interrupt times of the device contribute to the kernel's entropy.",
    source=f"{_SYSFS_BLOCK} (add_random)",
    values=Choice(("0", "1")),
    switching=Switching(),
)
DEFINITIONS = (
    SCHEDULER,
    READ_AHEAD,
    NR_REQUESTS,
    MAX_SECTORS,
    NOMERGES,
    RQ_AFFINITY,
    WRITEBACK_THROTTLING,
    ROTATIONAL,
    WRITE_CACHE,
    IOSTATS,
    ADD_RANDOM,
)

OTHERS = frozenset(
    {
        "async_depth",
        "discard_max_bytes",
        "io_poll",
        "io_poll_delay",
        "io_timeout",
        "iostats_passthrough",
        "stable_writes",
        "throttle_sample_time",
        "write_zeroes_max_bytes",
    }
)
"""Attributes that kernels have and iostudy does not describe."""
_ATTRIBUTE = re.compile(r"block\.(?:([a-z0-9-]+)\.)?([a-z0-9_]+)", re.ASCII)
_SIMILAR = 0.8


def define_attribute(name: str) -> QueueSettingDefinition:
    """Define any attribute of a queue, or tunable of a scheduler; KeyError for what can be none.

    KeyError also for a name that resembles a described one, which is more likely meant.
    """
    match = _ATTRIBUTE.fullmatch(name)
    attributes = [definition.attribute for definition in DEFINITIONS]
    if match is None or (match[1] and match[1] not in SCHEDULER.choices):
        raise KeyError(name)
    scheduler, attribute = match.groups()
    is_similar = difflib.get_close_matches(attribute, attributes, n=1, cutoff=_SIMILAR)
    if attribute not in OTHERS and is_similar:
        raise KeyError(name)
    return QueueSettingDefinition(
        name=name,
        attribute=f"iosched/{attribute}" if scheduler else attribute,
        layer=Layer.SCHEDULING if scheduler else Layer.QUEUE,
        default="as the kernel or the driver sets it",
        documentation=(
            "An attribute of a queue without a definition in iostudy. iostudy first writes its "
            "current value, to verify that the kernel accepts it. Side effects are unknown."
        ),
        source=_SYSFS_BLOCK,
        values=TextLine("1"),
        switching=Switching("its effect on a running workload is unknown"),
        condition=SettingCondition(SCHEDULER.name, (scheduler,)) if scheduler else None,
        undocumented=True,
    )
