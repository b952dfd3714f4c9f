"""What commands about settings share: settings by name, and the places to look for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from iostudy.errors import UsageError
from iostudy.hadoop.conf.reserved import reserved
from iostudy.settings import catalog
from iostudy.settings.definition import Reach, SettingDefinition
from iostudy.settings.definitions.hadoop import PREFIX
from iostudy.study.names import known

HERE = "."
_FREE = "`iostudy settings hadoop` lists those that matter to storage"

On = Annotated[
    list[str] | None,
    typer.Option(
        "--on",
        metavar="DEVICE|MOUNT",
        help="A device, any path on its disk, or `members of VOLUME`; may be repeated.",
        show_default=HERE,
    ),
]


def define(name: str) -> SettingDefinition:
    """The setting of that name; UsageError if there is none."""
    try:
        return catalog.get(name)
    except KeyError:
        reason = reserved(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else ""
        if reason:
            raise refused("a setting of a Hadoop cluster", f"{name}: {reason}", _FREE) from None
        see = "`iostudy settings` lists them all"
        known("setting", name, catalog.names(), where="the command line", see=see)
        raise


def places_for(definitions: Sequence[SettingDefinition], on: Sequence[str] | None) -> list[str]:
    """The places asked for, else the working directory; UsageError if no setting takes a place."""
    placed = [each for each in definitions if each.reach.needs_place or each.reach is Reach.DISK]
    if on and not placed:
        raise refused(
            f"{', '.join(on)} as a place to look for {definitions[0].name}",
            f"it concerns {definitions[0].reach}, which has no place",
            "leave --on out",
        )
    return list(on or [HERE]) if placed else []


def refused(wanted: str, found: str, remedy: str) -> UsageError:
    """What the command line asks for and cannot have."""
    return UsageError(wanted, found=found, where="the command line", remedy=remedy)
