"""What a setting is: one value that yields parsing, documentation and command line."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Layer(StrEnum):
    """Which block device of a stack a setting belongs to.

    SCHEDULING is the first queue on the way down that schedules requests (the disk below a
    device-mapper volume, say); TOP the whole disk or volume that the file system sits on.
    """

    SCHEDULING = "scheduling"
    TOP = "top"


class Cost(StrEnum):
    """How costly a change is: CHEAP ones take milliseconds and can change in every trial."""

    CHEAP = "cheap"
    REMOUNT = "remount"
    REFORMAT = "reformat"


@dataclass(frozen=True)
class SettingDefinition:
    """A setting's name, unit, range, documentation and source, apart from any device.

    ``attribute`` is the file below ``/sys/block/DEVICE/queue``. With ``choices`` the values are
    names (the host may offer fewer, or others); otherwise whole numbers from ``minimum`` to
    ``maximum`` in ``unit``. ``disturbs`` lists attributes (globs) that the kernel resets when this
    one is written, which are therefore saved and restored with it.
    """

    name: str
    attribute: str
    unit: str
    default: str
    documentation: str
    source: str
    layer: Layer
    cost: Cost
    choices: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int = 0
    disturbs: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """What may be written, in words."""
        if self.choices:
            return ", ".join(self.choices)
        return f"{self.minimum} to {self.maximum} {self.unit}".strip()

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
        return str(int(value))
