"""The settings of a block device's queue: names, ranges and documentation, apart from any host."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from iostudy.settings.definition import Cost, SettingDefinition


class Layer(StrEnum):
    """Which block device of a stack a setting belongs to.

    SCHEDULING is the first queue on the way down that schedules requests (the disk below a
    device-mapper volume, say); TOP the whole disk or volume that the file system sits on.
    """

    SCHEDULING = "scheduling"
    TOP = "top"


@dataclass(frozen=True, kw_only=True)
class QueueSettingDefinition(SettingDefinition):
    """A setting that is the file ``attribute`` below ``/sys/block/DEVICE/queue``."""

    attribute: str
    layer: Layer
    cost: Cost = Cost.CHEAP


SCHEDULER_OF_QUEUE = QueueSettingDefinition(
    name="block.scheduler",
    attribute="scheduler",
    unit="",
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
    source="Documentation/block/switching-sched.rst; Documentation/ABI/stable/sysfs-block",
    layer=Layer.SCHEDULING,
    choices=(
        "none",
        "mq-deadline",
        "kyber",
        "bfq",
        "noop",
        "deadline",
        "cfq",
        "anticipatory",
    ),
)
READ_AHEAD = QueueSettingDefinition(
    name="block.read_ahead_kb",
    attribute="read_ahead_kb",
    unit="KiB",
    default="128, or twice the device's optimal I/O size if that is more",
    documentation=(
        "How far the page cache reads ahead of sequential buffered reads. 0 turns it off. The "
        "kernel rounds down to whole pages. It belongs to the device the file system sits on, not "
        "to the disks below; btrfs has its own and ignores this one."
    ),
    source="Documentation/ABI/stable/sysfs-block (read_ahead_kb); mm/readahead.c",
    layer=Layer.TOP,
    minimum=0,
    maximum=1 << 20,
    step=4,
)
NR_REQUESTS = QueueSettingDefinition(
    name="block.nr_requests",
    attribute="nr_requests",
    unit="requests",
    default="the hardware queue's depth with none; 256 or twice that depth under a scheduler",
    documentation=(
        "How many requests may be allocated per queue before a submitter has to wait. With none "
        "no more than the hardware's depth; under a scheduler more, from which it can choose."
    ),
    source="Documentation/ABI/stable/sysfs-block (nr_requests); block/blk-sysfs.c",
    layer=Layer.SCHEDULING,
    minimum=4,
    maximum=10240,
)
DEFINITIONS = (SCHEDULER_OF_QUEUE, READ_AHEAD, NR_REQUESTS)
