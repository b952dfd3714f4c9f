"""``iostudy set``: change settings, journaled, until ``iostudy restore``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from iostudy.cli.console import say
from iostudy.cli.places import On, define, places_for, refused
from iostudy.settings import kinds
from iostudy.settings.definition import Reach, SettingDefinition
from iostudy.settings.places import bind, locked, resolved
from iostudy.settings.transaction.journal import Mode
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
    """Change settings of devices, mounts or the host; `iostudy restore` undoes them."""
    values = _values(assignments)
    definitions = [define(name) for name in values]
    where = places_for(definitions, on)
    wanted = {s: values[each.name] for each in definitions for s in bind(each.name, where)}
    for definition in definitions:
        if definition.caution:
            say(f"caution: {definition.name}: {definition.caution}")
    with locked(resolved(where), definitions), Transaction(mode=Mode.SET) as transaction:
        changes = kinds.changes(wanted)
        transaction.perform(*changes)
        transaction.commit()
    for change in changes:
        say(change.describe())
    say("held until `iostudy restore`")


def _values(assignments: Sequence[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        definition = define(name)
        if not equals:
            raise refused("to set a setting", f"{assignment} has no value", f"write {name}=VALUE")
        if name in values:
            raise refused(f"one value of {name}", "it is given twice", "give it once")
        values[name] = _value(definition, text)
    return values


def _value(definition: SettingDefinition, text: str) -> str:
    name = definition.name
    if definition.reach in _REMEDIES:
        found = f"it concerns {definition.reach}, and no study runs"
        raise refused(f"to set {name}", found, _REMEDIES[definition.reach])
    try:
        value = definition.parse(text)
    except ValueError as error:
        remedy = f"`iostudy get {name}` shows what the host has and offers"
        raise refused(f"a value of {name}", f"{text!r} is {error}", remedy) from error
    if value == AS_FOUND:
        remedy = "leave it out; `iostudy restore` undoes what was set before"
        raise refused(f"a value of {name}", f"{AS_FOUND}, which changes nothing", remedy)
    return value
