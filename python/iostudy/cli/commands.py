"""Table of commands, and a group that imports a command only when it is invoked."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from iostudy.cli.command_line import PassThroughCommand


@dataclass(frozen=True)
class CommandEntry:
    """A command: its name, its line in the help, and the object that implements it.

    ``summary`` equals the first line of the command's own help. ``attribute`` names a function, or
    the Typer application of a command group, in ``module``. ``takes_command_line``: a command line
    of the user may follow ``--``.
    """

    name: str
    summary: str
    module: str
    attribute: str
    takes_command_line: bool = False

    def load(self) -> Any:
        """Import the module and return the Click command of its function or application."""
        with _without_collections():
            module = import_module(self.module)
        found = getattr(module, self.attribute)
        if isinstance(found, typer.Typer):
            return typer.main.get_command(found)
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(self.name, cls=PassThroughCommand if self.takes_command_line else None)(found)
        return typer.main.get_command(app)


@contextmanager
def _without_collections() -> Iterator[None]:
    """Disable garbage collection: imports create many objects and no garbage.

    Later collections skip these objects (gc.freeze). Both save a tenth of the start-up time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _command(name: str, summary: str, attribute: str = "") -> CommandEntry:
    return CommandEntry(name, summary, f"iostudy.cli.{name}", attribute or name)


COMMANDS = (
    CommandEntry(
        "try",
        "Compare commands, or values of settings, in one line.",
        "iostudy.cli.try_study",
        "try_study",
        takes_command_line=True,
    ),
    _command("init", "Write a commented study file for this host."),
    _command("check", "Validate a study; print its plan, changes and time."),
    _command("power", "Measure the baseline's noise; print what a study can detect."),
    _command("run", "Run a study; write its report and its ledger."),
    _command("simulate", "Predict the result of a study on a simulated drive."),
    _command("report", "Print the report of a study, or published figures."),
    CommandEntry(
        "list",
        "List studies with their answers, the newest first.",
        "iostudy.cli.list_studies",
        "list_studies",
    ),
    CommandEntry(
        "clean",
        "Remove output folders without a finished trial.",
        "iostudy.cli.list_studies",
        "clean",
    ),
    _command("compare", "Compare two studies, of two days or two hosts."),
    _command("fleet", "Run one study on several nodes; pool the results.", "app"),
    _command("persist", "Keep settings permanently: print the files, or install them."),
    CommandEntry(
        "bench",
        "Run one workload once and print its figures.",
        "iostudy.cli.bench.command",
        "bench",
    ),
    _command("selftest", "Check on this machine that known slow-downs are detected."),
    _command("doctor", "Show the storage stack, its faults and their remedies."),
    CommandEntry(
        "watch",
        "Show what the devices do, by iostat's figures.",
        "iostudy.cli.watch",
        "watch",
        takes_command_line=True,
    ),
    _command("trace", "Record block events with their processes; summarize a trace.", "app"),
    _command("get", "Read settings of devices, mounts or the host."),
    _command("set", "Change settings; `iostudy restore` undoes them.", "set_"),
    _command("restore", "Restore what `set` or a killed command has changed."),
    _command("settings", "List the settings, or describe some."),
    _command("workloads", "List the workloads, or describe one."),
    _command("drives", "List the modelled drives, or describe one with its sources."),
    _command("drive", "Use modelled drives as block devices; measure drives.", "app"),
    _command("schema", "Print the JSON Schema of study files, for editors."),
    _command("hadoop", "Manage a Hadoop cluster on this machine.", "app"),
    _command("mount", "Mount HDFS as a file system, read-only unless it is writable."),
)


class LazyGroup(TyperGroup):
    """Command group that lists all summaries and imports only the invoked command.

    Depending on its version, Typer uses Click or a copy of it, hence the untyped contexts.
    """

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Replace the help entry by the command itself."""
        name, _, rest = super().resolve_command(ctx, args)
        found = next((each for each in COMMANDS if each.name == name), None)
        return name, None if found is None else found.load(), rest


def register(app: typer.Typer) -> None:
    """Register an entry with the summary of each command."""
    for command in COMMANDS:
        app.command(command.name, help=command.summary)(_not_loaded)


def _not_loaded() -> None:
    """Placeholder that LazyGroup replaces before a command is invoked."""
