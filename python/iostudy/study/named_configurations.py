"""The ``configurations`` section: named combinations of levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from iostudy.settings.catalog import full_name
from iostudy.study.combinations import Factor, NamedConfiguration, active_levels
from iostudy.study.labels import find_duplicates, parse_label, scalar_text
from iostudy.study.names import UnknownNameError
from iostudy.study.problems import KeyPath, ProblemCollector
from iostudy.study.source import format_value
from iostudy.study.study_file import StudyFile

KEY_PATH: KeyPath = ("configurations",)


def parse_named_configurations(
    collector: ProblemCollector, file: StudyFile, factors: Sequence[Factor]
) -> tuple[NamedConfiguration, ...]:
    """Every configuration of the section that is right; what is wrong with the others is noted.

    ``factors`` are those of the file in which nothing is wrong.
    """
    section, named = file.configurations, [full_name(str(name)) for name in file.factors or {}]
    if not section or not named:
        return ()
    offered = [factor.name for factor in factors if factor.offered]
    if offered:
        message = "it can only name levels that the file lists; list those of the factor"
        collector.add(KEY_PATH, message, found=f"{', '.join(offered)}: offered")
        return ()
    by_name = {factor.name: factor for factor in factors}
    found = [_chosen(collector, key, entry, by_name, named) for key, entry in section.items()]
    chosen = tuple(each for each in found if each is not None)
    _refuse_same(collector, chosen, factors)
    return chosen


def _chosen(
    collector: ProblemCollector,
    key: Any,
    entry: Any,
    factors: Mapping[str, Factor],
    named: Sequence[str],
) -> NamedConfiguration | None:
    path = (*KEY_PATH, key)
    label = collector.attempt(path, parse_label, key)
    if not isinstance(entry, Mapping):
        message = "a configuration is a mapping such as {factor: level}; {} has all first levels"
        collector.add(path, message, found=format_value(entry))
        return None
    levels: dict[str, str] = {}
    for name, level in entry.items():
        full = full_name(str(name))
        if full in factors:
            found = collector.attempt((*path, name), partial(_level_of, factors[full]), level)
            levels |= {} if found is None else {full: found}
        elif full not in named:
            collector.note((*path, name), UnknownNameError("factor", str(name), named), name)
    if label is None or len(levels) != len(entry):
        return None
    chosen = NamedConfiguration(label, levels)
    return None if _has_idle(collector, chosen, factors) else chosen


def _level_of(factor: Factor, value: Any) -> str:
    label, labels = scalar_text(value), [level.label for level in factor.levels]
    if label not in labels:
        raise UnknownNameError(f"level of {factor.name}", label, labels)
    return label


def _has_idle(
    collector: ProblemCollector, chosen: NamedConfiguration, factors: Mapping[str, Factor]
) -> bool:
    """Note the levels that the others exclude; whether there are any."""
    active = active_levels(chosen, tuple(factors.values()))
    idle = [name for name in chosen.levels if name not in active]
    for name in idle:
        condition = factors[name].condition
        message = f"it is only there while {condition}; give that level too, or leave this out"
        collector.add((*KEY_PATH, chosen.label, name), message, found=chosen.levels[name])
    return bool(idle)


def _refuse_same(
    collector: ProblemCollector, chosen: Sequence[NamedConfiguration], factors: Sequence[Factor]
) -> None:
    for label in find_duplicates(each.label for each in chosen):
        collector.add(
            KEY_PATH, "the label occurs twice; give each configuration its own", found=label
        )
    first: dict[frozenset[tuple[str, str]], str] = {}
    for each in chosen:
        levels = active_levels(each, factors)
        same = first.setdefault(frozenset((n, v.label) for n, v in levels.items()), each.label)
        if same != each.label:
            message = f"the same levels as {same}; to compare a level with itself, label it twice"
            collector.add((*KEY_PATH, each.label), message, found=each.label)
