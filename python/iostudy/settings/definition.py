"""Definition of a setting: parsing, documentation and command line from one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from iostudy.settings.values import AS_FOUND, Values

FAST_RESPONSE_SECONDS, RESPONSE_SECONDS, SLOW_RESPONSE_SECONDS = 0.02, 0.25, 1.5
"""Time constants of responses to a switch.

What adapts nothing is fast: the rate is final when the operations of the switch have completed.
Others follow timers of the kernel, and slow ones learn.
"""


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
class UnseenResponse:
    """A response to a change that is longer than a pilot, or that only a new process shows.

    It concerns these ``values``, unless another setting meets the condition ``unless``. ``reason``
    describes it in words.
    """

    values: frozenset[str]
    reason: str
    unless: SettingCondition | None = None

    def concerns(self, value: str, others: Mapping[str, str]) -> bool:
        """Return whether a configuration with this value and these settings may respond so."""
        if self.unless is not None and self.unless.holds(others.get(self.unless.name, "")):
            return False
        return value in self.values or value == AS_FOUND  # the value as found may be one of them


@dataclass(frozen=True)
class Switching:
    """Effect of a change under a running workload with open files.

    ``obstacle`` says why a running workload does not show the new value, or shows it too late;
    empty if the setting can be switched. ``memory`` says what outlives a switch, and how long.
    ``response_seconds`` is the largest time constant of the response that a pilot must exclude,
    and ``by_value`` that of single values.
    Windows do not show an ``unseen`` response, so whole trials confirm their verdicts on it.
    """

    obstacle: str = ""
    memory: str = ""
    response_seconds: float = RESPONSE_SECONDS
    by_value: Mapping[str, float] = field(default_factory=dict, hash=False)
    unseen: UnseenResponse | None = None

    @property
    def is_possible(self) -> bool:
        """Whether a study can switch the setting while its workload runs."""
        return not self.obstacle

    def slowest_response(self, value: str) -> float:
        """Return the largest time constant, in seconds, of the response to this value."""
        if value == AS_FOUND:
            return max([self.response_seconds, *self.by_value.values()])
        return self.by_value.get(value, self.response_seconds)

    def __str__(self) -> str:
        if self.obstacle:
            return f"no: {self.obstacle}"
        confirmed = f"whole trials confirm verdicts: {self.unseen.reason}" if self.unseen else ""
        return "; ".join(filter(None, ("yes", self.memory, self._describe_response(), confirmed)))

    def _describe_response(self) -> str:
        by_seconds: dict[float, list[str]] = {}
        for value, seconds in self.by_value.items():
            by_seconds.setdefault(seconds, []).append(value)
        exceptions = (f"{own:g} s for {', '.join(names)}" for own, names in by_seconds.items())
        return "; ".join(
            (f"time constant of the response at most {self.response_seconds:g} s", *exceptions)
        )


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
