"""The sections of a study file that stand alone: decide, validity and target."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from iostudy import units
from iostudy.settings.scratch.filesystem import FILESYSTEMS
from iostudy.study.model import Decision, Validity
from iostudy.study.names import UnknownNameError
from iostudy.study.targets import DirectoryTarget, LoopbackTarget, ScratchTarget, Target
from iostudy.telemetry.rate import DEFAULT_HZ, MAX_HZ, MIN_HZ
from iostudy.workloads.definition import PERCENT_FORM, SIZE_FORM, Options, at_most

MIN_LOOPBACK_BYTES = 16 * units.MIB
MAX_LOOPBACK_BYTES = 16 << 40
"""The largest file of ext4 with blocks of 4 KiB."""
MAX_DISKS = 32
"""Disks beside the target; each is made and mounted before the first trial."""
MIN_BLOCKS, MAX_BLOCKS = 3, 1000
MIN_RISK = 0.0001
"""Exclusive; a smaller one takes more blocks than a study has."""
MAX_WEIGHT = 1e6
_MAX_PATH_BYTES, _MAX_NAME_BYTES = 4096, 255
_DISK_NAME = re.compile(r"[A-Za-z0-9_-]+")


class Section(Options):
    """A mapping of the file in which unknown keys are errors."""


def _share(low: float, high: float) -> BeforeValidator:
    """A percentage strictly between two fractions."""

    def parse(value: Any) -> float:
        share = units.parse_percent(str(value))
        if not low < share < high:
            limits = f"more than {low * 100:g}% and less than {high * 100:g}%"
            raise ValueError(f"out of range; allowed: {limits}")
        return share

    return BeforeValidator(parse)


def _limit(most: float) -> BeforeValidator:
    """A percentage above 0 and up to a fraction, which excludes nothing."""

    def parse(value: Any) -> float:
        share = units.parse_percent(str(value))
        if not 0 < share <= most:
            raise ValueError(f"out of range; allowed: more than 0% and at most {most * 100:g}%")
        return share

    return BeforeValidator(parse)


def _blocks(value: Any) -> tuple[int, int]:
    match value:
        case [int(fewest), int(most)] if MIN_BLOCKS <= fewest <= most <= MAX_BLOCKS:
            return fewest, most
    raise ValueError(
        f"write [fewest, most] as whole numbers with {MIN_BLOCKS} <= fewest <= most <= {MAX_BLOCKS}"
    )


def _filesystem(value: Any) -> str:
    if value not in FILESYSTEMS:
        raise UnknownNameError("file system", str(value), FILESYSTEMS)
    return str(value)


def _loopback_size(value: Any) -> int:
    size = units.parse_size(value)
    if size < MIN_LOOPBACK_BYTES:
        raise ValueError(f"too small; at least {units.format_size(MIN_LOOPBACK_BYTES)}")
    if size > MAX_LOOPBACK_BYTES:
        raise ValueError(f"too large; at most {units.format_size(MAX_LOOPBACK_BYTES)}")
    return size


def _short_path(path: str) -> str:
    """The path itself; ValueError for one that no system call takes (path_resolution(7))."""
    names = [len(name.encode(errors="surrogatepass")) for name in path.split("/")]
    if sum(names) + len(names) > _MAX_PATH_BYTES or max(names) > _MAX_NAME_BYTES:
        limits = f"{_MAX_PATH_BYTES} bytes, and {_MAX_NAME_BYTES} in each name"
        raise ValueError(f"the path is too long; at most {limits}")
    return path


def _number(value: Any) -> Any:
    """Pydantic takes true for 1."""
    if isinstance(value, bool):
        raise ValueError("write a number")
    return value


def _disk_name(name: str) -> str:
    if not _DISK_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a disk: letters, digits, - and _, such as disk2")
    return name


Filesystem = Annotated[
    str, BeforeValidator(_filesystem), WithJsonSchema({"enum": list(FILESYSTEMS)})
]


class DecideSection(Section):
    """What decides; it is fixed before the first trial."""

    margin: Annotated[float, _share(0, 1), PERCENT_FORM] = Field(
        0.03, description="differences smaller than this do not matter to you"
    )
    risk: Annotated[float, _share(MIN_RISK, 0.5), PERCENT_FORM] = Field(
        0.05, description="chance of any wrong verdict in the whole study"
    )
    blocks: Annotated[tuple[int, int], BeforeValidator(_blocks)] = Field(
        (5, 30), description="fewest and most blocks of a comparison"
    )
    weights: dict[
        str,
        Annotated[
            float,
            BeforeValidator(_number),
            Field(gt=0, allow_inf_nan=False),
            at_most(MAX_WEIGHT, "{:g}".format),
        ],
    ] = Field({}, description="of workloads in the combined ranking, by their labels; 1 by default")

    def decision(self) -> Decision:
        """The section as the study's value."""
        return Decision(self.margin, self.risk, *self.blocks, self.weights)


