"""``iostudy set``: change settings, journaled, until ``iostudy restore``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from iostudy.cli.console import say
from iostudy.cli.setting_places import On, find_definition, places_for, usage_error
from iostudy.settings import kinds
from iostudy.settings.definition import Reach, SettingDefinition
from iostudy.settings.places import bind, lock_places, resolve_places
from iostudy.settings.transaction.journal import JournalMode
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.values import AS_FOUND

_REMEDIES = {
    Reach.WORKLOAD: "vary it in a study, which sets it for the time of a trial",
    Reach.DISK: "vary it in a study whose target is a loop-back disk or a scratch device",
    Reach.CLUSTER: "vary it in a study with workloads of Hadoop's",
}


def set_(
    assignments: Annotated[
        list[str],
        typer.Argument(metavar="SETTING=VALUE...", help="Such as block.scheduler=bfq."),
    ],
    on: On = None,
) -> None:
    """Change settings; `iostudy restore` undoes them.

    Settings belong to devices, mounts or the host.
    """
    values = _parse_assignments(assignments)
    definitions = [find_definition(name) for name in values]
    where = places_for(definitions, on)
    wanted = {s: values[each.name] for each in definitions for s in bind(each.name, where)}
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
            found = "it is given twice"
            raise usage_error(f"one value of {definition.name}", found, "give it once")
        values[definition.name] = _parse_value(definition, text)
    return values


def _parse_value(definition: SettingDefinition, text: str) -> str:
    name = definition.name
    if definition.reach in _REMEDIES:
        found = f"it concerns {definition.reach}, and no study runs"
        raise usage_error(f"to set {name}", found, _REMEDIES[definition.reach])
    try:
        value = definition.parse(text)
    except ValueError as error:
        remedy = f"`iostudy get {name}` shows what the host has and offers"
        raise usage_error(f"a value of {name}", f"{text!r} is {error}", remedy) from error
    if value == AS_FOUND:
        remedy = "leave it out; `iostudy restore` undoes what was set before"
        raise usage_error(f"a value of {name}", f"{AS_FOUND}, which changes nothing", remedy)
    return value
