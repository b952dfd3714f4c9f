"""Differences between the circumstances of two studies, as plain values (pure).

Circumstances are nested mappings of JSON values, as the ledger holds them. A difference is a way
into them at which they do not hold the same; equal values are omitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

Circumstances = Mapping[str, JsonValue]
KeyPath = tuple[str, ...]

_FIRST_TO_LAST: tuple[KeyPath, ...] = (
    ("host", "kernel", "release"),
    ("host", "cpu"),
    ("host", "memory_bytes"),
    ("host", "virtualisation"),
    ("target",),
    ("host", "mounts"),
    ("host", "block_devices"),
    ("hadoop",),
    ("versions", "iostudy"),
    ("versions",),
)
"""Keys by importance; all others follow."""

_DISK_NUMBERS = ("number", "diskseq")
"""Assigned at each start or attachment, so they do not identify a device."""


@dataclass(frozen=True)
class Difference:
    """A way into the circumstances, and what is there; None where one has nothing there."""

    way: KeyPath
    first: JsonValue
    second: JsonValue


def find_differences(first: Circumstances, second: Circumstances) -> tuple[Difference, ...]:
    """Every way at which they differ, what usually matters most first.

    Block devices are those below each study's target, by their places in its stack. Mounts have
    places instead of paths, because each study works in a folder of its own.
    """
    sides = [dict(_leaves((), _comparable(each))) for each in (first, second)]
    ways = dict.fromkeys(way for side in sides for way in side)
    found = [Difference(way, *(side.get(way) for side in sides)) for way in ways]
    different = (each for each in found if each.first != each.second)
    return tuple(sorted(different, key=lambda each: _weight(each.way)))


def _weight(way: KeyPath) -> int:
    places = (n for n, prefix in enumerate(_FIRST_TO_LAST) if way[: len(prefix)] == prefix)
    return next(places, len(_FIRST_TO_LAST))


def _leaves(way: KeyPath, value: JsonValue) -> Iterator[tuple[KeyPath, JsonValue]]:
    """Every value that is no mapping, with the way to it."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves((*way, str(name)), inner)
    else:
        yield way, value


def _comparable(circumstances: Circumstances) -> dict[str, JsonValue]:
    """The same with places for the names of devices and mounts, which differ for nothing."""
    text = dict(circumstances)
    host, target = _mapping(text.get("host")), _mapping(text.get("target"))
    below = [str(name) for name in _sequence(target.get("devices"))]
    known = _mapping(host.get("block_devices"))
    devices = [known[name] for name in below if name in known]
    if "block_devices" in host:
        host["block_devices"] = _placed("device", [_lasting(each) for each in devices])
    if "mounts" in host:
        host["mounts"] = _placed("mount", list(_mapping(host["mounts"]).values()))
    return {**text, **({"host": host} if host else {})}


def _placed(noun: str, values: Sequence[JsonValue]) -> dict[str, JsonValue]:
    """Return the values by place if there are several: ``device 1``, ``device 2``."""
    if len(values) == 1:
        return {noun: values[0]}
    return {f"{noun} {place}": value for place, value in enumerate(values, 1)}


def _lasting(device: JsonValue) -> JsonValue:
    return {name: own for name, own in _mapping(device).items() if name not in _DISK_NUMBERS}


def _mapping(value: JsonValue) -> dict[str, JsonValue]:
    return dict(value) if isinstance(value, Mapping) else {}


def _sequence(value: JsonValue) -> list[JsonValue]:
    return list(value) if isinstance(value, list | tuple) else []
