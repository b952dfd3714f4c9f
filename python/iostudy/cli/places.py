"""What ``get`` and ``set`` share: a setting by name, on the devices below a place."""

from __future__ import annotations

from typing import Annotated

import typer

from iostudy.errors import UsageError
from iostudy.settings import catalog
from iostudy.settings.change import Setting
from iostudy.study.names import UnknownNameError

On = Annotated[
    str, typer.Option("--on", metavar="DEVICE|MOUNT", help="A device, or any path on its disk.")
]


def bind(name: str, place: str) -> tuple[Setting, ...]:
    """The setting on every device it concerns; UsageError for an unknown name."""
    if name not in catalog.names():
        unknown = UnknownNameError("setting", name, catalog.names())
        hint = f"did you mean {unknown.suggestion}? " if unknown.suggestion else ""
        raise UsageError(
            "a setting that iostudy knows",
            found=f"{name} is none of {unknown.allowed}",
            where="the command line",
            remedy=f"{hint}`iostudy settings` describes them all",
        )
    return catalog.bind(name, place)
