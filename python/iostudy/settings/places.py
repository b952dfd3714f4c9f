"""Where settings are looked for: places as a person names them, several of them as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from iostudy.host import stack
from iostudy.settings import kinds
from iostudy.settings.change import Setting
from iostudy.settings.definition import SettingDefinition
from iostudy.settings.values import AS_FOUND

MEMBERS_OF = "members of "
_ANYWHERE = "."


def resolved(places: Iterable[str]) -> tuple[str, ...]:
    """The places, with the devices of ``vg0`` in the place of ``members of vg0``; each once.

    TargetError where nothing of that name has members.
    """
    return tuple(dict.fromkeys(each for place in places for each in _resolved(place)))


def _resolved(place: str) -> tuple[str, ...]:
    if not place.startswith(MEMBERS_OF):
        return (place,)
    return tuple(member.name for member in stack.members_of(place.removeprefix(MEMBERS_OF)))


def bind(name: str, places: Iterable[str]) -> tuple[Setting, ...]:
    """The setting wherever it holds for any of the places, each once; all want the same value.

    What a host has once needs no place. KeyError for an unknown name, TargetError where there is no
    such place or nothing to set there.
    """
    found = [each for place in resolved(places) or (_ANYWHERE,) for each in kinds.bind(name, place)]
    return tuple(dict.fromkeys(found))


def unmet(
    definition: SettingDefinition, places: Iterable[str], values: Mapping[str, str]
) -> str | None:
    """What keeps the setting from being there: ``block.scheduler@sdb is none``; None if nothing.

    ``values`` are those that other settings will have, by name; all else is as the host has it.
    """
    condition = definition.condition
    if condition is None:
        return None
    value = values.get(condition.name, AS_FOUND)
    found = {condition.name: value}
    if value == AS_FOUND:
        found = {setting.label: setting.read() for setting in bind(condition.name, places)}
    return next((f"{n} is {v}" for n, v in found.items() if not condition.holds(v)), None)
