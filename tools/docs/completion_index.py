"""The index of shell completion, from commands, workloads and settings."""

from __future__ import annotations

import json
from collections.abc import Mapping

from iostudy.persist import formats
from iostudy.settings import catalog as settings
from iostudy.study import library
from iostudy.workloads import catalog as workloads
from iostudy.workloads.option_text import list_options
from tools.docs.command_line import CommandLine, Parameter, list_commands

SOURCES: Mapping[tuple[str, str], str | list[str]] = {
    ("*", "study"): "studies",
    ("persist", "form"): list(formats.names()),
    ("*", "on"): "devices",
    ("bench", "workload"): "workloads",
    ("bench", "option"): "workload_options",
    ("workloads", "name"): "workloads",
    ("get", "names"): "settings",
    ("settings", "words"): "settings",
    ("set", "assignments"): "assignments",
    ("watch", "devices"): "devices",
    ("trace record", "devices"): "devices",
    ("doctor", "place"): "devices",
}
"""The source of completions for each (command, parameter). Other parameters complete file names."""


def render_index() -> str:
    """The index as JSON."""
    index = {
        "commands": {command.name: _command(command) for command in list_commands()},
        "workloads": {
            name: [
                workloads.get(name).summary,
                [row[0] for row in list_options(workloads.get(name))],
            ]
            for name in workloads.names()
        },
        "settings": settings.names(),
        "studies": library.names(),
    }
    return json.dumps(index, indent=1, ensure_ascii=False) + "\n"


def _command(command: CommandLine) -> dict[str, object]:
    options = [parameter for parameter in command.parameters if parameter.flags]
    arguments = [parameter for parameter in command.parameters if not parameter.flags]
    return {
        "summary": command.summary,
        "options": {flag: [_source(command, o), o.help] for o in options for flag in o.flags},
        "arguments": [_source(command, argument) for argument in arguments],
    }


def _source(command: CommandLine, parameter: Parameter) -> str | list[str]:
    """The source of the value; empty for an option without one, a list of the only values."""
    if parameter.flags and not parameter.metavar:
        return ""
    if parameter.choices:
        return list(parameter.choices)
    by_command = SOURCES.get((command.name, parameter.name))
    return by_command or SOURCES.get(("*", parameter.name), "files")
