"""Definition of a setting: parsing, documentation and command line from one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from iostudy.settings.values import AS_FOUND, Values


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
class SettingCondition:
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

    A value settles at once if nothing adapts to it: the rate is final when the requests from before
    the change are done. ``obstacle`` says why values do not, or why a running workload does not
    show them; empty if all values settle. It does not concern the ``settled`` values.
    """

    obstacle: str = ""
    settled: frozenset[str] = frozenset()

    @property
    def is_possible(self) -> bool:
        """Whether a study can switch the setting while its workload runs."""
        return not self.obstacle or bool(self.settled)

    def find_obstacle(self, value: str) -> str:
        """Return why windows do not show this value; empty if they do."""
        return "" if value in self.settled else self.obstacle

    def __str__(self) -> str:
        if not self.obstacle:
            return "yes"
        values = ", ".join(sorted(self.settled))
        return f"only {values}: {self.obstacle}" if values else f"no: {self.obstacle}"


@dataclass(frozen=True, kw_only=True)
class SettingDefinition:
    """Name, unit, range, documentation and source of a setting, independent of any place.

    ``caution`` describes effects on others on the host. ``switching`` is the effect of a change
    under a running workload. An ``undocumented`` setting is first written as it is, to prove that
    its old value can be written. Each kind of setting adds the fields that locate the setting on a
    host.
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
    condition: SettingCondition | None = None
    caution: str = ""
    undocumented: bool = False

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


@dataclass(frozen=True)
class SettingFamily:
    """Settings of one kind, and names that are settings without a description.

    ``define`` returns the definition of any name that begins with ``prefix``, or raises KeyError;
    ``explain`` says why such a name is none.
    """

    definitions: tuple[SettingDefinition, ...]
    prefix: str = ""
    define: Callable[[str], SettingDefinition] | None = None
    explain: Callable[[str], str] = lambda name: ""
