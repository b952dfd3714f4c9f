"""``iostudy get``: read settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from iostudy.cli.arguments import Json
from iostudy.cli.console import print_json, print_table, say
from iostudy.cli.setting_places import On, find_definition, places_for
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
    """Read settings of devices, mounts or the host.

    The table also lists the values that the kernel offers. Settings that cannot be read are errors
    on stderr, and set the exit code.
    """
    definitions = [find_definition(name) for name in names]
    found, refused = read_settings(definitions, places_for(definitions, on))
    if json:
        print_json({label: {"value": v, "offered": list(o)} for label, (v, o) in found.items()})
    elif found:
        rows = [(label, value, " ".join(offered)) for label, (value, offered) in found.items()]
        print_table(("setting", "value", "offered"), rows)
    for text in dict.fromkeys(map(str, refused)):
        say(f"iostudy: {text}")
    if refused:
        raise typer.Exit(max(error.exit_code for error in refused))


def read_settings(
    definitions: Sequence[SettingDefinition], where: Sequence[str]
) -> tuple[dict[str, tuple[str, tuple[str, ...]]], list[IostudyError]]:
    """Value and offer of what can be read, by label, and why the rest cannot."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    refused: list[IostudyError] = []
    for definition in definitions:
        try:
            for setting in places.bind(definition.name, where):
                found[setting.label] = (setting.read(), setting.available_values())
        except IostudyError as error:
            refused.append(error)
    return found, refused
