"""Catalogue of all setting definitions, by name."""

from __future__ import annotations

import re

from iostudy.settings.definition import SettingDefinition
from iostudy.settings.definitions import (
    bdi,
    cgroup,
    cpu,
    filesystem,
    hadoop,
    hdfs,
    hdfs_mount,
    limit,
    mapreduce,
    memory,
    mount,
    queue,
    schedulers,
    sysctl,
    volume,
)
from iostudy.settings.sysctl_keys import FOLDERS

# One line for each kind, in the order they are shown.
_ALL: dict[str, SettingDefinition] = {
    definition.name: definition
    for definition in (
        *queue.DEFINITIONS,
        *schedulers.DEFINITIONS,
        *bdi.DEFINITIONS,
        *sysctl.DEFINITIONS,
        *memory.DEFINITIONS,
        *cpu.DEFINITIONS,
        *mount.DEFINITIONS,
        *hdfs_mount.DEFINITIONS,
        *limit.DEFINITIONS,
        *cgroup.DEFINITIONS,
        *filesystem.DEFINITIONS,
        *volume.DEFINITIONS,
        *hadoop.DEFINITIONS,
        *hdfs.DEFINITIONS,
        *mapreduce.DEFINITIONS,
    )
}


def names() -> tuple[str, ...]:
    """Return all documented names, in display order.

    Any other sysctl or Hadoop property is a setting as well.
    """
    return tuple(_ALL)


def full_name(name: str) -> str:
    """Return the name with the prefix of its kind: ``vm.swappiness`` is a sysctl's key."""
    folder = re.split(r"[./]", name, maxsplit=1)[0]
    return f"{sysctl.PREFIX}{name}" if folder in FOLDERS else name


def get(name: str) -> SettingDefinition:
    """Return the definition of a name, on demand for open-ended names; KeyError if unknown.

    A sysctl's key alone is a name of it.
    """
    name = full_name(name)
    demand = hadoop.define_property if name.startswith(hadoop.PREFIX) else sysctl.define_key
    return _ALL.get(name) or demand(name)
