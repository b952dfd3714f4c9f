"""What ``get`` and ``set`` share: a setting by name, on the devices below a place."""

from __future__ import annotations

from typing import Annotated

import typer

from iostudy.settings import catalog, kinds
from iostudy.settings.change import Setting
from iostudy.study.names import known

On = Annotated[
    str, typer.Option("--on", metavar="DEVICE|MOUNT", help="A device, or any path on its disk.")
]


def bind(name: str, place: str) -> tuple[Setting, ...]:
    """The setting on every device it concerns; UsageError for an unknown name."""
    see = "`iostudy settings` describes them all"
    known("setting", name, catalog.names(), where="the command line", see=see)
    return kinds.bind(name, place)
