"""``iostudy doctor``: what is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from iostudy.cli.console import print_json, print_table
from iostudy.host.inventory import inventory
from iostudy.host.stack import whole_stack


def doctor(
    place: Annotated[
        str | None,
        typer.Argument(
            metavar="[PATH|DEVICE]", help="Only the devices below it.", show_default="all"
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show the host, its block devices and their settings. Changes nothing."""
    found = dict(inventory([Path(place)] if place and Path(place).is_dir() else []))
    if place is not None:
        below = {device.disk for device in whole_stack(place)}
        devices = found["block_devices"]
        found["block_devices"] = {name: devices[name] for name in devices if name in below}
    if json:
        print_json(found)
        return
    print_table(("", ""), list(_lines("", found)))


def _lines(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """One line a value, named by the way to it; a dash stands for none."""
    if not isinstance(value, Mapping):
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield name, "-" if value is None or not text else text
        return
    for key, inner in value.items():
        yield from _lines(f"{name}.{key}" if name else str(key), inner)
