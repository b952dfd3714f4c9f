"""Every setting there is, by name: values that need no host. `iostudy.settings.kinds` acts."""

from __future__ import annotations

from iostudy.settings.definition import SettingDefinition
from iostudy.settings.definitions import (
    bdi,
    cgroup,
    cpu,
    filesystem,
    hadoop,
    hdfs,
    limit,
    mapreduce,
    memory,
    mount,
    queue,
    schedulers,
    sysctl,
)

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
        *limit.DEFINITIONS,
        *cgroup.DEFINITIONS,
        *filesystem.DEFINITIONS,
        *hadoop.DEFINITIONS,
        *hdfs.DEFINITIONS,
        *mapreduce.DEFINITIONS,
    )
}


def names() -> tuple[str, ...]:
    """All documented names, in the order they are shown.

    Any other sysctl is a setting, too, and so is any other property of Hadoop's.
    """
    return tuple(_ALL)


def get(name: str) -> SettingDefinition:
    """The definition of that name, made on demand where names are free; KeyError if it is none."""
    demand = hadoop.on_demand if name.startswith(hadoop.PREFIX) else sysctl.on_demand
    return _ALL.get(name) or demand(name)
