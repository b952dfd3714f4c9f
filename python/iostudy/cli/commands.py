"""Table of commands, and a group that imports a command only when it is invoked."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from iostudy import plugins
from iostudy.core import CORE, registered
from iostudy.plugins import Command


def load(command: Command) -> Any:
    """Import the module of a command and return the Click command of its object."""
    with _without_collections():
        loaded = plugins.load(command.ref)
    if isinstance(loaded, typer.Typer):
        return typer.main.get_command(loaded)
    return _make(command.name, loaded, PassThroughCommand if command.takes_command_line else None)


def _make(
    name: str,
    function: Callable[..., None],
    kind: type[TyperCommand] | None = None,
    summary: str | None = None,
) -> Any:
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, cls=kind, help=summary)(function)
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


def all_commands() -> tuple[Command, ...]:
    """Return the commands of the core, then those of the plugins, in the order of the help."""
    return tuple(command for plugin in registered() for command in plugin.commands)


def find_command(name: str | None) -> Command | None:
    """Return the command of that name, of the core or of a plugin; None for no such name."""
    return next((command for command in all_commands() if command.name == name), None)


class LazyGroup(TyperGroup):
    """Command group that lists all summaries and imports only the invoked command.

    Plugins are looked for by the help, and for a name that the core does not have. Depending on its
    version, Typer uses Click or a copy of it, hence the untyped contexts.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """Add the commands of plugins."""
        for command in all_commands():
            if command.name not in self.commands:
                self.add_command(_make(command.name, _not_loaded, summary=command.summary))
        return super().list_commands(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Replace the help entry by the command itself."""
        if args and args[0] not in self.commands:
            plugins.require_plugin_of(args[0], where="the command line")
            self.list_commands(ctx)
        name, _, rest = super().resolve_command(ctx, args)
        command = find_command(name)
        return name, None if command is None else load(command), rest


def register(app: typer.Typer) -> None:
    """Register an entry with the summary of each command of the core."""
    for command in CORE.commands:
        app.command(command.name, help=command.summary)(_not_loaded)


def _not_loaded() -> None:
    """Placeholder that LazyGroup replaces before a command is invoked."""


_COMMAND = "iostudy.command_line"


class PassThroughCommand(TyperCommand):
    """Command that keeps everything after ``--`` as a command line.

    Depending on its version, Typer uses Click or a copy of it, hence the untyped contexts.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep it for `command_line`."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_COMMAND] = args[at + 1 :]
            args = args[:at]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Add the command to the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND [ARGUMENT]...]"]


def command_line(context: typer.Context) -> list[str] | None:
    """Return what follows ``--``, None without it. BadParameter if it is empty."""
    command: list[str] | None = context.meta.get(_COMMAND)
    if command is not None and not command:
        raise typer.BadParameter("give a command after --")
    return command
