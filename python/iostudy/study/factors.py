"""The ``factors`` section: names and levels, checked against the catalogues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iostudy.settings import catalog as settings
from iostudy.settings.definition import SettingDefinition
from iostudy.study.model import Factor, FactorKind, Level
from iostudy.study.names import UnknownNameError
from iostudy.workloads import catalog as workloads

OFFERED = "offered"
OPTION_PREFIX = "workload."


def factor_names() -> tuple[str, ...]:
    """Every name that a factor can have."""
    options = {
        OPTION_PREFIX + option
        for name in workloads.names()
        for option in workloads.get(name).options.model_fields
    }
    return (*settings.names(), *sorted(options))


def parse_factor(name: str, levels: Any) -> Factor:
    """One line of the section; ValueError says what is wrong with it.

    ``levels`` is a list of values, a mapping of labels to values, or the word ``offered``.
    """
    if name not in factor_names():
        raise UnknownNameError("factor", name, factor_names())
    kind = FactorKind.SETTING
    if name.startswith(OPTION_PREFIX):
        kind = FactorKind.WORKLOAD_OPTION
    definition = settings.get(name) if kind is FactorKind.SETTING else None
    if levels == OFFERED:
        return _offered(name, definition)
    return Factor(name, kind, _levels(levels, definition))


def _offered(name: str, definition: SettingDefinition | None) -> Factor:
    if definition is None or not definition.choices:
        raise ValueError(f"{name} has no levels that a host offers; list the ones to compare")
    return Factor(name, FactorKind.SETTING, (), offered=True)


def _levels(given: Any, definition: SettingDefinition | None) -> tuple[Level, ...]:
    if isinstance(given, Mapping):
        labels = [str(label) for label in given]
        values = [_value(value, definition) for value in given.values()]
    elif isinstance(given, list):
        values = [_value(value, definition) for value in given]
        labels = values
        _refuse_duplicates(values)
    else:
        raise ValueError("levels are a list such as [a, b], or labels such as {first: a}")
    if not values:
        raise ValueError("the list of levels is empty; name at least one")
    return tuple(Level(label, value) for label, value in zip(labels, values, strict=True))


def _value(value: Any, definition: SettingDefinition | None) -> str:
    if isinstance(value, list | Mapping) or value is None:
        raise ValueError("a level is a single value")
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if definition is None:
        return text
    if definition.choices and text not in definition.choices:
        raise UnknownNameError(f"level of {definition.name}", text, definition.choices)
    return definition.parse(text)


def _refuse_duplicates(values: list[str]) -> None:
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        raise ValueError(
            f"level {', '.join(twice)} stands twice; to compare a value with itself, "
            f"label it: {{first: {twice[0]}, second: {twice[0]}}}"
        )
