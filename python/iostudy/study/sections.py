"""Sections of a study that depend on no other one, such as decide and validity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from iostudy import units
from iostudy.settings.definitions.cgroup import Control, definition_of
from iostudy.study.fields import NOT_TRUE, STRICT_KEYS, one_of, share
from iostudy.study.names import scalar_text
from iostudy.telemetry.rate import DEFAULT_HZ, MAX_HZ, MIN_HZ
from iostudy.workloads.option_types import Seconds, at_most

MIN_BLOCKS, MAX_BLOCKS = 3, 1000
MAX_WEIGHT = 1e6


def _blocks(value: Any) -> tuple[int, int]:
    match value:
        case [int(fewest), int(most)] if MIN_BLOCKS <= fewest <= most <= MAX_BLOCKS:
            return fewest, most
    raise ValueError(
        f"write [fewest, most] as whole numbers with {MIN_BLOCKS} <= fewest <= most <= {MAX_BLOCKS}"
    )


ProperShare = Annotated[float, share("more than 0% and less than 100%", lambda s: 0 < s < 1)]
Risk = Annotated[float, share("more than 0.01% and less than 50%", lambda s: 0.0001 < s < 0.5)]
"""A smaller risk takes more blocks than a study has."""
Blocks = Annotated[tuple[int, int], BeforeValidator(_blocks)]
ShareLimit = Annotated[float, share("more than 0% and at most 100%", lambda s: 0 < s <= 1)]
LargeShareLimit = Annotated[float, share("more than 0% and at most 10000%", lambda s: 0 < s <= 100)]
Weight = Annotated[
    float, Field(gt=0, allow_inf_nan=False), at_most(MAX_WEIGHT, "{:g}".format), NOT_TRUE
]


MIN_WINDOWS_SECONDS, MAX_WINDOWS_SECONDS = 10.0, 7 * 86400.0


def _windows_seconds(seconds: float) -> float:
    if not MIN_WINDOWS_SECONDS <= seconds <= MAX_WINDOWS_SECONDS:
        ends = map(units.format_exact_seconds, (MIN_WINDOWS_SECONDS, MAX_WINDOWS_SECONDS))
        raise ValueError(f"must be {' to '.join(ends)}")
    return seconds


class DecisionMode(StrEnum):
    """The unit of measurement that a study pairs: windows of one run, or whole trials.

    AUTO takes windows where every factor and workload allows them.
    """

    AUTO = "auto"
    SWITCHBACK = "switchback"
    TRIALS = "trials"


class Refusal(StrEnum):
    """What becomes of what the host refuses before the first trial.

    LEAVE_OUT leaves out the level, and keeps a named configuration with its others. STRICT leaves
    out the whole configuration.
    """

    STOP = "stop"
    LEAVE_OUT = "leave-out"
    STRICT = "strict"


@dataclass(frozen=True)
class Goal:
    """What a recommended configuration must be; it is fixed before the first trial."""

    __pydantic_config__ = STRICT_KEYS

    better: Annotated[tuple[str, ...], Field(min_length=1)]
    """workloads, on any of which it must be better"""
    not_worse: tuple[str, ...] | None = None
    """workloads on all of which it must not be worse by the margin; all others by default"""


@dataclass(frozen=True)
class Decision:
    """What decides; it is fixed before the first trial. Margin and risk are fractions."""

    __pydantic_config__ = STRICT_KEYS

    margin: ProperShare = 0.03
    """differences smaller than this do not matter to you"""
    risk: Risk = 0.05
    """chance of any wrong verdict in the whole study"""
    blocks: Blocks = (5, 30)
    """fewest and most blocks of a comparison of whole trials; windows have their own"""
    weights: Mapping[str, Weight] = field(default_factory=dict)
    """weights of workloads in the combined ranking, by label; 1 by default"""
    goal: Goal | None = None
    """what a recommended configuration must be; by default better on any workload, and not worse on
    all others"""
    rare: ProperShare | None = None
    """largest share of slow runs of both configurations for a verdict of equivalent or not worse;
    any by default"""
    mode: Annotated[DecisionMode, one_of("mode", DecisionMode)] = DecisionMode.TRIALS
    """compare whole trials, or windows of one run while the configurations are switched; auto:
    windows where every factor and workload allows them"""
    time: Annotated[Seconds, AfterValidator(_windows_seconds)] = 60.0
    """planned time of the windows of a workload; whole trials are limited by their blocks"""

    @property
    def min_blocks(self) -> int:
        """The fewest blocks after which a comparison is decided."""
        return self.blocks[0]

    @property
    def max_blocks(self) -> int:
        """The most blocks that a comparison takes."""
        return self.blocks[1]

    def weight(self, listed: str) -> float:
        """The weight of a workload of the file; 1 where none is given. Only the ratios matter."""
        return self.weights.get(listed, 1.0)


@dataclass(frozen=True)
class Validity:
    """Limits beyond which a trial does not count, as fractions; see docs/method/validity.md.

    None: no limit, the share is a covariate only.
    """

    __pydantic_config__ = STRICT_KEYS

    foreign_io: LargeShareLimit | None = None
    """bytes on the device not caused by the workload, as a share of its own"""
    steal: ShareLimit | None = None
    """CPU time taken by the hypervisor, as a share of all"""
    foreign_cpu: ShareLimit | None = None
    """CPU time of processes that are not the workload's, as a share of all"""
    gap: ShareLimit = 0.25
    """the longest time without a sample, as a share of the trial's"""
    attempts: Annotated[int, Field(ge=1, le=20), NOT_TRUE] = 3
    """how often a block is tried before its workload is given up"""

    @property
    def limits(self) -> dict[str, float]:
        """The limits of disturbances that the study requests, by the names of these."""
        requested = self._by_name
        return {name: limit for name, limit in requested.items() if limit is not None}

    @property
    def covariates(self) -> tuple[str, ...]:
        """The names of the disturbances without a limit."""
        return tuple(name for name, limit in self._by_name.items() if limit is None)

    def describe(self) -> dict[str, str]:
        """Every limit by its name, for a person."""
        requested = {name: units.format_percent(limit) for name, limit in self.limits.items()}
        unlimited = dict.fromkeys(self.covariates, "no limit")
        return {**requested, **unlimited, "gap": units.format_percent(self.gap)}

    @property
    def _by_name(self) -> dict[str, float | None]:
        return {
            "steal": self.steal,
            "foreign CPU": self.foreign_cpu,
            "foreign I/O": self.foreign_io,
        }


