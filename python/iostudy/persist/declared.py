"""Declared settings that a person keeps with a command or in a text file of another program."""

from __future__ import annotations

import shlex
from pathlib import Path

from iostudy.host.mounts import find_mount
from iostudy.persist.plan import UnsupportedSetting
from iostudy.persist.request import PersistedSetting
from iostudy.settings import catalog
from iostudy.settings.definitions.declared import (
    VALUE,
    CommandDefinition,
    DeclaredDefinition,
    TextFileDefinition,
    command_text,
    fill,
)


def explain(setting: PersistedSetting) -> UnsupportedSetting | None:
    """Return what a person has to do for a declared setting; None for any other one."""
    definition = catalog.find(setting.name)
    if not isinstance(definition, DeclaredDefinition):
        return None
    if isinstance(definition, TextFileDefinition):
        section = f" in section [{definition.section}]" if definition.section else ""
        line = f"{definition.key}{definition.separator}{setting.value}"
        effect = f", then run {command_text(definition.after)}" if definition.after else ""
        remedy = f"write {line} into {definition.file}{section}{effect}"
        return UnsupportedSetting(setting.text, "its file belongs to another program", remedy)
    command = definition.persist
    if not command and isinstance(definition, CommandDefinition):
        command = command_text(definition.write)
    if not command:
        return None
    placed = fill(command, _placeholders(setting)).replace(f"'{VALUE}'", VALUE)
    placed = placed.replace(VALUE, shlex.quote(setting.value))
    return UnsupportedSetting(setting.text, "a command keeps it", f"run {placed}")


def _placeholders(setting: PersistedSetting) -> list[tuple[str, str]]:
    if setting.disk is not None:
        name = setting.disk.here or setting.disk.name
        return [("name", name), ("path", f"/dev/{name}")]
    if setting.mount_point is not None:
        return [
            ("mount", str(setting.mount_point)),
            ("source", find_mount(Path(setting.mount_point)).source),
        ]
    return []
