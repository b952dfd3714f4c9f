"""The values of a study: what varies, what is run, where, and what decides.

Nothing here touches the machine; a Study can be made, compared and planned with values alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from pydantic import BaseModel

from iostudy.hadoop.spec import ClusterSpec
from iostudy.settings.definition import Condition
from iostudy.settings.definitions.filesystem import FILESYSTEM_TYPE
from iostudy.study.labels import short_names
from iostudy.study.targets import DirectoryTarget, DiskTarget, HdfsTarget, Target
from iostudy.workloads import catalog
from iostudy.workloads.definition import Figure


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
    """Something that varies. ``levels`` is empty as long as ``offered`` waits for the host's.

    ``on`` are the places of a setting as the study file has them; without any it is the target.
    ``condition`` is what a setting depends on: where the study varies that too, it varies only in
    the configurations that meet it. A factor that is ``hard_to_change`` takes a new file system.
    """

    name: str
    kind: FactorKind
    levels: tuple[Level, ...]
    offered: bool = False
    on: tuple[str, ...] = ()
    condition: Condition | None = None
    hard_to_change: bool = False

    @property
    def option(self) -> str:
        """The workload option's own name: ``workload.direct`` -> ``direct``."""
        return self.name.removeprefix("workload.")


Combination = Mapping[str, Level]
"""The levels that go together, by the names of their factors."""


@dataclass(frozen=True)
class Chosen:
    """A combination that the study file names: the labels of its levels, by factor.

    A factor that is left out takes its first level.
    """

    label: str
    levels: Mapping[str, str]


@dataclass(frozen=True)
class Configuration:
    """One level per factor. ``label`` is unique in its study: ``bfq`` or ``direct=on, ...``.

    ``places`` are those of the settings that are not looked for on the target. ``whole_plot`` names
    the levels of the factors that are hard to change, by their labels; empty where there are none.
    """

    label: str
    settings: Mapping[str, str]
    options: Mapping[str, str]
    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    whole_plot: str = ""


@dataclass(frozen=True)
class WorkloadRequest:
    """A workload with its options, and the figure that verdicts use.

    ``label`` is unique in its study and names the workload in the report.
    """

    label: str
    name: str
    options: BaseModel
    figure: Figure


def describe_target(target: Target, factors: Sequence[Factor]) -> str:
    """What a target is, for a person, with the types that the factors vary on it: ext4 or xfs."""
    varied = [factor for factor in factors if factor.name == FILESYSTEM_TYPE.name]
    if not isinstance(target, DiskTarget) or not varied:
        return target.describe()
    types = [level.value for factor in varied for level in factor.levels]
    return target.describe(" or ".join(types) or "each file system that is offered")


@dataclass(frozen=True)
class Decision:
    """What decides. ``margin`` and ``risk`` are fractions; blocks are counted per comparison.

    ``weights`` are those of workloads in the combined ranking, by their labels.
    """

    margin: float
    risk: float
    min_blocks: int
    max_blocks: int
    weights: Mapping[str, float] = field(default_factory=dict)

    def weight(self, workload: str) -> float:
        """The weight of a workload; 1 where none is given. Only the ratios of weights matter."""
        return self.weights.get(workload, 1.0)


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
    others are compared with (None: the first), ``chosen`` the configurations that the file names
    (none: every combination), ``seed`` the one the file fixes, if any. ``leave_out_refused``: what
    the host refuses before the first trial does not stop the study; ``left_out`` are the labels of
    what it refused, with the reason. ``reference`` names what others have published of the question
    (`iostudy.study.reference`). ``hadoop`` is the cluster that it starts where a workload needs one
    and the target is no cluster already. ``notes`` say what was replaced and why (no root, for
    instance).
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
    chosen: tuple[Chosen, ...] = ()
    seed: int | None = None
    fallback: Fallback | None = None
    leave_out_refused: bool = False
    left_out: Mapping[str, str] = field(default_factory=dict)
    reference: str | None = None
    hadoop: ClusterSpec = field(default_factory=ClusterSpec)
    notes: tuple[str, ...] = ()

    def configurations(self) -> tuple[Configuration, ...]:
        """Those that the file names, else every combination, but for those left out.

        The baseline is the first.
        """
        return self._configurations

    @cached_property
    def _configurations(self) -> tuple[Configuration, ...]:
        label = self.baseline_label
        found = [
            _configuration(name, c, self.factors)
            for name, c in self._labelled()
            if name not in self.left_out
        ]
        return tuple(sorted(found, key=lambda c: c.label != label)) if label else tuple(found)

    def _labelled(self) -> Iterator[tuple[str, Combination]]:
        if self.chosen:
            return ((each.label, combination(each, self.factors)) for each in self.chosen)
        return _labelled(combinations(self.factors), self.factors)

    @property
    def needs_hadoop(self) -> bool:
        """Whether a workload of it runs on a Hadoop cluster."""
        return any(catalog.get(request.name).needs_hadoop for request in self.workloads)

    @property
    def starts_hadoop(self) -> bool:
        """Whether that cluster is one that the study starts, and not one that is there."""
        return self.needs_hadoop and not isinstance(self.target, HdfsTarget)

    @property
    def baseline(self) -> Configuration:
        """The configuration that all others are compared with."""
        return self.configurations()[0]

    @property
    def comparisons(self) -> int:
        """How many verdicts the study gives at once: (configurations - 1) x workloads."""
        return (len(self.configurations()) - 1) * len(self.workloads)

    def describe_target(self) -> str:
        """What the target is, for a person, with every type of file system that is made on it."""
        return describe_target(self.target, self.factors)

    def awaiting_offer(self) -> tuple[Factor, ...]:
        """The factors whose levels are whatever the host offers."""
        return tuple(factor for factor in self.factors if factor.offered and not factor.levels)

    def known(self) -> Study:
        """The study without the factors that await an offer, and without what depends on them."""
        names = {factor.name for factor in self.awaiting_offer()}
        waiting = {f.name for f in self.factors if f.condition and f.condition.name in names}
        kept = tuple(f for f in self.factors if f.name not in names | waiting)
        return replace(self, factors=kept, baseline_label=None)

    def with_offered(self, offered: Mapping[str, tuple[str, ...]]) -> Study:
        """The study with the host's levels in the factors that wait for them."""
        factors = tuple(
            replace(f, levels=tuple(Level(v, v) for v in offered[f.name])) if f.offered else f
            for f in self.factors
        )
        return replace(self, factors=factors)

    def without(self, refused: Mapping[str, str]) -> Study:
        """The study without the configurations that a host refuses; the reasons are noted."""
        notes = tuple(f"{label} is left out: {reason}" for label, reason in refused.items())
        return replace(self, left_out=dict(refused), notes=(*self.notes, *notes))

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
            chosen=(),
            notes=(*self.notes, note),
        )


