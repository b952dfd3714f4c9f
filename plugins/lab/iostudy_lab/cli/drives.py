"""``iostudy drives``: the drives that can be modelled."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from iostudy.cli.arguments import Json
from iostudy.cli.console import print_json, print_list, print_table, say
from iostudy_lab.drives import presets
from iostudy_lab.drives.disk import Disk
from iostudy_lab.drives.flash import Flash
from iostudy_lab.drives.summary import describe, summarize


def drives(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME|FILE]",
            help="The drive to describe, or a drive file that ends in .yaml.",
            show_default="a line for each",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the modelled drives, or describe one with its sources."""
    if name is not None:
        _print_drive(name, presets.load_drive(name), json=json)
        return
    loaded = {preset: presets.load(preset) for preset in presets.names()}
    if json:
        print_json([_as_json(preset, drive) for preset, drive in loaded.items()])
        return
    print_list([(preset, describe(drive)) for preset, drive in loaded.items()])
    say("`iostudy drives NAME` describes one")


def _print_drive(name: str, drive: Disk | Flash, *, json: bool) -> None:
    if json:
        print_json(_as_json(name, drive))
        return
    print_table(("", ""), summarize(drive))


def _as_json(name: str, drive: Disk | Flash) -> dict[str, Any]:
    return {
        "name": name,
        "title": drive.name,
        "year": drive.year,
        "sources": drive.sources,
        "parameters": drive.parameters(),
    }
