"""The ``factors`` section: names and levels, checked against the catalogues."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from iostudy.settings import catalog as settings
from iostudy.settings.definition import Cost, Reach, SettingDefinition
from iostudy.settings.values import AS_FOUND
from iostudy.study.combinations import DIRECTORY_FACTOR, Factor, FactorKind, Level
from iostudy.study.declared_settings import HOW_TO_DECLARE
from iostudy.study.names import UnknownNameError, find_duplicates, parse_label, scalar_text
from iostudy.study.problems import format_reason
from iostudy.study.source import format_value
from iostudy.workloads import catalog as workloads

MAX_LEVELS = 2000
"""Of a factor: twice the configurations that a study can have."""
OFFERED = "offered"
OPTION_PREFIX = "workload."
_LEVELS, _ON = _KEYS = ("levels", "on")

Parser = Callable[[Any], str]
"""A level as it is written -> as kernel or workload take it, equal for ``1MiB`` and ``1024KiB``."""
_LABEL_IT = "a level with parts needs a label, such as {old: [./old, -v], new: [./new, -v]}"


def factor_names() -> tuple[str, ...]:
    """Every name that a factor can have, but for settings without documentation of ours."""
    return (*settings.names(), *_option_names(), DIRECTORY_FACTOR)


def parse_factor(name: str, given: Any, models: Sequence[type[BaseModel]]) -> Factor:
    """One line of the section; ValueError says what is wrong with it.

    ``given`` are the levels: a list of values, a mapping of labels to values, or the word
    ``offered``; or a mapping of ``levels`` to any of these and of ``on`` to places. ``models`` are
    the options of the study's workloads, whose types the levels of an option need.
    """
    levels, on = _levels_and_places(given)
    if name == DIRECTORY_FACTOR:
        if on:
            raise ValueError("its levels are places themselves; leave on out")
        if levels == OFFERED:
            raise _nothing_offered(DIRECTORY_FACTOR)
        values = _levels(levels, scalar_text)
        return Factor(DIRECTORY_FACTOR, FactorKind.DIRECTORY, values, hard_to_change=True)
    if name in _option_names():
        if on:
            raise ValueError("an option of the workloads has no place of its own; leave on out")
        if levels == OFFERED:
            raise _nothing_offered(name)
        parse = _build_option_parser(name.removeprefix(OPTION_PREFIX), models)
        return Factor(name, FactorKind.WORKLOAD_OPTION, _levels(levels, parse))
    try:
        definition = settings.get(name)
    except KeyError:
        reason = settings.explain_unknown(name)
        unknown = UnknownNameError("factor", name, factor_names())
        unknown.allowed += f", {HOW_TO_DECLARE}"
        raise (ValueError(reason) if reason else unknown) from None
    if on and not definition.reach.needs_place:
        raise ValueError(f"it concerns {definition.reach}, which has no place; leave on out")
    offered = levels == OFFERED
    if offered and (not definition.choices or definition.reach is Reach.CLUSTER):
        raise _nothing_offered(definition.name)
    return Factor(
        definition.name,
        FactorKind.SETTING,
        () if offered else _levels(levels, _build_setting_parser(definition)),
        offered=offered,
        on=on,
        condition=definition.condition,
        hard_to_change=definition.cost is Cost.FORMAT,
    )


def canonical_value(name: str, text: str, models: Sequence[type[BaseModel]]) -> str:
    """A single value in the form that equal ones share; ValueError as `parse_factor` raises it."""
    return parse_factor(name, [text], models).levels[0].value


def first_levels(given: Mapping[Any, Any]) -> dict[str, Any]:
    """The first level of every workload option among factors, as the study file has it."""
    by_name = {}
    for name, levels in given.items():
        content = levels.get(_LEVELS, levels) if isinstance(levels, Mapping) else levels
        values = list(content.values()) if isinstance(content, Mapping) else content
        if str(name).startswith(OPTION_PREFIX) and isinstance(values, list) and values:
            by_name[str(name).removeprefix(OPTION_PREFIX)] = values[0]
    return by_name


def _option_names() -> tuple[str, ...]:
    options = {
        OPTION_PREFIX + option
        for name in workloads.names()
        for option in workloads.get(name).options.model_fields
    }
    return tuple(sorted(options))


def _levels_and_places(given: Any) -> tuple[Any, tuple[str, ...]]:
    if not isinstance(given, Mapping) or _LEVELS not in given:
        return given, ()
    for key in given:
        if key not in _KEYS:
            raise UnknownNameError("key", str(key), _KEYS)
    return given[_LEVELS], _places(given[_ON]) if _ON in given else ()


def _places(given: Any) -> tuple[str, ...]:
    places = tuple(scalar_text(p).strip() for p in (given if isinstance(given, list) else [given]))
    if not places or not all(place and place.isprintable() for place in places):
        raise ValueError("on is a device, a path, `members of NAME`, or a list of these")
    twice = find_duplicates(places)
    if twice:
        raise ValueError(f"on names {', '.join(twice)} twice")
    return places


def _nothing_offered(name: str) -> ValueError:
    return ValueError(f"{name} has no levels that a host offers; list the ones to compare")


def _levels(given: Any, parse: Parser) -> tuple[Level, ...]:
    if isinstance(given, Mapping | list) and len(given) > MAX_LEVELS:
        raise ValueError(f"{len(given)} levels; at most {MAX_LEVELS}, or search a range of them")
    if isinstance(given, Mapping):
        levels = tuple(_level(label, value, parse) for label, value in given.items())
        # YAML distinguishes ``1`` from ``"1"``; a report would not.
        if twice := find_duplicates(level.label for level in levels):
            raise ValueError(f"label {', '.join(twice)} occurs twice; give each level its own")
    elif isinstance(given, list):
        if any(isinstance(value, list | Mapping) for value in given):
            raise ValueError(_LABEL_IT)
        levels = tuple(_level(value, value, parse) for value in given)
        _refuse_same_values(levels)
    else:
        raise ValueError("levels are a list such as [a, b], or labels such as {first: a}")
    if not levels:
        raise ValueError("the list of levels is empty; name at least one")
    return levels


def _level(label: Any, value: Any, parse: Parser) -> Level:
    try:
        parsed = parse(value)
    except UnknownNameError:
        raise
    except ValueError as error:
        raise ValueError(f"level {format_value(value)}: {error}") from error
    return Level(parse_label(label), parsed)


def _build_setting_parser(definition: SettingDefinition) -> Parser:
    def parse(value: Any) -> str:
        text = scalar_text(value)
        if definition.choices and text not in (*definition.choices, AS_FOUND):
            raise UnknownNameError(f"level of {definition.name}", text, definition.choices)
        return definition.parse(text)

    return parse


def _build_option_parser(option: str, models: Sequence[type[BaseModel]]) -> Parser:
    """By the type that the option has in each of the models that know it."""
    fields = [model.model_fields[option] for model in models if option in model.model_fields]
    adapters = [TypeAdapter[Any](field.rebuild_annotation()) for field in fields]

    def parse(value: Any) -> str:
        # A list or a mapping is left to the types that take one and show it as a text.
        level = value if isinstance(value, list | Mapping) else scalar_text(value)
        for adapter in adapters:
            try:
                valid = adapter.validate_python(level)
            except ValidationError as error:
                raise ValueError(format_reason(error.errors()[0])) from error
            level = scalar_text(adapter.dump_python(valid, mode="json"))
        return scalar_text(level)

    return parse


def _refuse_same_values(levels: Sequence[Level]) -> None:
    twice = find_duplicates(level.value for level in levels)
    if twice:
        labels = [level.label for level in levels if level.value == twice[0]]
        same = " and ".join(dict.fromkeys(labels))
        raise ValueError(
            f"level {same} occurs twice; to compare a value with itself, "
            f"label it: {{first: {twice[0]}, second: {twice[0]}}}"
        )
