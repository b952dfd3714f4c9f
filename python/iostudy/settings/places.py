"""Resolution of place names to settings, and locks on these places."""

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


def resolve_places(places: Iterable[str]) -> tuple[str, ...]:
    """Resolve ``members of vg0`` to its devices, and remove duplicates.

    TargetError if the name has no members.
    """
    resolved: list[str] = []
    for place in places:
        name = place.removeprefix(MEMBERS_OF)
        if not name.strip():
            # An empty variable of a shell must not stand for the disk of the working directory.
            raise TargetError(
                "a device, a path, or `members of` a volume",
                found="an empty name",
                where=repr(place),
                remedy="name a place; `.` is the working directory",
            )
        if place.startswith(MEMBERS_OF):
            resolved += (member.name for member in stack.find_members(name))
        else:
            resolved.append(place)
    return tuple(dict.fromkeys(resolved))


def _below(place: str | Path) -> set[str]:
    """Return the devices below a place, or the number of a deviceless file system."""
    try:
        return {device.name for device in stack.whole_stack(place)}
    except TargetError:
        number = Path(place).stat().st_dev
        return {f"{os.major(number)}:{os.minor(number)}"}


def bind(name: str, places: Iterable[str]) -> tuple[Setting, ...]:
    """Bind the setting at all of the places, each location once; all get the same value.

    Settings of the host need no place. KeyError for an unknown name, TargetError if a place does
    not exist or has no such setting.
    """
    bound = [s for place in resolve_places(places) or (_ANYWHERE,) for s in kinds.bind(name, place)]
    return tuple(dict.fromkeys(bound))


@contextmanager
def lock_places(
    places: Iterable[str | Path], definitions: Iterable[SettingDefinition]
) -> Iterator[None]:
    """Lock the devices below the places, and the host for settings of the host.

    BusyError names the holder; RestoreError names unrestored changes of earlier commands.
    """
    places = tuple(places)
    with ExitStack() as locks:
        locks.enter_context(lock_devices(*places))
        require_restored({name for place in places for name in _below(place)})
        if any(definition.reach is Reach.HOST for definition in definitions):
            locks.enter_context(lock_host())
        yield
