"""``iostudy settings``: the catalogue of settings."""

from __future__ import annotations

from typing import Annotated, Any

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
        print_json([_as_json(definition) for definition in definitions])
        return
    for definition in definitions:
        _show(definition)


def _show(definition: SettingDefinition) -> None:
    print_line(definition.name, style="bold")
    lines = {
        "allowed": definition.allowed,
        "default": definition.default,
        "concerns": definition.reach,
        "cost": f"{definition.cost} for a change",
        "only while": str(definition.condition or ""),
        "meaning": definition.documentation,
        "caution": definition.caution,
        "source": definition.source,
    }
    for name, text in lines.items():
        if text:
            print_line(f"  {name:<11} {text}")
    print_line()


def _as_json(definition: SettingDefinition) -> dict[str, Any]:
    condition = definition.condition
    return {
        "name": definition.name,
        "unit": definition.unit,
        "allowed": definition.allowed,
        "choices": list(definition.choices),
        "default": definition.default,
        "concerns": definition.reach,
        "cost": definition.cost,
        "only_while": {condition.name: list(condition.values)} if condition else None,
        "documentation": definition.documentation,
        "caution": definition.caution,
        "source": definition.source,
    }
