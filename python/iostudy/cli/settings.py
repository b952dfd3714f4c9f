"""``iostudy settings``, ``get`` and ``set``: catalogue, current values, journaled changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from iostudy.cli.arguments import Json, usage_error
from iostudy.cli.console import print_json, print_line, print_list, print_table, say
from iostudy.errors import IostudyError
from iostudy.settings import catalog, kinds, places
from iostudy.settings.definition import Reach, SettingDefinition
from iostudy.settings.places import bind, lock_places, resolve_places
from iostudy.settings.transaction.journal import JournalMode
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.values import AS_FOUND
from iostudy.study.declared_settings import HOW_TO_DECLARE, declare_files
from iostudy.study.names import require_known


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
    names = dict.fromkeys(name for word in words or [""] for name in _match_names(word))
    definitions = [find_definition(name) for name in names]
    if json:
        print_json([_as_json(definition) for definition in definitions])
        return
    for kind, group in groupby(
        definitions, key=lambda definition: definition.name.partition(".")[0]
    ):
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
    chosen = (
        tuple(name for name in names if name == word)
        or tuple(name for name in names if name.startswith(begin))
        or tuple(name for name in names if _letters(word) and _letters(word) in _letters(name))
        or tuple(name for name in names if _documents(catalog.get(name), word))
    )
    return chosen or (word,)


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


def get(
    names: Annotated[
        list[str], typer.Argument(metavar="SETTING...", help="Such as block.scheduler.")
    ],
    on: On = None,
    json: Json = False,
) -> None:
    """Read settings of devices, mounts or the host.

    The table also lists the values that the kernel offers. Settings that cannot be read are errors
    on stderr, and set the exit code.
    """
    definitions = [find_definition(name) for name in names]
    values, refused = read_settings(definitions, places_for(definitions, on))
    if json:
        print_json({label: {"value": v, "offered": list(o)} for label, (v, o) in values.items()})
    elif values:
        rows = [(label, value, " ".join(offered)) for label, (value, offered) in values.items()]
        print_table(("setting", "value", "offered"), rows)
    for text in dict.fromkeys(map(str, refused)):
        say(f"iostudy: {text}")
    if refused:
        raise typer.Exit(max(error.exit_code for error in refused))


def read_settings(
    definitions: Sequence[SettingDefinition], where: Sequence[str]
) -> tuple[dict[str, tuple[str, tuple[str, ...]]], list[IostudyError]]:
    """Value and offer of what can be read, by label, and why the rest cannot."""
    rows: dict[str, tuple[str, tuple[str, ...]]] = {}
    refused: list[IostudyError] = []
    for definition in definitions:
        try:
            for setting in places.bind(definition.name, where):
                rows[setting.label] = (setting.read(), setting.available_values())
        except IostudyError as error:
            refused.append(error)
    return rows, refused


_REMEDIES = {
    Reach.WORKLOAD: "vary it in a study, which sets it for the time of a trial",
    Reach.DISK: "vary it in a study whose target is a loop-back disk or a scratch device",
    Reach.CLUSTER: "vary it in a study with workloads of Hadoop's",
}


def set_(
    assignments: Annotated[
        list[str], typer.Argument(metavar="SETTING=VALUE...", help="Such as block.scheduler=bfq.")
    ],
    on: On = None,
) -> None:
    """Change settings; `iostudy restore` undoes them.

    Settings belong to devices, mounts or the host.
    """
    values = _parse_assignments(assignments)
    definitions = [find_definition(name) for name in values]
    where = places_for(definitions, on)
    wanted = {s: values[entry.name] for entry in definitions for s in bind(entry.name, where)}
    for definition in definitions:
        if definition.caution:
            say(f"caution: {definition.name}: {definition.caution}")
    with (
        lock_places(resolve_places(where), definitions),
        Transaction(mode=JournalMode.SET) as transaction,
    ):
        changes = kinds.prepare_changes(wanted)
        transaction.apply(*changes)
        transaction.commit()
    for change in changes:
        say(change.describe())
    say("held until `iostudy restore`")


def _parse_assignments(assignments: Sequence[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        definition = find_definition(name)
        if not equals:
            raise usage_error(
                "to set a setting", f"{assignment} has no value", f"write {name}=VALUE"
            )
        if definition.name in values:
            fault = "it is given twice"
            raise usage_error(f"one value of {definition.name}", fault, "give it once")
        values[definition.name] = _parse_value(definition, text)
    return values


def _parse_value(definition: SettingDefinition, text: str) -> str:
    name = definition.name
    if definition.reach in _REMEDIES:
        fault = f"it concerns {definition.reach}, and no study runs"
        raise usage_error(f"to set {name}", fault, _REMEDIES[definition.reach])
    try:
        value = definition.parse(text)
    except ValueError as error:
        remedy = f"`iostudy get {name}` shows what the host has and offers"
        raise usage_error(f"a value of {name}", f"{text!r} is {error}", remedy) from error
    if value == AS_FOUND:
        remedy = "leave it out; `iostudy restore` undoes what was set before"
        raise usage_error(f"a value of {name}", f"{AS_FOUND}, which changes nothing", remedy)
    return value


HERE = "."
_SETTINGS_HINT = "`iostudy settings` lists those that matter to storage"

On = Annotated[
    list[str] | None,
    typer.Option(
        "--on",
        metavar="DEVICE|MOUNT",
        help="A device, any path on its disk, or `members of VOLUME`; repeatable.",
        show_default=HERE,
    ),
]


def find_definition(name: str) -> SettingDefinition:
    """Return the setting of that name, also of a file; UsageError if it is unknown."""
    declare_files()
    try:
        return catalog.get(name)
    except KeyError:
        reason = catalog.explain_unknown(name)
        if reason:
            raise usage_error(
                "a setting of a plugin", f"{name}: {reason}", _SETTINGS_HINT
            ) from None
        if "/" in name:
            remedy = f"name the setting, and the place with --on {name}"
            if Path(name).is_file():
                line = f"my.setting: {{file: {name}, key: KEY}}"
                remedy = f"for a key of the file, declare under `settings:` {line}"
            raise usage_error("a setting", f"{name} is a path", remedy) from None
        see = f"`iostudy settings` lists them all; {HOW_TO_DECLARE}"
        require_known("setting", name, catalog.names(), where="the command line", see=see)
        raise


def places_for(definitions: Sequence[SettingDefinition], on: Sequence[str] | None) -> list[str]:
    """Return the requested places, else the working directory; UsageError if none applies."""
    placed = [d for d in definitions if d.reach.needs_place or d.reach is Reach.DISK]
    if on and not placed:
        raise usage_error(
            f"{', '.join(on)} as a place to look for {definitions[0].name}",
            f"it concerns {definitions[0].reach}, which has no place",
            "leave --on out",
        )
    return list(on or [HERE]) if placed else []
