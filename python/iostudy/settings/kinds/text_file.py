"""Settings that are keys of text files: `key = value`, `key value`, also below an INI section.

A change replaces the file as a whole (rename(2)), so that no reader sees a part of it and no loss
of power leaves one. The new file has mode, owner and extended attributes of the old one, and all
other bytes. A file with a second name (hard link) is refused, because the other name would keep the
old content; of a link, the file that it leads to is changed.

A new key becomes the first line, or the first below its section, and its removal leaves no trace.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from iostudy.durable import replace_in
from iostudy.errors import TargetError
from iostudy.safe_path import closing, open_real_directory, read_at_most
from iostudy.settings.attributes import AttributeSetting
from iostudy.settings.change import SettingKind
from iostudy.settings.definitions.declared import NOT_SET, TextFileDefinition
from iostudy.settings.kinds.declared import (
    DeclaredOwner,
    Runner,
    ValueForm,
    cannot_read,
    locate,
    prepare_changes,
)
from iostudy.units import MIB

MAX_BYTES = MIB
"""Largest file; it is read as a whole."""

_SECTION = re.compile(r"\s*\[([^]]*)\]\s*(?:[#;].*)?")
_VALUE = r"(?P<value>(?:\"[^\"]*\"|'[^']*'|(?!\s[#;])[^\r\n])*?)(?P<rest>\s*(?:\s[#;].*)?)"
"""A value with its quotes, and a comment that begins with a blank and ``#`` or ``;``."""


@dataclass(frozen=True)
class TextFile(DeclaredOwner):
    """A key of a text file; its one attribute is the setting's name."""

    kind: ClassVar[str] = "text-file"
    refused_by: ClassVar[str] = "the system"

    path: str
    key: str
    section: str
    separator: str
    after: tuple[str, ...]

    def matching(self, pattern: str) -> tuple[str, ...]:
        return (pattern,)

    def read(self, attribute: str) -> str:
        """The value with its quotes, or NOT_SET; SettingError if the file is not as it must be."""
        try:
            with self._opened() as (_, descriptor):
                lines = _lines(descriptor)
            number = self._find(lines)
            if number is None:
                return NOT_SET
            return self.form.convert(self._match(lines[number])["value"], self.runner)
        except (OSError, ValueError) as error:
            remedy = "name a text file in which the key stands once, or not at all"
            raise cannot_read(attribute, self.path, error, remedy) from error

    def write(self, attribute: str, value: str) -> None:
        """Replace the file, unless it has the value; OSError if that fails."""
        self._remove_leftover()
        with self._opened() as (directory, descriptor):
            try:
                before = _lines(descriptor)
                after = self._edited(before, value)
            except ValueError as error:
                raise OSError(errno.EINVAL, f"it is {error}") from error
            if after == before:
                return
            content = os.fsencode("".join(after))
            replace_in(directory, Path(self.path).name, content, descriptor, self._temporary)

    def settle(self) -> None:
        """Run the command that makes it effective; after a crash also remove what that left."""
        self._remove_leftover()
        if self.after:
            self.runner.run(self.after)

    def location(self, attribute: str) -> str:
        return self.path

    def remedy(self, error: OSError, attribute: str, value: str) -> str:
        if isinstance(error, PermissionError):
            return "run as root, or as the owner of the folder"
        return "name a regular file that has no second name, in a folder that can be written"

    def by_hand(self, attribute: str, value: str) -> str:
        """The line of the file, and the command that makes it effective."""
        line = f"no {self.key}" if value == NOT_SET else f"{self.key}{self.separator}{value}"
        where = f"{self.path} below [{self.section}]" if self.section else self.path
        effect = f" and {shlex.join(self.after)}" if self.after else ""
        return f"an editor, for `{line}` in {where}{effect}"

    def _remove_leftover(self) -> None:
        """Remove the new file of a process that was killed before the file had its name."""
        with open_real_directory(Path(self.path).parent) as directory, suppress(FileNotFoundError):
            os.unlink(self._temporary, dir_fd=directory)

    @property
    def _temporary(self) -> str:
        return f".{Path(self.path).name}.iostudy"

    @contextmanager
    def _opened(self) -> Iterator[tuple[int, int]]:
        """Descriptors of the folder and of the file; OSError for a link or a special file."""
        path = Path(self.path)
        with open_real_directory(path.parent) as directory:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with closing(os.open(path.name, flags, dir_fd=directory)) as descriptor:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    raise OSError(errno.EINVAL, "it is not a regular file")
                if status.st_nlink > 1:
                    raise OSError(errno.EMLINK, "it has several names, which would differ then")
                yield directory, descriptor

    def _find(self, lines: Sequence[str]) -> int | None:
        """Return the line of the key; None without one. ValueError if it has several."""
        near = (n for n in self._within(lines) if self.key in lines[n])
        numbers = [n for n in near if self._pattern.fullmatch(_text(lines[n]))]
        if len(numbers) > 1:
            places = ", ".join(str(number + 1) for number in numbers)
            raise ValueError(
                f"a key on several lines ({places}), of which it is unknown which holds"
            )
        if numbers and self._match(lines[numbers[0]])["value"].endswith("\\"):
            raise ValueError(f"continued on the line after {numbers[0] + 1}")
        return numbers[0] if numbers else None

    def _within(self, lines: Sequence[str]) -> Iterator[int]:
        section = ""
        for number, line in enumerate(lines):
            if (header := _section(line)) is not None:
                section = header
            elif section == self.section:
                yield number

    @property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(rf"(?P<key>\s*{re.escape(self.key)}(?:\s*[=:]\s*|\s+)){_VALUE}")

    def _match(self, line: str) -> re.Match[str]:
        match = self._pattern.fullmatch(_text(line))
        assert match is not None, "the line was found by this pattern"
        return match

    def _edited(self, lines: Sequence[str], value: str) -> list[str]:
        number = self._find(lines)
        if number is None:
            return list(lines) if value == NOT_SET else self._inserted(list(lines), value)
        if value == NOT_SET:
            return _removed(list(lines), number)
        match = self._match(lines[number])
        line = match["key"] + value + match["rest"] + _ending(lines[number])
        return [*lines[:number], line, *lines[number + 1 :]]

    def _inserted(self, lines: list[str], value: str) -> list[str]:
        line, at = f"{self.key}{self.separator}{value}", 0
        if self.section:
            headers = (n for n, text in enumerate(lines) if _section(text) == self.section)
            if (header := next(headers, None)) is None:
                raise ValueError(f"without a section [{self.section}]")
            at = header + 1
        if at and not _ending(lines[at - 1]):
            return [*lines[: at - 1], f"{lines[at - 1]}\n", line]
        ending = next((_ending(text) for text in lines), "") or "\n"
        return [*lines[:at], line + ending, *lines[at:]]


