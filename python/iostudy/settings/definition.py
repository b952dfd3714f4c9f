"""What a setting is: one value that yields parsing, documentation and command line."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from iostudy.settings.values import AS_FOUND, Values


class Cost(StrEnum):
    """How costly a change is.

    A CHEAP one takes milliseconds and can be made in every trial, as can a REMOUNT, which waits
    for what is being written, and a RESTART of a Hadoop cluster, which takes seconds. FORMAT makes
    a new file system: a study changes it as rarely as its plan allows.
    """

    CHEAP = "cheap"
    REMOUNT = "a remount"
    RESTART = "a restart of the cluster's daemons"
    FORMAT = "a new file system"


class Reach(StrEnum):
    """What a setting concerns, and so where it is looked for.

    A DEVICE or a MOUNT is found from a place; a HOST has each setting once. What holds for the
    WORKLOAD's own processes, for the DISK that a study makes, or for the CLUSTER that its jobs run
    on, can be varied but not ``set``.
    """

    DEVICE = "a block device"
    MOUNT = "a mount"
    HOST = "the whole host"
    WORKLOAD = "the workload's own processes"
    DISK = "a disk that the study makes"
    CLUSTER = "the Hadoop cluster that the study works with"

    @property
    def needs_place(self) -> bool:
        """Whether it takes a place to say which one is meant."""
        return self in (Reach.DEVICE, Reach.MOUNT)


@dataclass(frozen=True)
class Condition:
    """A setting that is only there while another one has one of certain values."""

    name: str
    values: tuple[str, ...]

    def holds(self, value: str) -> bool:
        """Whether the setting is there while the other one has that value."""
        return value in self.values

    def __str__(self) -> str:
        return f"{self.name} is {' or '.join(self.values)}"


@dataclass(frozen=True, kw_only=True)
class SettingDefinition:
    """A setting's name, unit, range, documentation and source, apart from any place.

    ``caution`` says what a change may do to others on the host, where it may. Each kind of setting
    adds to this what it takes to find the setting on a host.
    """

    name: str
    unit: str = ""
    default: str
    documentation: str
    source: str
    values: Values
    reach: Reach
    cost: Cost = Cost.CHEAP
    condition: Condition | None = None
    caution: str = ""

    @property
    def allowed(self) -> str:
        """What may be written, in words."""
        return self.values.allowed

    @property
    def choices(self) -> tuple[str, ...]:
        """The names it can have; empty where its values are no names."""
        return self.values.choices

    @property
    def concerns(self) -> str:
        """What it concerns, in words."""
        return self.reach

    def parse(self, text: str) -> str:
        """The value in the kernel's own form; ValueError says what is allowed.

        ``as-found`` stands for whatever the host has, but for a file system that is to be made.
        """
        if text.strip() == AS_FOUND and self.cost is not Cost.FORMAT:
            return AS_FOUND
        return self.values.parse(text)

    def met(self, wanted: str, found: str) -> bool:
        """Whether what is read back is what was wanted."""
        return wanted == found
