"""Every setting there is, by name; and the way from a name and a place to what acts there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from iostudy.settings import block
from iostudy.settings.block import BlockQueueSetting
from iostudy.settings.change import Change, Setting
from iostudy.settings.definition import SettingDefinition

_ALL = {definition.name: definition for definition in block.DEFINITIONS}


def names() -> tuple[str, ...]:
    """All names, in the order they are shown."""
    return tuple(_ALL)


def get(name: str) -> SettingDefinition:
    """The definition of that name; KeyError if there is none."""
    return _ALL[name]


def bind(name: str, place: str | Path) -> tuple[Setting, ...]:
    """The setting wherever it holds for ``place``: a path, a device node or a device name.

    Several where several disks make up one level below ``place``; all want the same value. KeyError
    for an unknown name, TargetError if there is no such place or nothing to set there.
    """
    return block.bind(_ALL[name], os.fspath(place))


def changes(wanted: Mapping[Setting, str]) -> tuple[Change, ...]:
    """What has to be changed so that every setting has its value; reads what is there now.

    SettingError where a setting cannot be changed. Values must have passed ``definition.parse``.
    """
    queues: dict[BlockQueueSetting, str] = {}
    for setting, value in wanted.items():
        match setting:
            case BlockQueueSetting():
                queues[setting] = value
            case _:
                raise TypeError(f"no kind of change belongs to {setting.label}")
    return block.changes(queues)
