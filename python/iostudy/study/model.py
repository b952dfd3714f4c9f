"""The values of a study: what varies, what is run, where, and what decides.

Nothing here touches the machine; a Study can be made, compared and planned with values alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel

from iostudy.units import format_size


class FactorKind(StrEnum):
    """What a factor varies: a setting of the host, or an option of the workloads."""

    SETTING = "setting"
    WORKLOAD_OPTION = "workload option"


@dataclass(frozen=True)
class Level:
    """One value of a factor, as text in the form that the kernel or the workload takes.

    ``label`` is how it is called in the report; it differs from ``value`` only where the study
    file labels its levels.
    """

    label: str
    value: str


@dataclass(frozen=True)
class Factor:
    """Something that varies. ``levels`` is empty as long as ``offered`` waits for the host's."""

    name: str
    kind: FactorKind
    levels: tuple[Level, ...]
    offered: bool = False

    @property
    def option(self) -> str:
        """The workload option's own name: ``workload.direct`` -> ``direct``."""
        return self.name.removeprefix("workload.")


@dataclass(frozen=True)
class Configuration:
    """One level per factor. ``label`` is unique in its study: ``bfq`` or ``direct=on, ...``."""

    label: str
    settings: Mapping[str, str]
    options: Mapping[str, str]


@dataclass(frozen=True)
class WorkloadRequest:
    """A workload with its options. ``label`` is unique in its study and names it in the report."""

    label: str
    name: str
    options: BaseModel


@dataclass(frozen=True)
class DirectoryTarget:
    """An existing directory; the study works in a folder of its own below it.

    Without a path it is the output folder.
    """

    path: Path | None

    def describe(self) -> str:
        """What it is, for a person."""
        return "a folder in the output folder" if self.path is None else str(self.path)


@dataclass(frozen=True)
class LoopbackTarget:
    """A file in the output folder, attached as a disk with direct I/O, formatted and mounted."""

    size_bytes: int
    filesystem: str

    def describe(self) -> str:
        """What it is, for a person."""
        return f"a loop-back disk of {format_size(self.size_bytes)} with {self.filesystem}"


@dataclass(frozen=True)
class ScratchTarget:
    """A whole device whose content the study may destroy; formatted and mounted."""

    device: Path
    filesystem: str

    def describe(self) -> str:
        """What it is, for a person."""
        return f"{self.device} with a new {self.filesystem}"


Target = DirectoryTarget | LoopbackTarget | ScratchTarget


@dataclass(frozen=True)
class Decision:
    """What decides. ``margin`` and ``risk`` are fractions; blocks are counted per comparison."""

    margin: float
    risk: float
    min_blocks: int
    max_blocks: int


@dataclass(frozen=True)
class Validity:
    """When a trial does not count. All limits are fractions; see docs/method.md.

    ``foreign_io`` limits the bytes on the device that the workload did not cause, as a share of
    its own; ``steal`` the CPU time taken by the hypervisor; ``attempts`` how often a block is
    tried before the study gives up.
    """

    foreign_io: float
    steal: float
    attempts: int


@dataclass(frozen=True)
class Fallback:
    """What the same file asks where there is no root: factors, and perhaps question and target."""

    factors: tuple[Factor, ...]
    target: Target | None
    question: str | None


@dataclass(frozen=True)
class Study:
    """A question with factors, workloads and a decision rule.

    ``text`` is the study file as it was read, ``baseline`` the label of the configuration that
    others are compared with (None: the first), ``seed`` the one the file fixes, if any.
    ``notes`` say what was replaced and why (no root, for instance).
    """

    name: str
    question: str
    text: str
    target: Target
    factors: tuple[Factor, ...]
    workloads: tuple[WorkloadRequest, ...]
    decide: Decision
    validity: Validity
    baseline_label: str | None = None
    seed: int | None = None
    fallback: Fallback | None = None
    notes: tuple[str, ...] = ()

    def configurations(self) -> tuple[Configuration, ...]:
        """Every combination of one level per factor, the baseline first."""
        combinations = itertools.product(*(factor.levels for factor in self.factors))
        found = [_configuration(self.factors, levels) for levels in combinations]
        label = self.baseline_label
        return tuple(sorted(found, key=lambda c: c.label != label)) if label else tuple(found)

    @property
    def baseline(self) -> Configuration:
        """The configuration that all others are compared with."""
        return self.configurations()[0]

    @property
    def comparisons(self) -> int:
        """How many verdicts the study gives at once: (configurations - 1) x workloads."""
        return (len(self.configurations()) - 1) * len(self.workloads)

    def awaiting_offer(self) -> tuple[Factor, ...]:
        """The factors whose levels are whatever the host offers."""
        return tuple(factor for factor in self.factors if factor.offered and not factor.levels)

    def with_offered(self, offered: Mapping[str, tuple[str, ...]]) -> Study:
        """The study with the host's levels in the factors that wait for them."""
        factors = tuple(
            replace(f, levels=tuple(Level(v, v) for v in offered[f.name])) if f.offered else f
            for f in self.factors
        )
        return replace(self, factors=factors)

    def without_root(self) -> Study:
        """The study as its ``without_root`` section asks for it; itself where there is none."""
        if self.fallback is None:
            return self
        wanted = ", ".join(factor.name for factor in self.factors)
        instead = ", ".join(factor.name for factor in self.fallback.factors)
        note = f"not root: {wanted} cannot be changed, so the study varies {instead} instead"
        return replace(
            self,
            question=self.fallback.question or self.question,
            factors=self.fallback.factors,
            target=self.fallback.target or _target_without_root(self.target),
            baseline_label=None,
            notes=(*self.notes, note),
        )


def _target_without_root(target: Target) -> Target:
    """Disks cannot be made or formatted without root; the output folder takes their place."""
    return target if isinstance(target, DirectoryTarget) else DirectoryTarget(None)


def _configuration(factors: tuple[Factor, ...], levels: tuple[Level, ...]) -> Configuration:
    chosen = list(zip(factors, levels, strict=True))
    if len(chosen) == 1:
        label = levels[0].label
    else:
        label = ", ".join(f"{f.name.rpartition('.')[2]}={level.label}" for f, level in chosen)
    return Configuration(
        label=label,
        settings={f.name: v.value for f, v in chosen if f.kind is FactorKind.SETTING},
        options={f.option: v.value for f, v in chosen if f.kind is FactorKind.WORKLOAD_OPTION},
    )
