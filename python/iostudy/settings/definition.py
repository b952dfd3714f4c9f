"""What a setting is: one value that yields parsing, documentation and command line."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Cost(StrEnum):
    """How costly a change is: a CHEAP one takes milliseconds and can be made in every trial."""

    CHEAP = "cheap"


@dataclass(frozen=True, kw_only=True)
class SettingDefinition:
    """A setting's name, unit, range, documentation and source, apart from any place.

    With ``choices`` the values are names (the host may offer fewer); otherwise whole numbers from
    ``minimum`` to ``maximum`` in ``unit``, in multiples of ``step``. Each kind of setting adds to
    this what it takes to find the setting on a host.
    """

    name: str
    unit: str
    default: str
    documentation: str
    source: str
    cost: Cost
    choices: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int = 0
    step: int = 1

    @property
    def allowed(self) -> str:
        """What may be written, in words."""
        if self.choices:
            return ", ".join(self.choices)
        steps = f", a multiple of {self.step}" if self.step > 1 else ""
        return f"{self.minimum} to {self.maximum} {self.unit}".strip() + steps

    def parse(self, text: str) -> str:
        """The value in the kernel's own form; ValueError says what is allowed."""
        value = text.strip()
        if self.choices:
            if value not in self.choices:
                raise ValueError(f"not a value of {self.name}; allowed: {self.allowed}")
            return value
        if not value.isascii() or not value.isdigit():
            raise ValueError(f"not a whole number; allowed: {self.allowed}")
        if not self.minimum <= int(value) <= self.maximum:
            raise ValueError(f"out of range; allowed: {self.allowed}")
        if int(value) % self.step:
            raise ValueError(f"not a multiple of {self.step}; allowed: {self.allowed}")
        return str(int(value))
