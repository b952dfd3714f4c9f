"""``iostudy settings``: the catalogue of settings."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated, Any

import typer

from iostudy.cli.console import print_json, print_line
from iostudy.cli.places import define
from iostudy.settings import catalog
from iostudy.settings.definition import SettingDefinition


def settings(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Settings, or what their names begin with, such as block.bfq.",
            show_default="all",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List settings with their units, ranges, defaults, documentation and sources."""
    asked = dict.fromkeys(each for name in names or [""] for each in _of(name))
    definitions = [define(name) for name in asked]
    if json:
        print_json([_as_json(definition) for definition in definitions])
        return
    for kind, group in groupby(definitions, key=_kind):
        print_line(f"== {kind} ==", style="bold")
        for definition in group:
            _show(definition)


def _of(name: str) -> tuple[str, ...]:
    """The names that are this one or begin with it; else it itself, to be defined or refused."""
    begin = f"{name}." if name else ""
    return tuple(n for n in catalog.names() if n == name or n.startswith(begin)) or (name,)


def _kind(definition: SettingDefinition) -> str:
    return definition.name.partition(".")[0]


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
