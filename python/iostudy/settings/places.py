"""Where settings are looked for: places as a person names them, several of them as one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from iostudy.errors import TargetError
from iostudy.host import stack
from iostudy.settings import kinds
from iostudy.settings.change import Setting
from iostudy.settings.definition import Reach, SettingDefinition
from iostudy.settings.transaction.locks import lock_devices, lock_host
from iostudy.settings.transaction.recovery import require_restored

MEMBERS_OF = "members of "
_ANYWHERE = "."


def resolved(places: Iterable[str]) -> tuple[str, ...]:
    """The places, with the devices of ``vg0`` in the place of ``members of vg0``; each once.

    TargetError where nothing of that name has members.
    """
    return tuple(dict.fromkeys(each for place in places for each in _resolved(place)))


def _resolved(place: str) -> tuple[str, ...]:
    if not place.removeprefix(MEMBERS_OF).strip():
        # An empty variable of a shell must not stand for the disk of the working directory.
        raise TargetError(
            "a device, a path, or `members of` a volume",
            found="an empty name",
            where=repr(place),
            remedy="name a place; `.` is the working directory",
        )
    if not place.startswith(MEMBERS_OF):
        return (place,)
    return tuple(member.name for member in stack.members_of(place.removeprefix(MEMBERS_OF)))


def _below(place: str | Path) -> set[str]:
    """The devices below a place, or the number of a file system without any."""
    try:
        return {device.name for device in stack.whole_stack(place)}
    except TargetError:
        number = Path(place).stat().st_dev
        return {f"{os.major(number)}:{os.minor(number)}"}


def bind(name: str, places: Iterable[str]) -> tuple[Setting, ...]:
    """The setting wherever it holds for any of the places, each once; all want the same value.

    What a host has once needs no place. KeyError for an unknown name, TargetError where there is no
    such place or nothing to set there.
    """
    found = [each for place in resolved(places) or (_ANYWHERE,) for each in kinds.bind(name, place)]
    return tuple(dict.fromkeys(found))


@contextmanager
def locked(
    places: Iterable[str | Path], definitions: Iterable[SettingDefinition]
) -> Iterator[None]:
    """Nobody else works on what is below the places, or on what the host has once, meanwhile.

    The latter if any of the settings is of that reach. BusyError names who does; RestoreError
    names what an earlier command has left on them.
    """
    places = tuple(places)
    with ExitStack() as held:
        held.enter_context(lock_devices(*places))
        require_restored({name for place in places for name in _below(place)})
        if any(definition.reach is Reach.HOST for definition in definitions):
            held.enter_context(lock_host())
        yield
