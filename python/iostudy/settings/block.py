"""The settings of a block device's queue, bound to a device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from iostudy.errors import SettingError
from iostudy.host import stack
from iostudy.host.devices import BlockDevice
from iostudy.settings.change import SettingKind
from iostudy.settings.identity import DeviceIdentity
from iostudy.settings.queue import Queue, QueueChange
from iostudy.settings.queue_definitions import Layer, QueueSettingDefinition


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


KIND = SettingKind(QueueSettingDefinition, bind, changes)


def _devices(layer: Layer, place: str) -> tuple[BlockDevice, ...]:
    match layer:
        case Layer.SCHEDULING:
            return stack.scheduling_devices(place)
        case Layer.TOP:
            return stack.top_devices(place)
        case _:
            assert_never(layer)
