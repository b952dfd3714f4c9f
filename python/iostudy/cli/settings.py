"""``iostudy settings``: the catalogue of settings."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Annotated, Any

import typer

from iostudy.cli.arguments import Json
from iostudy.cli.console import print_json, print_line, print_list, print_table, say
from iostudy.cli.setting_places import find_definition
from iostudy.settings import catalog
from iostudy.settings.definition import SettingDefinition
from iostudy.study.declared_settings import declare_files


def settings(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORD]...",
            help="Names of settings, parts of them or words of their text, such as block.bfq.",
            show_default="a line for each",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the settings, or describe some.

    A description has unit, range, default, documentation and source.
    """
    declare_files()
    names = dict.fromkeys(each for word in words or [""] for each in _match_names(word))
    definitions = [find_definition(name) for name in names]
    if json:
        print_json([_as_json(definition) for definition in definitions])
        return
    for kind, group in groupby(definitions, key=_kind):
        print_line(f"== {kind} ==", style="bold")
        if words:
            for definition in group:
                _print_definition(definition)
        else:
            print_list([_summarize(definition) for definition in group])
    if not words:
        say("`iostudy settings WORD` describes those with the word in name or text")


def _match_names(word: str) -> tuple[str, ...]:
    """Return the name that equals the word, else names that start with it, else contain it.

    Blanks, hyphens and underscores do not count there. Else return those whose documentation
    contains it. Otherwise return the word: a setting without documentation, or a name to be
    refused.
    """
    names, begin = catalog.names(), f"{word.removesuffix('.')}."
    found = (
        tuple(name for name in names if name == word)
        or tuple(name for name in names if name.startswith(begin))
        or tuple(name for name in names if _letters(word) and _letters(word) in _letters(name))
        or tuple(name for name in names if _documents(catalog.get(name), word))
    )
    return found or (word,)


def _letters(text: str) -> str:
    return re.sub(r"[ _-]", "", text).lower()


def _documents(definition: SettingDefinition, word: str) -> bool:
    text = f"{definition.documentation} {definition.source}"
    return re.search(rf"\b{re.escape(word)}", text, re.IGNORECASE) is not None


def _summarize(definition: SettingDefinition) -> tuple[str, str]:
    """Its name, and its unit with what it means in a sentence."""
    unit = f"({definition.unit}) " if definition.unit else ""
    sentence = definition.documentation.partition(". ")[0]
    return definition.name, unit + sentence.removesuffix(".")


def _kind(definition: SettingDefinition) -> str:
    return definition.name.partition(".")[0]


def _print_definition(definition: SettingDefinition) -> None:
    print_line(definition.name, style="bold")
    lines = {
        "allowed": definition.allowed,
        "default": definition.default,
        "concerns": definition.applies_to,
        "cost": f"{definition.cost} for a change",
        "switchable": str(definition.switching),
        "only while": str(definition.condition or ""),
        "meaning": definition.documentation,
        "caution": definition.caution,
        "source": definition.source,
    }
    print_table(("", "", ""), [("", name, text) for name, text in lines.items() if text])
    print_line()


def _as_json(definition: SettingDefinition) -> dict[str, Any]:
    condition, switching = definition.condition, definition.switching
    return {
        "name": definition.name,
        "unit": definition.unit,
        "allowed": definition.allowed,
        "choices": list(definition.choices),
        "default": definition.default,
        "concerns": definition.applies_to,
        "cost": definition.cost,
        "switchable": switching.is_possible,
        "switching": switching.obstacle,
        "settled_values": sorted(switching.settled),
        "only_while": {condition.name: list(condition.values)} if condition else None,
        "documentation": definition.documentation,
        "caution": definition.caution,
        "source": definition.source,
    }