class ValiditySection(Section):
    """Limits beyond which a trial does not count; fixed before the first trial."""

    foreign_io: Annotated[float, _limit(100), PERCENT_FORM] | None = Field(
        None, description="bytes on the device not caused by the workload, as a share of its own"
    )
    steal: Annotated[float, _limit(1), PERCENT_FORM] | None = Field(
        None, description="CPU time taken by the hypervisor, as a share of all"
    )
    foreign_cpu: Annotated[float, _limit(1), PERCENT_FORM] | None = Field(
        None, description="CPU time of processes that are not the workload's, as a share of all"
    )
    gap: Annotated[float, _limit(1), PERCENT_FORM] = Field(
        Validity.gap, description="the longest time without a sample, as a share of the trial's"
    )
    attempts: Annotated[int, Field(ge=1, le=20)] = Field(
        Validity.attempts, description="how often a block is tried before its workload is given up"
    )

    def validity(self) -> Validity:
        """The section as the study's value."""
        return Validity(self.foreign_io, self.steal, self.foreign_cpu, self.gap, self.attempts)


class TelemetrySection(Section):
    """How the machine is watched while a trial runs."""

    hz: Annotated[float, Field(strict=True, ge=MIN_HZ, le=MAX_HZ)] = Field(
        DEFAULT_HZ, description="how often a second it is sampled"
    )
    block_latency: Annotated[bool, Field(strict=True)] = Field(
        False, description="whether every request of the disks below the target is traced, too"
    )


WARM_MEMORY_NOTE = (
    "free memory is touched before every trial that uses the page cache (prepare: {memory: warm}): "
    "in a virtual machine figures may differ from those of other studies"
)
"""The note in every study with warm memory."""


class PrepareSection(Section):
    """What is done before every trial, in addition to writing out and dropping pages."""

    memory: Literal["as-found", "warm"] = Field(
        "as-found",
        description="warm: free memory is touched before trials that use the page cache, so that "
        "the host of a virtual machine provides it before the trial",
    )

    @property
    def is_warm(self) -> bool:
        """Whether free memory is touched."""
        return self.memory == "warm"


class LoopbackSection(Section):
    """Disks that the study makes for itself from files in the output folder."""

    size: Annotated[int, BeforeValidator(_loopback_size), SIZE_FORM]
    filesystem: Filesystem = "ext4"
    beside: dict[Annotated[str, AfterValidator(_disk_name)], Filesystem] = Field(
        {},
        max_length=MAX_DISKS,
        description="file systems of further disks of that size, by names of your own",
    )


class ScratchSection(Section):
    """A whole device whose content the study destroys."""

    device: Annotated[str, AfterValidator(_short_path)]
    filesystem: Filesystem = "ext4"


class TargetSection(Section):
    """A target that is more than a directory."""

    loopback: LoopbackSection | None = None
    scratch: ScratchSection | None = None

    def target(self) -> Target:
        """The section as the study's value; ValueError unless exactly one is given."""
        if self.loopback and not self.scratch:
            own = self.loopback
            return LoopbackTarget(own.size, own.filesystem, own.beside)
        if self.scratch and not self.loopback:
            return ScratchTarget(Path(self.scratch.device), self.scratch.filesystem)
        raise ValueError("give either loopback: {size: 2GiB} or scratch: {device: /dev/...}")


def directory_target(value: Any) -> Target:
    """A target given as plain text: a directory."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError(
            "a target is wanted: a directory, {loopback: ...}, {scratch: ...} or hdfs://..."
        )
    if "://" in value:
        raise ValueError("targets are directories, disks, and folders in HDFS (hdfs://...)")
    return DirectoryTarget(Path(_short_path(value)))
