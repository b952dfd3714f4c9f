"""``iostudy get``: read settings."""

from __future__ import annotations

from typing import Annotated

import typer

from iostudy.cli.console import print_json, print_table
from iostudy.cli.places import On, bind


def get(
    names: Annotated[
        list[str], typer.Argument(metavar="SETTING...", help="Such as block.scheduler.")
    ],
    on: On = ".",
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Read settings of the devices below a place, with what else they could be."""
    settings = [setting for name in names for setting in bind(name, on)]
    found = {setting.label: (setting.read(), setting.offered()) for setting in settings}
    if json:
        print_json({label: {"value": v, "offered": list(o)} for label, (v, o) in found.items()})
        return
    rows = [(label, value, " ".join(offered)) for label, (value, offered) in found.items()]
    print_table(("setting", "value", "offered"), rows)
