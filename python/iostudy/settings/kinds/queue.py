"""Attributes of block devices' queues.

Switching the scheduler makes the kernel reset other attributes: nr_requests, the write-back
throttling latency and every tunable of the scheduler itself start from defaults, also on the way
back. Some tunables of bfq are two views of one number, or raise one another. Whatever sets the
queue's limits anew (since Linux 6.9) sets the read-ahead anew, too, or raises it (since 6.15).

Source: elevator_switch() and blk_mq_init_sched() in the kernel's block/elevator.c and
block/blk-mq-sched.c; the store functions in block/bfq-iosched.c; queue_limits_commit_update() and
blk_apply_bdi_limits() in block/blk-settings.c; Documentation/ABI/stable/sysfs-block.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, assert_never

from iostudy.errors import SettingError, TargetError
from iostudy.host import stack
from iostudy.host.devices import BlockDevice, parse_scheduler
from iostudy.host.files import ROOT
from iostudy.settings import attributes
from iostudy.settings.attributes import AttributeChange, AttributeSetting, SideEffects
from iostudy.settings.change import Record, SettingKind
from iostudy.settings.definitions.queue import Layer, QueueSettingDefinition
from iostudy.settings.identity import DeviceIdentity
from iostudy.settings.kinds.host_files import KernelFiles

SCHEDULER = "scheduler"
_FIRST = (SCHEDULER, "nr_requests", "iosched/strict_guarantees")
"""Written first in this order, because they reset or raise the others."""

_READ_AHEAD = "read_ahead_kb"
_LIMITS = ("max_sectors_kb", "rotational", "write_cache", "iostats", "add_random")
"""Attributes among the kernel's queue limits."""

_TWO_VIEWS = ("slice_idle", "group_idle", "slice_sync", "slice_async", "target_latency")
"""Tunables of bfq and cfq that there are in milliseconds and in microseconds (Linux 4.8)."""


def _views(tunable: str) -> tuple[str, str]:
    return f"iosched/{tunable}", f"iosched/{tunable}_us"


_MODULES = {"kyber": "kyber-iosched", "cfq": "cfq-iosched", "deadline": "deadline-iosched"}


@dataclass(frozen=True)
class Queue(KernelFiles):
    """The attribute files below ``/sys/block/DEVICE/queue``."""

    kind: ClassVar[str] = "block-queue"
    side_effects: ClassVar[SideEffects] = {
        SCHEDULER: ("nr_requests", "async_depth", "wbt_lat_usec", "iosched/*"),
        "nr_requests": ("async_depth", "iosched/async_depth"),
        "iosched/strict_guarantees": _views("slice_idle"),
        **{view: _views(tunable) for tunable in _TWO_VIEWS for view in _views(tunable)},
        **dict.fromkeys(_LIMITS, (_READ_AHEAD,)),
    }

    device: DeviceIdentity

    @classmethod
    def from_record(cls, record: Record) -> Queue:
        return cls(DeviceIdentity.from_record(record))

    def record(self) -> Record:
        return self.device.record()

    def path(self, attribute: str) -> Path:
        return ROOT / "sys/block" / self.device.name / "queue" / attribute

    @property
    def name(self) -> str:
        return self.device.name

    def absence_reason(self) -> str | None:
        return self.device.absence_reason()

    def affected_resources(self) -> tuple[str, ...]:
        return (self.device.name,)

    def write_order(self, attributes: Iterable[str]) -> list[str]:
        """Return attributes that reset others first; milliseconds before finer microseconds."""
        rank = {name: number for number, name in enumerate(_FIRST)}
        rank[_READ_AHEAD] = len(rank) + 1
        return sorted(attributes, key=lambda name: (rank.get(name, len(_FIRST)), name))

    def read(self, attribute: str) -> str | None:
        """The text; of schedulers the one in brackets."""
        text = super().read(attribute)
        return parse_scheduler(text).current if text and attribute == SCHEDULER else text

    def available_values(self, attribute: str) -> tuple[str, ...]:
        """Return the schedulers of this queue; nothing for other attributes."""
        text = super().read(SCHEDULER) if attribute == SCHEDULER else None
        return parse_scheduler(text).available if text else ()

    def remedy(self, error: OSError, attribute: str, value: str) -> str:
        if isinstance(error, PermissionError) or error.errno == errno.EROFS:
            return super().remedy(error, attribute, value)
        if attribute == SCHEDULER:
            module = _MODULES.get(value, value)
            return f"load it with `modprobe {module}` if this kernel has it, or choose one offered"
        return "choose a value in the range that this kernel and device allow"


@dataclass(frozen=True)
class QueueSetting(AttributeSetting):
    """An attribute of a queue, which may belong to a scheduler.

    Several schedulers have tunables of the same name, so the file does not identify the
    scheduler.
    """

    def read(self) -> str:
        """Return the current value; SettingError if unreadable or of another scheduler."""
        self.require(self.owner.read(SCHEDULER))
        return super().read()

    def require(self, scheduler: str | None) -> None:
        """SettingError if the setting is not there under that scheduler."""
        condition = self.definition.condition
        if condition is not None and not condition.holds(scheduler or ""):
            raise SettingError(
                f"{self.label}, which is there only while {condition}",
                found=f"the scheduler is {scheduler}",
                where=self.owner.location(self.attribute),
                remedy=f"set {condition.name} with it, or leave it out; in a study, "
                f"add `{condition.name}: [{', '.join(condition.values)}]` to the factors",
            )


def bind(definition: QueueSettingDefinition, place: str) -> tuple[QueueSetting, ...]:
    """The setting on every device that it concerns below ``place``; TargetError if none."""
    return tuple(
        QueueSetting(definition, Queue(DeviceIdentity.from_device(device)), definition.attribute)
        for device in _devices(definition.layer, place)
    )


def changes(wanted: Mapping[QueueSetting, str]) -> tuple[AttributeChange, ...]:
    """Return a change per queue; SettingError for a tunable without its scheduler."""
    schedulers = {s.owner: value for s, value in wanted.items() if s.attribute == SCHEDULER}
    for setting in wanted:
        setting.require(schedulers.get(setting.owner) or setting.owner.read(SCHEDULER))
    return attributes.prepare_changes(wanted)


KIND = SettingKind(QueueSettingDefinition, bind, changes)


def _devices(layer: Layer, place: str) -> tuple[BlockDevice, ...]:
    match layer:
        case Layer.SCHEDULING:
            return stack.scheduling_devices(place)
        case Layer.QUEUE:
            return request_queues(place)
        case Layer.TOP:
            return stack.top_devices(place)
        case _:
            assert_never(layer)


def request_queues(place: str) -> tuple[BlockDevice, ...]:
    """The devices whose queues schedule requests below ``place``, else the lowest ones."""
    try:
        return stack.scheduling_devices(place)
    except TargetError:
        whole = stack.whole_stack(place)
        return tuple(d for d in whole if not d.partition_of and not stack.lower_devices(d))
