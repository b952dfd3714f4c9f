"""Definition of a setting: parsing, documentation and command line from one value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from iostudy.settings.values import AS_FOUND, Values

RESPONSE_SECONDS, SLOW_RESPONSE_SECONDS = 0.25, 1.5
"""Time constants of responses to a switch: timers of the kernel, and schedulers that learn."""


class Cost(StrEnum):
    """Cost of a change.

    CHEAP changes take milliseconds. They can happen in every trial, like REMOUNT, which waits for
    write-back, and RESTART of a Hadoop cluster, which takes seconds. FORMAT makes a new file
    system: a study changes it as rarely as its plan allows.
    """

    CHEAP = "cheap"
    REMOUNT = "a remount"
    RESTART = "a restart of the cluster's daemons"
    FORMAT = "a new file system"


class Reach(StrEnum):
    """Scope of a setting, which determines where it is found.

    DEVICE and MOUNT settings are found from a place; HOST settings exist once. Settings of the
    WORKLOAD's processes, of the DISK of a study, or of its CLUSTER can vary but cannot be ``set``.
    """

    DEVICE = "a block device"
    MOUNT = "a mount"
    HOST = "the whole host"
    WORKLOAD = "the workload's own processes"
    DISK = "a disk that the study makes"
    CLUSTER = "the Hadoop cluster that the study works with"

    @property
    def needs_place(self) -> bool:
        """Return whether the setting needs a place."""
        return self in (Reach.DEVICE, Reach.MOUNT)


@dataclass(frozen=True)
class Condition:
    """A setting that exists only while another setting has one of certain values."""

    name: str
    values: tuple[str, ...]

    def holds(self, value: str) -> bool:
        """Return whether the setting exists while the other one has that value."""
        return value in self.values

    def __str__(self) -> str:
        return f"{self.name} is {' or '.join(self.values)}"


@dataclass(frozen=True)
class Switching:
    """Effect of a change under a running workload with open files.

    ``obstacle`` says why a running workload does not show the new value, or shows it too late;
    empty if the setting can be switched. ``memory`` says what outlives a switch, and how long.
    ``slow_values`` learn for seconds, or every value of a setting that ``is_slow``.
    """

    obstacle: str = ""
    memory: str = ""
    slow_values: frozenset[str] = frozenset()
    is_slow: bool = False

    @property
    def is_possible(self) -> bool:
        """Whether a study can switch the setting while its workload runs."""
        return not self.obstacle

    def response_seconds(self, value: str) -> float:
        """Return the largest time constant of the response that a pilot must exclude."""
        # The value as found may be a slow one.
        slow = {*self.slow_values, AS_FOUND} if self.slow_values else ()
        return SLOW_RESPONSE_SECONDS if self.is_slow or value in slow else RESPONSE_SECONDS

    def __str__(self) -> str:
        if self.obstacle:
            return f"no: {self.obstacle}"
        return f"yes; {self.memory}" if self.memory else "yes"


@dataclass(frozen=True, kw_only=True)
class SettingDefinition:
    """Name, unit, range, documentation and source of a setting, independent of any place.

    ``caution`` describes effects on others on the host. ``switching`` is the effect of a change
    under a running workload. Each kind of setting adds the fields that
    locate the setting on a host.
    """

    name: str
    unit: str = ""
    default: str
    documentation: str
    source: str
    values: Values
    reach: Reach
    switching: Switching
    cost: Cost = Cost.CHEAP
    condition: Condition | None = None
    caution: str = ""

    @property
    def allowed(self) -> str:
        """Allowed values, in words."""
        return self.values.allowed

    @property
    def choices(self) -> tuple[str, ...]:
        """Possible names; empty if the values are not names."""
        return self.values.choices

    @property
    def applies_to(self) -> str:
        """Scope of the setting, in words."""
        return self.reach

    def parse(self, text: str) -> str:
        """Convert a value to the kernel's form; ValueError names the allowed values.

        ``as-found`` stands for the host's own value, except for a new file system.
        """
        if text.strip() == AS_FOUND and self.cost is not Cost.FORMAT:
            return AS_FOUND
        return self.values.parse(text)

    def matches(self, wanted: str, found: str) -> bool:
        """Return whether the value read back is the requested one."""
        return wanted == found
