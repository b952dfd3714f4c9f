"""Lookup of settings by name, and of the places to read or change them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from iostudy.errors import UsageError
from iostudy.settings import catalog
from iostudy.settings.definition import Reach, SettingDefinition
from iostudy.study.declared_settings import HOW_TO_DECLARE, declare_files
from iostudy.study.names import require_known

HERE = "."
_SETTINGS_HINT = "`iostudy settings` lists those that matter to storage"

On = Annotated[
    list[str] | None,
    typer.Option(
        "--on",
        metavar="DEVICE|MOUNT",
        help="A device, any path on its disk, or `members of VOLUME`; repeatable.",
        show_default=HERE,
    ),
]


def find_definition(name: str) -> SettingDefinition:
    """Return the setting of that name, also of a file; UsageError if it is unknown."""
    declare_files()
    try:
        return catalog.get(name)
    except KeyError:
        reason = catalog.explain_unknown(name)
        if reason:
            raise usage_error(
                "a setting of a plugin", f"{name}: {reason}", _SETTINGS_HINT
            ) from None
        if "/" in name:
            remedy = f"name the setting, and the place with --on {name}"
            if Path(name).is_file():
                line = f"my.setting: {{file: {name}, key: KEY}}"
                remedy = f"for a key of the file, declare under `settings:` {line}"
            raise usage_error("a setting", f"{name} is a path", remedy) from None
        see = f"`iostudy settings` lists them all; {HOW_TO_DECLARE}"
        require_known("setting", name, catalog.names(), where="the command line", see=see)
        raise


def places_for(definitions: Sequence[SettingDefinition], on: Sequence[str] | None) -> list[str]:
    """Return the requested places, else the working directory; UsageError if none applies."""
    placed = [each for each in definitions if each.reach.needs_place or each.reach is Reach.DISK]
    if on and not placed:
        raise usage_error(
            f"{', '.join(on)} as a place to look for {definitions[0].name}",
            f"it concerns {definitions[0].reach}, which has no place",
            "leave --on out",
        )
    return list(on or [HERE]) if placed else []


def usage_error(wanted: str, found: str, remedy: str) -> UsageError:
    """Error for a request of the command line that cannot be met."""
    return UsageError(wanted, found=found, where="the command line", remedy=remedy)