@dataclass(frozen=True)
class TelemetrySection:
    """How the machine is watched while a trial runs."""

    __pydantic_config__ = STRICT_KEYS

    hz: Annotated[float, Field(strict=True, ge=MIN_HZ, le=MAX_HZ)] = DEFAULT_HZ
    """how often a second it is sampled"""
    block_latency: Annotated[bool, Field(strict=True)] = False
    """whether every request of the disks below the target is traced, too"""


WARM_MEMORY_NOTE = (
    "free memory is touched before every trial that uses the page cache (prepare: {memory: warm}): "
    "in a virtual machine figures may differ from those of other studies"
)
"""The note in every study with warm memory."""
_AS_FOUND, _WARM = MEMORY_STATES = ("as-found", "warm")


@dataclass(frozen=True)
class PrepareSection:
    """What is done before every trial, in addition to writing out and dropping pages."""

    __pydantic_config__ = STRICT_KEYS

    memory: Annotated[str, one_of("state of memory", MEMORY_STATES)] = _AS_FOUND
    """warm: free memory is touched before trials that use the page cache, so that the host of a
    virtual machine provides it before the trial"""

    @property
    def is_warm(self) -> bool:
        """Whether free memory is touched."""
        return self.memory == _WARM


_PER_SECOND = "/s"


def _parse_rate(value: Any) -> int:
    text = scalar_text(value).strip().removesuffix(_PER_SECOND)
    return int(definition_of(Control.RBPS).parse(text))


def _parse_operations(value: Any) -> int:
    return int(definition_of(Control.RIOPS).parse(scalar_text(value)))


_RATE_PATTERN = units.SIZE_PATTERN.removesuffix("$") + f"({_PER_SECOND})?$"
Rate = Annotated[
    int,
    BeforeValidator(_parse_rate),
    WithJsonSchema({"type": ["number", "string"], "pattern": _RATE_PATTERN}),
]
Operations = Annotated[
    int, BeforeValidator(_parse_operations), WithJsonSchema({"type": "integer", "minimum": 1})
]


@dataclass(frozen=True)
class LoadLimit:
    """The most that the workload of a trial may ask of the device below the target."""

    __pydantic_config__ = STRICT_KEYS

    rate: Rate | None = None
    """bytes per second, such as 50MiB; reads and writes are limited separately"""
    iops: Operations | None = None
    """operations per second; reads and writes are limited separately"""
    duration: Annotated[Seconds, Field(gt=0)] | None = None
    """longest run of a workload, such as 30s; a trial that runs longer is ended and invalid"""

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of the workload's control group, by name."""
        controls = {
            Control.RBPS: self.rate,
            Control.WBPS: self.rate,
            Control.RIOPS: self.iops,
            Control.WIOPS: self.iops,
        }
        return {
            definition_of(control).name: str(value)
            for control, value in controls.items()
            if value is not None
        }

    def describe(self) -> str:
        """Describe the limits; empty without any."""
        return ", ".join(
            (
                *([f"{units.format_size(self.rate)}{_PER_SECOND}"] if self.rate else []),
                *([f"{self.iops} operations{_PER_SECOND}"] if self.iops else []),
                *([f"{units.format_seconds(self.duration)} a run"] if self.duration else []),
            )
        )
