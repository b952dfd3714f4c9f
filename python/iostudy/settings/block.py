"""The settings of a block device's queue: their definitions, and the same bound to a device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from iostudy.errors import SettingError
from iostudy.host import stack
from iostudy.host.devices import BlockDevice
from iostudy.settings.definition import Cost, SettingDefinition
from iostudy.settings.identity import DeviceIdentity
from iostudy.settings.queue import SCHEDULER, Queue, QueueChange


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
    attribute=SCHEDULER,
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


@dataclass(frozen=True)
class BlockQueueSetting:
    """A queue setting of one device."""

    definition: QueueSettingDefinition
    device: DeviceIdentity

    @property
    def label(self) -> str:
        """``block.scheduler@loop0``."""
        return f"{self.definition.name}@{self.device.name}"

    def read(self) -> str:
        """The value that holds now; of schedulers the one in brackets."""
        queue = Queue(self.device.name)
        value = queue.read(self.definition.attribute)
        if value is None:
            raise SettingError(
                f"to read {self.label}",
                found="the device is gone, or its queue has no such attribute",
                where=str(queue.folder / self.definition.attribute),
                remedy="see `iostudy doctor` for the devices and settings there are",
            )
        return value

    def offered(self) -> tuple[str, ...]:
        """The schedulers on offer; empty for a number."""
        return Queue(self.device.name).offered() if self.definition.choices else ()


def bind(definition: QueueSettingDefinition, place: str) -> tuple[BlockQueueSetting, ...]:
    """The setting on every device that it concerns below ``place``; TargetError if none."""
    devices = _devices(definition.layer, place)
    return tuple(BlockQueueSetting(definition, DeviceIdentity.of(device)) for device in devices)


def changes(wanted: Mapping[BlockQueueSetting, str]) -> tuple[QueueChange, ...]:
    """One change per device for all that is wanted; reads what is there."""
    by_device: dict[DeviceIdentity, dict[str, str]] = {}
    for setting, value in wanted.items():
        by_device.setdefault(setting.device, {})[setting.definition.attribute] = value
    return tuple(QueueChange.prepare(device, after) for device, after in by_device.items())


def _devices(layer: Layer, place: str) -> tuple[BlockDevice, ...]:
    match layer:
        case Layer.SCHEDULING:
            return stack.scheduling_devices(place)
        case Layer.TOP:
            return stack.top_devices(place)
        case _:
            assert_never(layer)
