"""Catalogue of all setting definitions, by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from iostudy import plugins
from iostudy.core import registered
from iostudy.settings.definition import SettingDefinition, SettingFamily
from iostudy.settings.definitions import (
    bdi,
    cgroup,
    filesystem,
    limit,
    mount,
    queue,
    schedulers,
    sysctl,
    volume,
)
from iostudy.settings.definitions.declared import AttributeDefinition
from iostudy.settings.sysctl_keys import FOLDERS, path_key

# One line for each kind, in the order they are shown.
_CORE: dict[str, SettingDefinition] = {
    definition.name: definition
    for definition in (
        *queue.DEFINITIONS,
        *schedulers.DEFINITIONS,
        *bdi.DEFINITIONS,
        *sysctl.DEFINITIONS,
        *mount.DEFINITIONS,
        *limit.DEFINITIONS,
        *cgroup.DEFINITIONS,
        *filesystem.DEFINITIONS,
        *volume.DEFINITIONS,
    )
}

_SHIPPED = Path(__file__).parent / "definitions" / "declared.yaml"
_PROC_SYS = "/proc/sys/"

_declared: dict[str, SettingDefinition] = {}
"""Definitions that the study, the user or the host has declared; of one name the last one."""


@cache
def _families() -> tuple[SettingFamily, ...]:
    """Return the settings of plugins."""
    return tuple(plugins.load(ref) for plugin in registered() for ref in plugin.settings.values())


@cache
def _documented() -> Mapping[str, SettingDefinition]:
    """Return the settings of the core and of plugins by name, those of one kind together."""
    definitions = _CORE | {
        member.name: member for family in _families() for member in family.definitions
    }
    kinds = list(dict.fromkeys(map(_kind, definitions)))
    return {
        name: definitions[name]
        for name in sorted(definitions, key=lambda name: kinds.index(_kind(name)))
    }


def _kind(name: str) -> str:
    return name.partition(".")[0]


@cache
def _shipped() -> Mapping[str, SettingDefinition]:
    # Imported here: YAML and pydantic take a tenth of a second to load.
    from iostudy.settings.declarations import read_shipped

    return read_shipped(_SHIPPED)


def open_prefixes() -> tuple[str, ...]:
    """Return the beginnings of names that are settings also without a description."""
    open_families = (family.prefix for family in _families() if family.define is not None)
    return (sysctl.PREFIX, *filter(None, open_families))


def names() -> tuple[str, ...]:
    """Return all documented names, in display order.

    Any other sysctl, attribute of a queue, Hadoop property or file of the kernel is a setting too.
    """
    return tuple(dict.fromkeys((*_documented(), *_shipped(), *_declared)))


def is_reserved(name: str) -> bool:
    """Return whether no declaration may give the name another meaning."""
    return _kind(name) in {*FOLDERS, *map(_kind, _documented())}


def declare(definitions: Mapping[str, SettingDefinition]) -> None:
    """Add definitions for this process, in the place of others of the same names.

    A process reads one study, or reports several: their settings are only named then.
    """
    _declared.update(definitions)


def full_name(name: str) -> str:
    """Return the name that the setting has here.

    ``vm.swappiness`` is a sysctl's key, and a path of a kernel file may have a name as well.
    """
    if name.startswith("/"):
        if name.startswith(_PROC_SYS):
            return f"{sysctl.PREFIX}{path_key(name.removeprefix(_PROC_SYS))}"
        definition = find_attribute(name)
        return definition.name if definition else name
    folder = re.split(r"[./]", name, maxsplit=1)[0]
    return f"{sysctl.PREFIX}{name}" if folder in FOLDERS else name


def find_attribute(path: str) -> AttributeDefinition | None:
    """Return the definition that comes with iostudy for a file of the kernel, or None."""
    for definition in _shipped().values():
        if isinstance(definition, AttributeDefinition) and any(
            fnmatchcase(path, pattern) for pattern in definition.attributes
        ):
            return definition
    return None


def get(name: str) -> SettingDefinition:
    """Return the definition of a name, on demand for open-ended names; KeyError if unknown.

    A sysctl's key alone is a name of it.
    """
    name = full_name(name)
    definition = _CORE.get(name) or _declared.get(name)
    if definition:
        return definition
    for prefix, define in _ON_DEMAND.items():
        if name.startswith(prefix):
            return define(name)
    if name in _documented():
        return _documented()[name]
    for family in _families():
        if family.define is not None and name.startswith(family.prefix):
            return family.define(name)
    return _shipped()[name]


def explain_unknown(name: str) -> str:
    """Return why a name of a plugin's family is no setting; empty if nothing is known of it."""
    families = (f for f in _families() if f.prefix and name.startswith(f.prefix))
    if install := plugins.find_missing(name):
        return f"its plugin is not installed; {install}"
    return next((family.explain(name) for family in families), "")


def find(name: str) -> SettingDefinition | None:
    """Return the definition of a name, None if it is unknown now."""
    try:
        return get(name)
    except KeyError:
        return None


def _define_path(name: str) -> SettingDefinition:
    from iostudy.settings.declarations import Declaration

    try:
        return Declaration.model_validate({"attribute": name}).define(name, undocumented=True)
    except ValueError as error:
        raise KeyError(name) from error


_ON_DEMAND = {
    sysctl.PREFIX: sysctl.define_key,
    queue.PREFIX: queue.define_attribute,
    "/": _define_path,
}
