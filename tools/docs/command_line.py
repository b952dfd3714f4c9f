"""Commands of the command line with their arguments and options, for generated documents."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from iostudy.cli.commands import all_commands, load


@dataclass(frozen=True)
class Parameter:
    """An argument (without ``flags``) or an option of a command.

    ``metavar`` is empty for an option without a value. ``choices`` are its only values, if any.
    """

    name: str
    flags: tuple[str, ...]
    metavar: str
    help: str
    choices: tuple[str, ...]
    multiple: bool


@dataclass(frozen=True)
class CommandLine:
    """A command, such as ``hadoop up``, with its help and its parameters."""

    name: str
    summary: str
    help: str
    parameters: tuple[Parameter, ...]


def list_commands() -> Iterator[CommandLine]:
    """Yield every command, and those of groups by their whole names; none that are hidden."""
    for command in all_commands():
        loaded = load(command)
        group = getattr(loaded, "commands", None)
        if group is None:
            yield _describe(command.name, command.summary, loaded)
        else:
            for name, sub in group.items():
                if not sub.hidden:
                    yield _describe(f"{command.name} {name}", sub.get_short_help_str(200), sub)


def _describe(name: str, summary: str, command: Any) -> CommandLine:
    return CommandLine(name, summary, command.help or "", tuple(map(_parameter, command.params)))


def _parameter(parameter: Any) -> Parameter:
    is_option = parameter.param_type_name == "option"
    choices = _choices(parameter.type_descriptor.annotation)
    metavar = parameter.metavar or "|".join(choices) or parameter.name.upper()
    return Parameter(
        parameter.name,
        (*parameter.opts, *parameter.secondary_opts) if is_option else (),
        "" if is_option and parameter.is_flag else metavar,
        parameter.help or "",
        choices,
        bool(parameter.multiple or parameter.nargs == -1),
    )


def _choices(annotation: Any) -> tuple[str, ...]:
    kinds = typing.get_args(annotation) or (annotation,)
    enums = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Enum)]
    return tuple(str(member.value) for kind in enums for member in kind)
