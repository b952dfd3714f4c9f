"""Value types of settings: names, numbers, or one line of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from iostudy import units

_LONG_MAX = (1 << 63) - 1
AS_FOUND = "as-found"
"""Level of every setting except those of new file systems: iostudy does not write it."""


class Values(Protocol):
    """Values of a setting, as text."""

    @property
    def allowed(self) -> str:
        """Allowed values, in words."""

    @property
    def choices(self) -> tuple[str, ...]:
        """All names, of which a host may offer fewer; empty for other types."""

    def parse(self, text: str) -> str:
        """Convert to the kernel's form; ValueError names the allowed values."""


@dataclass(frozen=True)
class Choice:
    """One of several names."""

    choices: tuple[str, ...]

    @property
    def allowed(self) -> str:
        return ", ".join(self.choices)

    def parse(self, text: str) -> str:
        value = text.strip()
        if value not in self.choices:
            raise ValueError(f"not one of its values; allowed: {self.allowed}")
        return value


@dataclass(frozen=True)
class Integer:
    """A whole number from ``minimum`` to ``maximum`` in ``unit``, a multiple of ``step``.

    ``words`` are names that stand for a number, such as ``max``.
    """

    minimum: int
    maximum: int
    unit: str = ""
    step: int = 1
    words: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        steps = f", a multiple of {self.step}" if self.step > 1 else ""
        words = "".join(f", or {word}" for word in self.words)
        return f"{self.minimum} to {self.maximum} {self.unit}".strip() + steps + words

    def parse(self, text: str) -> str:
        """Return the number without leading zeros."""
        value = text.strip()
        if value in self.words:
            return value
        digits = value.removeprefix("-") if self.minimum < 0 else value
        if not digits.isascii() or not digits.isdigit():
            raise ValueError(f"not a whole number; allowed: {self.allowed}")
        if not self.minimum <= int(value) <= self.maximum:
            raise ValueError(f"out of range; allowed: {self.allowed}")
        if int(value) % self.step:
            raise ValueError(f"not a multiple of {self.step}; allowed: {self.allowed}")
        return str(int(value))


@dataclass(frozen=True)
class Size:
    """From ``minimum_bytes`` to ``maximum_bytes``, written with or without a unit.

    ``words`` are names that stand for a size.
    """

    minimum_bytes: int = 0
    maximum_bytes: int = _LONG_MAX
    words: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        words = "".join(f", or {word}" for word in self.words)
        bounded = self.maximum_bytes < _LONG_MAX
        most = f"to {units.format_size(self.maximum_bytes)}" if bounded else "or more"
        return f"{units.format_size(self.minimum_bytes)} {most} (a size such as 256MiB){words}"

    def parse(self, text: str) -> str:
        value = text.strip()
        if value in self.words:
            return value
        size_bytes = units.parse_size(value)
        if not self.minimum_bytes <= size_bytes <= self.maximum_bytes:
            raise ValueError(f"out of range; allowed: {self.allowed}")
        return str(size_bytes)


@dataclass(frozen=True)
class PowerOfTwoSize:
    """A power of two in bytes, also written as a size such as ``4KiB``."""

    minimum_bytes: int
    maximum_bytes: int
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        limits = f"{self.minimum_bytes} to {self.maximum_bytes} B"
        return f"a power of two from {limits}, such as 4096 or 4KiB"

    def parse(self, text: str) -> str:
        size = units.parse_size(text)
        if not self.minimum_bytes <= size <= self.maximum_bytes or size & (size - 1):
            raise ValueError(f"no such size; allowed: {self.allowed}")
        return str(size)


@dataclass(frozen=True)
class NumberList:
    """Several numbers or sizes that are one level, such as the three of ``net.ipv4.tcp_rmem``."""

    count: int
    number: Integer | Size
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        return f"{self.count} numbers with blanks between them, each {self.number.allowed}"

    def parse(self, text: str) -> str:
        """Return the numbers, separated by one blank."""
        numbers = text.split()
        if len(numbers) != self.count:
            raise ValueError(f"{len(numbers)} numbers; allowed: {self.allowed}")
        return " ".join(map(self.number.parse, numbers))


@dataclass(frozen=True)
class TextLine:
    """Any text of one line, up to the maximum size of one kernel write."""

    example: str
    choices: tuple[str, ...] = ()

    _MAX_BYTES = 4095

    @property
    def allowed(self) -> str:
        return f"a line of text, such as {self.example}"

    def parse(self, text: str) -> str:
        """Return the text without surrounding blanks."""
        value = text.strip()
        if not value or not value.isprintable():
            raise ValueError(f"not a line of printable text; allowed: {self.allowed}")
        if len(value.encode()) > self._MAX_BYTES:
            raise ValueError(f"longer than {self._MAX_BYTES} bytes")
        return value
