"""``iostudy set``: change settings, journaled, until ``iostudy restore``."""

from __future__ import annotations

from typing import Annotated

import typer

from iostudy.cli.console import say
from iostudy.cli.places import On, bind
from iostudy.errors import UsageError
from iostudy.settings import catalog, kinds
from iostudy.settings.change import Setting
from iostudy.settings.journal import Mode
from iostudy.settings.locks import lock_devices
from iostudy.settings.transaction import Transaction


def set_(
    assignments: Annotated[
        list[str],
        typer.Argument(metavar="SETTING=VALUE...", help="Such as block.scheduler=bfq."),
    ],
    on: On = ".",
) -> None:
    """Change settings on the devices below a place; `iostudy restore` undoes them."""
    wanted: dict[Setting, str] = {}
    for assignment in assignments:
        wanted |= _wanted(assignment, on)
    with lock_devices(on), Transaction(mode=Mode.SET) as transaction:
        changes = kinds.changes(wanted)
        transaction.perform(*changes)
        transaction.commit()
    for change in changes:
        say(change.describe())
    say("held until `iostudy restore`")


def _wanted(assignment: str, place: str) -> dict[Setting, str]:
    name, equals, text = assignment.partition("=")
    settings = bind(name, place)
    if not equals:
        raise _refused("to set a setting", f"{assignment} has no value", f"write {name}=VALUE")
    try:
        value = catalog.get(name).parse(text)
    except ValueError as error:
        remedy = f"`iostudy get {name}` shows what the host offers"
        raise _refused(f"a value of {name}", f"{text!r} is {error}", remedy) from error
    return dict.fromkeys(settings, value)


def _refused(wanted: str, found: str, remedy: str) -> UsageError:
    return UsageError(wanted, found=found, where="the command line", remedy=remedy)
