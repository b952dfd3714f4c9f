"""Declarations of settings, as files have them, and the definitions that they stand for."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator
from ruamel.yaml import YAML

from iostudy import units
from iostudy.settings.definition import SettingDefinition, Switching
from iostudy.settings.definitions.declared import (
    PLACEHOLDERS,
    REACH,
    UNKNOWN_EFFECT,
    VALUE,
    AttributeDefinition,
    CommandDefinition,
    Place,
    TextFileDefinition,
)
from iostudy.settings.definitions.sysctl import KernelText
from iostudy.settings.values import Choice, TextLine, Values

MAX_SECONDS = 600.0
MAX_DECLARATIONS = 500
MAX_ARGUMENTS = 64
MAX_PATH, MAX_NAME = 1024, 255
"""Bytes of a path, and of a name in it (path_resolution(7))."""

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_][A-Za-z0-9_-]*)*", re.ASCII)
"""Parts with dots between them, as ``zfs.recordsize``."""

_SHELLS = ("sh", "bash", "dash", "ksh", "zsh")
_TREES = ("/sys/", "/proc/")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        value = str(value).lower()
    if not isinstance(value, str | int | float):
        raise ValueError("write a text")
    text = str(value)
    if not text or not text.isprintable():
        raise ValueError("write a line of printable text")
    return text


def _list(value: Any) -> tuple[str, ...]:
    """Return a list of texts; a single text is a list of one."""
    return tuple(map(_text, value if isinstance(value, list) else [value]))


def _argument(value: Any) -> str:
    """Return an argument of a command: empty, or lines of printable text, as of a script."""
    text = value if isinstance(value, str) else _text(value)
    if not all(line.isprintable() for line in text.replace("\t", " ").split("\n")):
        raise ValueError("write arguments of printable text")
    return text


def _command(value: Any) -> tuple[str, ...]:
    """Return the arguments; a text is split as a shell splits it, and is given to no shell."""
    if not isinstance(value, list):
        try:
            value = shlex.split(_text(value))
        except ValueError as error:
            raise ValueError(f"write a command: {error}") from error
    command = tuple(map(_argument, value))
    if not 1 <= len(command) <= MAX_ARGUMENTS:
        raise ValueError(f"write a command of 1 to {MAX_ARGUMENTS} words")
    program = PurePosixPath(command[0])
    if VALUE in command[0] or ("/" in command[0] and not program.is_absolute()):
        raise ValueError("name a program of PATH, or the whole path of one")
    if program.name in _SHELLS and any(VALUE in word and word != VALUE for word in command[1:]):
        raise ValueError(
            "give a shell the value as an argument, so that no text of it runs as a command: "
            "[sh, -c, 'echo \"$1\"', sh, '{}']"
        )
    return command


def _equal_pairs(value: Any) -> tuple[tuple[str, str], ...]:
    """Return pairs of a text that is read and of its level."""
    if not isinstance(value, Mapping):
        raise ValueError("write levels with the texts that are read for them: {on: [enabled, 1]}")
    return tuple((text, _text(level)) for level, texts in value.items() for text in _list(texts))


def _path(text: str) -> str:
    path = PurePosixPath(text)
    if not path.is_absolute() or {"..", "**"} & {*path.parts} or text.startswith("//"):
        raise ValueError("write a whole path without '..' and '**'")
    if len(os.fsencode(text)) > MAX_PATH or max(map(len, map(os.fsencode, path.parts))) > MAX_NAME:
        raise ValueError(f"write a path of at most {MAX_PATH} bytes, and {MAX_NAME} in each part")
    return str(path)


def _attribute_path(text: str) -> str:
    path = _path(text)
    if not path.startswith(_TREES):
        raise ValueError("an attribute is a file below /sys or /proc")
    return path


_ONE_OR_MORE = WithJsonSchema(
    {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
)
_SCALAR = WithJsonSchema({"type": ["string", "number", "boolean"]})
Text = Annotated[str, BeforeValidator(_text), _SCALAR]
Command = Annotated[tuple[str, ...], BeforeValidator(_command), _ONE_OR_MORE]
Seconds = Annotated[
    float,
    BeforeValidator(units.parse_seconds),
    Field(gt=0, le=MAX_SECONDS),
    WithJsonSchema({"type": ["string", "number"]}),
]


class Declaration(BaseModel):
    """A setting that a file declares: by read and write, by file and key, or by attribute."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    read: Command | None = None
    """command that prints the value on one line"""
    write: Command | None = None
    """command that sets the value, which stands for {} in its arguments"""
    file: Annotated[str, BeforeValidator(lambda v: _path(_text(v))), _SCALAR] | None = None
    """text file with the key"""
    key: Text | None = None
    """key in the file"""
    section: Text = ""
    """section of an INI file, without brackets"""
    separator: Annotated[str, Field(pattern=r"^ *[=: ] *$")] = " = "
    """what stands between key and value of a new line"""
    after: Command | None = None
    """command that makes a change of the file effective"""
    attribute: Annotated[
        tuple[str, ...] | None,
        BeforeValidator(lambda v: tuple(map(_attribute_path, _list(v)))),
        _ONE_OR_MORE,
    ] = None
    """file below /sys or /proc, or the first of several that exists; * stands for any text"""
    resets: Annotated[tuple[str, ...], BeforeValidator(_list), _ONE_OR_MORE] = ()
    """files that the kernel changes with the attribute, and that are restored with it"""
    offered: Text = ""
    """file in the folder of the attribute that lists its values"""
    place: Place = Place.HOST
    """disk, volume or mount, if the setting belongs to one"""
    equals: Annotated[
        tuple[tuple[str, str], ...],
        BeforeValidator(_equal_pairs),
        WithJsonSchema({"type": "object", "minProperties": 1}),
    ] = ()
    """values as levels have them, each with the texts that are read for it"""
    normalise: Command | None = None
    """command that gets what was read, and prints it as levels have it"""
    timeout: Seconds = 10.0
    """longest time of a command"""
    persist: Text = ""
    """command that keeps the value for good"""
    values: Annotated[tuple[str, ...], BeforeValidator(_list), _ONE_OR_MORE] = ()
    """allowed values"""
    unit: Text = ""
    """unit of the values"""
    default: Text = ""
    """value that a host has by default"""
    documentation: Text = ""
    """what the setting does"""
    caution: Text = ""
    """what it does to others"""
    source: Text = ""
    """where that is described"""
    obstacle: Text = ""
    """why a running workload does not show a new value"""

    @model_validator(mode="after")
    def _require_one_form(self) -> Declaration:
        forms = {
            "read and write": (self.read, self.write),
            "file and key": (self.file, self.key),
            "attribute": (self.attribute,),
        }
        given = [name for name, parts in forms.items() if any(part for part in parts)]
        if len(given) != 1 or not all(forms[given[0]]):
            raise ValueError(f"give one of: {'; '.join(forms)}")
        if self.write and not any(VALUE in word for word in self.write):
            raise ValueError("write needs {} where the value belongs")
        if self.read and any(VALUE in word for word in self.read):
            raise ValueError("read gets no value: leave {} out")
        if self.file and self.place is not Place.HOST:
            raise ValueError("a text file belongs to the host: leave place out")
        placeholders = PLACEHOLDERS[self.place]
        texts = (*(self.read or ()), *(self.write or ()), *(self.attribute or ()))
        used = {name for text in texts for name in re.findall(r"\{(\w+)\}", text)}
        every = {name for names in PLACEHOLDERS.values() for name in names}
        if wrong := sorted(used & every - {*placeholders}):
            raise ValueError(f"{{{wrong[0]}}} needs a place that has it, such as place: disk")
        if placeholders and not used:
            names = " or ".join(f"{{{name}}}" for name in placeholders)
            raise ValueError(f"a setting of a {self.place} uses {names}")
        return self

    def define(self, name: str, *, undocumented: bool) -> SettingDefinition:
        """Return the definition of that name."""
        common: dict[str, Any] = {
            "name": name,
            "unit": self.unit,
            "default": self.default or "as the host has it",
            "documentation": self.documentation or f"Declared as: {self._describe_form()}.",
            "source": self.source or "the file that declares it",
            "values": self._values(),
            "reach": REACH[self.place],
            "switching": Switching(self.obstacle) if self.obstacle else UNKNOWN_EFFECT,
            "caution": self.caution,
            "undocumented": undocumented,
            "place": self.place,
            "equals": self.equals,
            "normalise": self.normalise or (),
            "seconds": self.timeout,
            "persist": self.persist,
        }
        if self.read and self.write:
            return CommandDefinition(**common, read=self.read, write=self.write)
        if self.file and self.key:
            return TextFileDefinition(
                **common,
                file=self.file,
                key=self.key,
                section=self.section,
                separator=self.separator,
                after=self.after or (),
            )
        return AttributeDefinition(
            **common, attributes=self.attribute or (), resets=self.resets, offered=self.offered
        )

    def _describe_form(self) -> str:
        if self.write:
            return shlex.join(self.write)
        return f"{self.key} in {self.file}" if self.file else " or ".join(self.attribute or ())

    def _values(self) -> Values:
        if self.values:
            return Choice(self.values)
        return KernelText("1") if self.attribute else TextLine("on")


def read_shipped(path: Path) -> Mapping[str, SettingDefinition]:
    """Return the definitions of the file that comes with iostudy."""
    content = YAML(typ="safe", pure=True).load(path.read_text("utf-8"))
    return {
        name: Declaration.model_validate(declaration).define(name, undocumented=False)
        for name, declaration in content["settings"].items()
    }
