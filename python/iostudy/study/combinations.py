"""Factors, levels, and the configurations that they make."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from iostudy.settings.definition import SettingCondition
from iostudy.study.names import short_names

DIRECTORY_FACTOR = "target.directory"
"""Name of the factor that varies the directory of a target with several."""


class FactorKind(StrEnum):
    """What a factor varies: a setting of the host, an option of the workloads, or the place."""

    SETTING = "setting"
    WORKLOAD_OPTION = "workload option"
    DIRECTORY = "directory of the target"


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
    the configurations that meet it. A factor that is ``hard_to_change`` takes a new file system, or
    another directory.
    """

    name: str
    kind: FactorKind
    levels: tuple[Level, ...]
    offered: bool = False
    on: tuple[str, ...] = ()
    condition: SettingCondition | None = None
    hard_to_change: bool = False

    @property
    def option(self) -> str:
        """The workload option's own name: ``workload.direct`` -> ``direct``."""
        return self.name.removeprefix("workload.")

    def without(self, labels: Container[str]) -> Factor:
        """Return the factor without the levels of these labels."""
        kept = tuple(level for level in self.levels if level.label not in labels)
        return replace(self, levels=kept)


Combination = Mapping[str, Level]
"""The levels that go together, by the names of their factors."""


@dataclass(frozen=True)
class NamedConfiguration:
    """A combination that the study file names: the labels of its levels, by factor.

    A factor that is left out takes its first level.
    """

    label: str
    levels: Mapping[str, str]

    def replace(
        self,
        refused: Mapping[str, Container[str]],
        baseline: Combination,
        factors: Sequence[Factor],
    ) -> NamedConfiguration:
        """Return it with the levels of the baseline in the place of these, given by factor."""
        instead = {
            factor.name: baseline[factor.name].label
            for factor in factors
            if factor.name in baseline
            and self.levels.get(factor.name, factor.levels[0].label) in refused.get(factor.name, ())
        }
        return replace(self, levels={**self.levels, **instead})


@dataclass(frozen=True)
class Configuration:
    """One level per factor. ``label`` is unique in its study: ``bfq`` or ``direct=on, ...``.

    ``places`` are those of the settings that are not looked for on the target. ``whole_plot`` names
    the levels of the factors that are hard to change, by their labels; empty where there are none.
    ``directory`` is the name of one of the target's directories, where it has several.
    """

    label: str
    settings: Mapping[str, str]
    options: Mapping[str, str]
    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    whole_plot: str = ""
    directory: str = ""


def combinations(factors: Sequence[Factor]) -> tuple[Combination, ...]:
    """Every combination of levels of the factors that are active in it, in the order of levels.

    A factor is active where its condition is met, or where no other factor is about that.
    """
    chosen: list[dict[str, Level]] = [{}]
    for factor in sorted(factors, key=lambda f: f.condition is not None):
        chosen = [more for levels in chosen for more in _expand(levels, factor, factors)]

    def order(levels: Combination) -> list[int]:
        return [f.levels.index(levels[f.name]) if f.name in levels else 0 for f in factors]

    return tuple(sorted(chosen, key=order))


def count_combinations(factors: Sequence[Factor]) -> int:
    """How many there are, without making them; see `combinations`."""
    governing = [f for f in factors if any(_hangs_on(other, f) for other in factors)]
    others = [f for f in factors if f not in governing]
    return sum(
        math.prod(len(f.levels) for f in others if is_active(f, levels, factors))
        for levels in combinations(governing)
    )


def active_levels(chosen: NamedConfiguration, factors: Sequence[Factor]) -> Combination:
    """The levels of a combination that the file names, without factors that are not active."""
    levels = {f.name: _level(f, chosen.levels.get(f.name)) for f in factors}
    return {f.name: levels[f.name] for f in factors if is_active(f, levels, factors)}


def is_active(factor: Factor, levels: Combination, factors: Sequence[Factor]) -> bool:
    """Whether the factor varies with these levels of the factors that others hang on."""
    condition = factor.condition
    if condition is None or not any(_hangs_on(factor, other) for other in factors):
        return True
    return condition.holds(levels[condition.name].value)


def _hangs_on(factor: Factor, other: Factor) -> bool:
    return factor.condition is not None and factor.condition.name == other.name


def _expand(
    levels: dict[str, Level], factor: Factor, factors: Sequence[Factor]
) -> list[dict[str, Level]]:
    if not is_active(factor, levels, factors):
        return [levels]
    return [{**levels, factor.name: level} for level in factor.levels]


def _level(factor: Factor, label: str | None) -> Level:
    return next(level for level in factor.levels if label in (None, level.label))


def find_labelling_factors(factors: Sequence[Factor]) -> list[str]:
    """The names of the factors whose levels label a combination: those that vary, else all."""
    return [f.name for f in factors if len(f.levels) > 1] or [f.name for f in factors]


def label_combinations(
    runs: Sequence[Combination], factors: Sequence[Factor]
) -> Iterator[tuple[str, Combination]]:
    """Each with a label: the levels of factors that have several, or of all where none has."""
    active = [f for f in factors if any(f.name in levels for levels in runs)]
    telling = find_labelling_factors(active)
    short = short_names(telling)
    for levels in runs:
        if len(telling) == 1:
            yield levels[telling[0]].label, levels
        else:
            parts = (f"{short[name]}={levels[name].label}" for name in telling if name in levels)
            yield ", ".join(parts), levels


def build_configuration(
    label: str, levels: Combination, factors: Sequence[Factor]
) -> Configuration:
    """The configuration that a combination makes, under its label."""
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
        directory=levels[DIRECTORY_FACTOR].value if DIRECTORY_FACTOR in levels else "",
    )


def _quoted(label: str) -> str:
    """The label, in quotation marks where it could pass for several parts of a list."""
    return label if re.fullmatch(r"[\w .%+-]+", label) else repr(label)
