"""``iostudy settings``: the catalogue of settings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from iostudy.cli.console import print_json, print_line
from iostudy.settings import catalog
from iostudy.settings.definition import SettingDefinition


def settings(
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List every setting with its unit, range, default, documentation and source."""
    definitions = [catalog.get(name) for name in catalog.names()]
    if json:
        print_json([asdict(definition) for definition in definitions])
        return
    for definition in definitions:
        _show(definition)


def _show(definition: SettingDefinition) -> None:
    print_line(definition.name, style="bold")
    lines = {
        "allowed": definition.allowed,
        "default": definition.default,
        "cost": f"{definition.cost} to change",
        "meaning": definition.documentation,
        "source": definition.source,
    }
    for name, text in lines.items():
        print_line(f"  {name:<11} {text}")
    print_line()
