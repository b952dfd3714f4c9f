"""Commands that take a command line of the user after ``--``."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

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
