"""Manual pages iostudy(1) and iostudy-study(5), from the command line and the study schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from iostudy.cli.main import EXIT_CODES
from iostudy.study import json_schema
from tools.docs.command_line import CommandLine, Parameter, list_commands

_TUTORIAL = Path(__file__).parents[2] / "docs/tutorial.md"

_MAX_DEPTH = 3
"""Levels of keys in iostudy-study(5)."""


def render_program_page() -> str:
    """The text of iostudy(1)."""
    return "\n".join(
        (
            '.TH IOSTUDY 1 "" "iostudy" "User Commands"',
            ".SH NAME",
            r"iostudy \- compare storage configurations of a Linux host",
            ".SH SYNOPSIS",
            r".B iostudy",
            r".I COMMAND",
            r"[\fIOPTION\fR]... [\fIARGUMENT\fR]...",
            ".SH DESCRIPTION",
            "iostudy changes settings and restores them, runs workloads in randomised blocks under",
            "telemetry, and reports a verdict with a known error rate: better, worse, equivalent",
            "or inconclusive.",
            ".SH COMMANDS",
            *(line for command in list_commands() for line in _command(command)),
            ".SH EXIT STATUS",
            *_exit_codes(),
            ".SH ENVIRONMENT",
            ".TP\n.B IOSTUDY_STATE_DIR\nFolder of journals of changed settings.",
            ".TP\n.B IOSTUDY_LOCK_DIR\nFolder of locks.",
            ".TP\n.B NO_COLOR\nPrint without colours.",
            ".SH SEE ALSO",
            r".BR iostudy\-study (5),",
            r".BR fio (1),",
            r".BR iostat (1)",
            "",
        )
    )


def render_study_page() -> str:
    """The text of iostudy-study(5)."""
    schema = json.loads(json_schema.render_schema())
    return "\n".join(
        (
            '.TH IOSTUDY-STUDY 5 "" "iostudy" "File Formats"',
            ".SH NAME",
            r"iostudy\-study \- study files of iostudy",
            ".SH DESCRIPTION",
            "A study file is YAML. It has a question, a target, factors with levels, workloads",
            "and the rule that decides. \\fBiostudy check\\fR validates a file.",
            "\\fBiostudy run\\fR runs it.",
            ".SH KEYS",
            *_keys(schema, schema, (), set()),
            ".SH EXAMPLE",
            ".nf",
            *map(_escaped, _tutorial_example().splitlines()),
            ".fi",
            ".SH SEE ALSO",
            ".BR iostudy (1)",
            "",
        )
    )


def _tutorial_example() -> str:
    """The first study file of the tutorial, which tests read as a study."""
    _, _, rest = _TUTORIAL.read_text("utf-8").partition("```yaml\n")
    return rest.partition("```")[0]


def _command(command: CommandLine) -> Iterator[str]:
    arguments = " ".join(p.metavar for p in command.parameters if not p.flags)
    yield f".SS {_escaped(f'iostudy {command.name} {arguments}'.strip())}"
    yield _paragraph(command.help)
    for option in command.parameters:
        if option.flags != ("--help",):
            yield f".TP\n{_heading(option)}\n{_paragraph(option.help)}"


def _heading(parameter: Parameter) -> str:
    if not parameter.flags:
        return rf"\fI{_escaped(parameter.metavar)}\fR"
    flags = ", ".join(rf"\fB{_escaped(flag)}\fR" for flag in parameter.flags)
    return rf"{flags} \fI{_escaped(parameter.metavar)}\fR" if parameter.metavar else flags


def _exit_codes() -> Iterator[str]:
    """The codes with their meanings, from the line that the help prints."""
    text = EXIT_CODES.removeprefix("Exit codes: ")
    for code, meaning in re.findall(r"(\d+) ([a-z][^0-9]*?)(?:, |\.)(?=\d|$)", text):
        yield f".TP\n.B {code}\n{_escaped(meaning)}"


def _keys(
    schema: Mapping[str, Any], part: Mapping[str, Any], path: tuple[str, ...], described: set[str]
) -> Iterator[str]:
    """Each key with its description, and the keys below it once."""
    for name, value in part.get("properties", {}).items():
        where = (*path, name)
        text = next((form["description"] for form in (value, *_alternatives(schema, value))
                     if "description" in form), "")  # fmt: skip
        if text:
            yield f".TP\n.B {_escaped('.'.join(where))}\n{_paragraph(text)}"
        for alternative in _alternatives(schema, value):
            if len(where) < _MAX_DEPTH and ".".join(where) not in described:
                yield from _keys(schema, alternative, where, described)
        described.add(".".join(where))


def _alternatives(
    schema: Mapping[str, Any], value: Mapping[str, Any]
) -> Iterator[Mapping[str, Any]]:
    """The schemas that the value may follow, with references resolved."""
    for form in (value, *value.get("anyOf", ()), *value.get("oneOf", ()), *value.get("allOf", ())):
        name = form.get("$ref", "").rpartition("/")[2]
        yield schema["$defs"][name] if name else form


def _paragraph(text: str) -> str:
    return "\n.PP\n".join(_escaped(" ".join(part.split())) for part in text.split("\n\n"))


def _escaped(text: str) -> str:
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
