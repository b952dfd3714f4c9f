"""The table of commands, and a group that imports the code of a command only when it is used."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup


@dataclass(frozen=True)
class Command:
    """A command by its name, its line in the help, and the object that implements it.

    ``attribute`` names a function, or the Typer application of a command group, in ``module``.
    ``command_class`` names a command class of the module that parses arguments in its own way.
    """

    name: str
    summary: str
    module: str
    attribute: str
    command_class: str | None = None

    def load(self) -> Any:
        """Import the module; the Click command of the function or application."""
        with _without_collections():
            module = import_module(self.module)
        found = getattr(module, self.attribute)
        if isinstance(found, typer.Typer):
            return typer.main.get_command(found)
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        own_class = getattr(module, self.command_class) if self.command_class else None
        app.command(self.name, cls=own_class)(found)
        return typer.main.get_command(app)


@contextmanager
def _without_collections() -> Iterator[None]:
    """No garbage collection meanwhile: imports make much and leave nothing to collect.

    What was made is not examined later either (gc.freeze); both save a tenth of the start.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _command(
    name: str, summary: str, attribute: str = "", command_class: str | None = None
) -> Command:
    return Command(name, summary, f"iostudy.cli.{name}", attribute or name, command_class)


COMMANDS = (
    _command("check", "Validate a study; print its plan, changes and time."),
    _command("power", "Measure the noise of a baseline; say what a study can decide."),
    _command("run", "Carry a study out; write its report and its ledger."),
    _command("report", "Print the report of a study, or published figures."),
    _command("compare", "Compare two studies, of two days or two hosts."),
    _command("persist", "Keep settings for good: print the files, or install them."),
    _command("bench", "Run one workload once and print its figures."),
    _command("selftest", "Prove on this machine that a known slow-down is found."),
    _command("doctor", "Show how the storage stacks, its faults and their remedies."),
    _command(
        "watch", "Show what the devices do, by iostat's figures.", command_class="WatchCommand"
    ),
    _command("get", "Read settings of devices, mounts or the host."),
    _command("set", "Change settings; `iostudy restore` undoes them.", "set_"),
    _command("restore", "Restore what `set` holds and what a killed command has left."),
    _command("settings", "List the settings, or describe some."),
    _command("workloads", "List the workloads, or describe one."),
    _command("schema", "Print the JSON Schema of study files, for editors."),
    _command("hadoop", "A Hadoop cluster on this machine, to work with by hand.", "app"),
)


class LazyGroup(TyperGroup):
    """Lists the commands by their summaries, and imports the one that is invoked.

    The contexts and commands are Click's, of which Typer has its own copy or not, by its version.
    """

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of that name in place of the entry that stands for it in the help."""
        name, _, rest = super().resolve_command(ctx, args)
        found = next((each for each in COMMANDS if each.name == name), None)
        return name, None if found is None else found.load(), rest


def register(app: typer.Typer) -> None:
    """Give the application an entry with the summary of each command."""
    for command in COMMANDS:
        app.command(command.name, help=command.summary)(_not_loaded)


def _not_loaded() -> None:
    """Replaced by LazyGroup before a command is invoked."""
