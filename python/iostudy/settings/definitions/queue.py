"""The settings of a block device's queue that do not belong to a scheduler."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from iostudy.settings.definition import Reach, SettingDefinition
from iostudy.settings.values import Choice, Whole

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


SCHEDULER = QueueSettingDefinition(
    name="block.scheduler",
    attribute="scheduler",
    default="chosen by the kernel: mq-deadline for a single hardware queue, none for several",
    documentation=(
        "The I/O scheduler: the order in which a device's requests are sent to it. "
        "none keeps the order of arrival; mq-deadline bounds the time a request waits and prefers "
        "reads; kyber limits the queue depth to reach target latencies; bfq shares the bandwidth "
        "among processes. Kernels before 5.0 offer noop, deadline, cfq (and before 2.6.33 "
        "anticipatory) instead. "
        "Switching makes the kernel reset nr_requests, wbt_lat_usec and the scheduler's own "
        "tunables; iostudy saves these and mends them when it restores."
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
        )
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
        "How far the page cache reads ahead of sequential buffered reads. 0 turns it off. The "
        "kernel rounds down to whole pages. It belongs to the device the file system sits on, not "
        "to the disks below; btrfs has its own and ignores this one. Since Linux 6.9 a change of "
        "max_sectors_kb, rotational, write_cache, iostats or add_random sets it to its default "
        "(since 6.15 only where it is less); iostudy writes it after them, and mends it."
    ),
    source=f"{_SYSFS_BLOCK} (read_ahead_kb); mm/readahead.c; block/blk-settings.c",
    layer=Layer.TOP,
    values=Whole(0, 1 << 20, "KiB", step=4),
)
NR_REQUESTS = QueueSettingDefinition(
    name="block.nr_requests",
    attribute="nr_requests",
    unit="requests",
    default="the hardware queue's depth with none; under a scheduler twice that, at most 256",
    documentation=(
        "How many requests may be allocated per queue before a submitter has to wait. With none "
        "no more than the hardware's depth; under a scheduler more, from which it can choose."
    ),
    source=f"{_SYSFS_BLOCK} (nr_requests); block/blk-sysfs.c",
    layer=Layer.SCHEDULING,
    values=Whole(4, 10240, "requests"),
)
MAX_SECTORS = QueueSettingDefinition(
    name="block.max_sectors_kb",
    attribute="max_sectors_kb",
    unit="KiB",
    default="1280 (4096 since Linux 6.17), or max_hw_sectors_kb if that is less",
    documentation=(
        "The largest request that the kernel makes of what is read or written. At most "
        "max_hw_sectors_kb, and on a volume at most what its disks allow: raise theirs first. On a "
        "rotational device it may raise read_ahead_kb: name that, too, to keep them apart."
    ),
    source=f"{_SYSFS_BLOCK} (max_sectors_kb); block/blk-settings.c",
    values=Whole(4, 1 << 20, "KiB"),
)
NOMERGES = QueueSettingDefinition(
    name="block.nomerges",
    attribute="nomerges",
    default="0",
    documentation=(
        "Whether requests for neighbouring blocks are merged: 0 tries everything, 1 only what is "
        "cheap to find, 2 nothing."
    ),
    source=f"{_SYSFS_BLOCK} (nomerges)",
    values=Choice(("0", "1", "2")),
)
RQ_AFFINITY = QueueSettingDefinition(
    name="block.rq_affinity",
    attribute="rq_affinity",
    default="1",
    documentation=(
        "Where a request is completed: 0 on whichever CPU takes the interrupt, 1 on the group of "
        "CPUs that asked for it, 2 on the very CPU."
    ),
    source=f"{_SYSFS_BLOCK} (rq_affinity)",
    values=Choice(("0", "1", "2")),
)
WRITEBACK_THROTTLING = QueueSettingDefinition(
    name="block.wbt_lat_usec",
    attribute="wbt_lat_usec",
    unit="us",
    default="75000 on rotational devices, 2000 on others; 0 under bfq",
    documentation=(
        "The read latency that write-back throttling aims at, by holding back background writes. "
        "0 turns throttling off. Once it was set by hand, the kernel does not turn it off by "
        "itself any more when bfq is chosen; no write to the attribute takes that back."
    ),
    source=f"{_SYSFS_BLOCK} (wbt_lat_usec); block/blk-wbt.c",
    values=Whole(0, 60_000_000, "us"),
)
ROTATIONAL = QueueSettingDefinition(
    name="block.rotational",
    attribute="rotational",
    default="what the device says of itself",
    documentation=(
        "Whether the kernel takes the device for a spinning disk (1) or not (0). bfq, the "
        "defaults of wbt_lat_usec and read_ahead_kb, swap and the allocators of btrfs and ext4 "
        "look at it; file systems do so when they are mounted. Virtual disks often say 1 of what "
        "is flash. A change may raise read_ahead_kb: name that, too, to keep them apart."
    ),
    source=f"{_SYSFS_BLOCK} (rotational)",
    values=Choice(("0", "1")),
)
WRITE_CACHE = QueueSettingDefinition(
    name="block.write_cache",
    attribute="write_cache",
    default="what the device says of itself",
    documentation=(
        "What the kernel takes the device's cache for. With 'write through' it sends no flushes. "
        "It changes nothing in the device itself."
    ),
    source=f"{_SYSFS_BLOCK} (write_cache)",
    caution=(
        "'write through' on a device that does cache writes loses data, and file systems with "
        "them, when the power fails"
    ),
    values=Choice(("write back", "write through")),
)
IOSTATS = QueueSettingDefinition(
    name="block.iostats",
    attribute="iostats",
    default="1 (0 on device-mapper volumes of old kernels)",
    documentation=(
        "Whether the kernel counts the device's I/O. Without (0) /proc/diskstats, and with it the "
        "telemetry of the trial, stands still: foreign I/O cannot be noticed then."
    ),
    source=f"{_SYSFS_BLOCK} (iostats)",
    values=Choice(("0", "1")),
)
ADD_RANDOM = QueueSettingDefinition(
    name="block.add_random",
    attribute="add_random",
    default="0 on flash, 1 on spinning disks",
    documentation="Whether the times of the device's interrupts feed the kernel's random numbers.",
    source=f"{_SYSFS_BLOCK} (add_random)",
    values=Choice(("0", "1")),
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
