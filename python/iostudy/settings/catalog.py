"""Every setting there is, by name: values that need no host. `iostudy.settings.kinds` acts."""

from __future__ import annotations

from iostudy.settings.definition import SettingDefinition
from iostudy.settings.definitions import (
    bdi,
    cgroup,
    cpu,
    filesystem,
    hadoop,
    limit,
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
    )
}


def names() -> tuple[str, ...]:
    """All documented names, in the order they are shown; any other sysctl is a setting, too."""
    return tuple(_ALL)


def get(name: str) -> SettingDefinition:
    """The definition of that name, made on demand for a sysctl; KeyError if there is none."""
    return _ALL.get(name) or sysctl.on_demand(name)