def _section(line: str) -> str | None:
    """Return the name of the section that begins with the line, or None."""
    if not line.lstrip().startswith("["):
        return None
    header = _SECTION.fullmatch(_text(line))
    return header[1].strip() if header else None


def _removed(lines: list[str], number: int) -> list[str]:
    """Remove a line; without a newline it was added with the newline before it."""
    if number and not _ending(lines[number]):
        lines[number - 1] = _text(lines[number - 1])
    return lines[:number] + lines[number + 1 :]


def _lines(descriptor: int) -> list[str]:
    if os.fstat(descriptor).st_size > MAX_BYTES:
        raise ValueError(f"larger than {MAX_BYTES // MIB} MiB")
    content = read_at_most(descriptor, MAX_BYTES)
    if b"\0" in content:
        raise ValueError("not a text file: it has a NUL")
    return re.findall(r"[^\n]*\n|[^\n]+", os.fsdecode(content))


def _ending(line: str) -> str:
    return line[len(_text(line)) :]


def _text(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def bind(definition: TextFileDefinition, place: str) -> tuple[AttributeSetting, ...]:
    """The setting; TargetError if the file is missing, or a program of it."""
    (location,) = locate(definition.place, place)
    try:
        path = Path(definition.file).resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise TargetError(
            f"the file of {definition.name}",
            found=getattr(error, "strerror", None) or str(error),
            where=definition.file,
            remedy="name a file that is there",
        ) from error
    runner = Runner.of(definition)
    after, normalise = (
        runner.resolve(command, definition.name)
        for command in (definition.after, definition.normalise)
    )
    fields = (str(path), definition.key, definition.section, definition.separator, after)
    owner = TextFile(location.name, runner, ValueForm(definition.equals, normalise), None, *fields)
    return (AttributeSetting(definition, owner, definition.name),)


KIND = SettingKind(TextFileDefinition, bind, prepare_changes)