def _target_without_root(target: Target) -> Target:
    """Disks cannot be made or formatted without root; the output folder takes their place."""
    return DirectoryTarget(None) if isinstance(target, DiskTarget) else target


def combinations(factors: Sequence[Factor]) -> tuple[Combination, ...]:
    """Every combination of levels of the factors that are active in it, in the order of levels.

    A factor is active where its condition is met, or where no other factor is about that.
    """
    found: list[dict[str, Level]] = [{}]
    for factor in sorted(factors, key=lambda f: f.condition is not None):
        found = [more for levels in found for more in _with(levels, factor, factors)]

    def order(levels: Combination) -> list[int]:
        return [f.levels.index(levels[f.name]) if f.name in levels else 0 for f in factors]

    return tuple(sorted(found, key=order))


def count_combinations(factors: Sequence[Factor]) -> int:
    """How many there are, without making them; see `combinations`."""
    governing = [f for f in factors if any(_hangs_on(other, f) for other in factors)]
    others = [f for f in factors if f not in governing]
    return sum(
        math.prod(len(f.levels) for f in others if is_active(f, levels, factors))
        for levels in combinations(governing)
    )


def combination(chosen: Chosen, factors: Sequence[Factor]) -> Combination:
    """The levels of a combination that the file names, without factors that are not active."""
    levels = {f.name: _level(f, chosen.levels.get(f.name)) for f in factors}
    return {f.name: levels[f.name] for f in factors if is_active(f, levels, factors)}


def is_active(factor: Factor, levels: Combination, factors: Sequence[Factor]) -> bool:
    """Whether the factor varies beside these levels of the factors that others hang on."""
    condition = factor.condition
    if condition is None or not any(_hangs_on(factor, other) for other in factors):
        return True
    return condition.holds(levels[condition.name].value)


def _hangs_on(factor: Factor, other: Factor) -> bool:
    return factor.condition is not None and factor.condition.name == other.name


def _with(
    levels: dict[str, Level], factor: Factor, factors: Sequence[Factor]
) -> list[dict[str, Level]]:
    if not is_active(factor, levels, factors):
        return [levels]
    return [{**levels, factor.name: level} for level in factor.levels]


def _level(factor: Factor, label: str | None) -> Level:
    return next(level for level in factor.levels if label in (None, level.label))


def _labelled(
    found: Sequence[Combination], factors: Sequence[Factor]
) -> Iterator[tuple[str, Combination]]:
    """Each with a label: the levels of factors that have several, or of all where none has."""
    active = [f for f in factors if any(f.name in levels for levels in found)]
    telling = [f.name for f in active if len(f.levels) > 1] or [f.name for f in active]
    short = short_names(telling)
    for levels in found:
        if len(telling) == 1:
            yield levels[telling[0]].label, levels
        else:
            told = (f"{short[name]}={levels[name].label}" for name in telling if name in levels)
            yield ", ".join(told), levels


def _configuration(label: str, levels: Combination, factors: Sequence[Factor]) -> Configuration:
    active = [factor for factor in factors if factor.name in levels]
    settings = [factor for factor in active if factor.kind is FactorKind.SETTING]
    options = [factor for factor in active if factor.kind is FactorKind.WORKLOAD_OPTION]
    return Configuration(
        label=label,
        settings={factor.name: levels[factor.name].value for factor in settings},
        options={factor.option: levels[factor.name].value for factor in options},
        places={factor.name: factor.on for factor in settings if factor.on},
        whole_plot=", ".join(
            f"{factor.name}={_quoted(levels[factor.name].label)}"
            for factor in active
            if factor.hard_to_change
        ),
    )


def _quoted(label: str) -> str:
    """The label, in quotation marks where it could pass for several parts of a list."""
    return label if re.fullmatch(r"[\w .%+-]+", label) else repr(label)
