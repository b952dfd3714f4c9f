"""Every setting there is, by name: values that need no host. `iostudy.settings.kinds` acts."""

from __future__ import annotations

from iostudy.settings.definition import SettingDefinition
from iostudy.settings.definitions import cgroup, filesystem, limit, mount, queue, schedulers

# One line for each kind, in the order they are shown.
_ALL: dict[str, SettingDefinition] = {
    definition.name: definition
    for definition in (
        *queue.DEFINITIONS,
        *schedulers.DEFINITIONS,
        *mount.DEFINITIONS,
        *limit.DEFINITIONS,
        *cgroup.DEFINITIONS,
        *filesystem.DEFINITIONS,
    )
}


def names() -> tuple[str, ...]:
    """All names, in the order they are shown."""
    return tuple(_ALL)


def get(name: str) -> SettingDefinition:
    """The definition of that name; KeyError if there is none."""
    return _ALL[name]
