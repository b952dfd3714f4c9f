"""``iostudy get``: read settings."""

from __future__ import annotations

from typing import Annotated

import typer

from iostudy.cli.console import print_json, print_table
from iostudy.cli.places import On, define, places_for
from iostudy.settings import places


def get(
    names: Annotated[
        list[str], typer.Argument(metavar="SETTING...", help="Such as block.scheduler.")
    ],
    on: On = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Read settings of devices, mounts or the host, with what else they could be."""
    definitions = [define(name) for name in names]
    where = places_for(definitions, on)
    settings = [setting for each in definitions for setting in places.bind(each.name, where)]
    found = {setting.label: (setting.read(), setting.offered()) for setting in settings}
    if json:
        print_json({label: {"value": v, "offered": list(o)} for label, (v, o) in found.items()})
        return
    rows = [(label, value, " ".join(offered)) for label, (value, offered) in found.items()]
    print_table(("setting", "value", "offered"), rows)
