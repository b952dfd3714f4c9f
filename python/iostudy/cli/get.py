"""``iostudy get``: read settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from iostudy.cli.arguments import Json
from iostudy.cli.console import print_json, print_table, say
from iostudy.cli.places import On, define, places_for
from iostudy.errors import IostudyError
from iostudy.settings import places
from iostudy.settings.definition import SettingDefinition


def get(
    names: Annotated[
        list[str], typer.Argument(metavar="SETTING...", help="Such as block.scheduler.")
    ],
    on: On = None,
    json: Json = False,
) -> None:
    """Read settings of devices, mounts or the host, with what else they could be.

    What cannot be read is told on stderr, and makes the exit code that of an error.
    """
    definitions = [define(name) for name in names]
    found, refused = _read(definitions, places_for(definitions, on))
    if json:
        print_json({label: {"value": v, "offered": list(o)} for label, (v, o) in found.items()})
    elif found:
        rows = [(label, value, " ".join(offered)) for label, (value, offered) in found.items()]
        print_table(("setting", "value", "offered"), rows)
    for text in dict.fromkeys(map(str, refused)):
        say(f"iostudy: {text}")
    if refused:
        raise typer.Exit(max(error.exit_code for error in refused))


def _read(
    definitions: Sequence[SettingDefinition], where: Sequence[str]
) -> tuple[dict[str, tuple[str, tuple[str, ...]]], list[IostudyError]]:
    """Value and offer of what can be read, by label, and why the rest cannot."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    refused: list[IostudyError] = []
    for definition in definitions:
        try:
            for setting in places.bind(definition.name, where):
                found[setting.label] = (setting.read(), setting.offered())
        except IostudyError as error:
            refused.append(error)
    return found, refused
