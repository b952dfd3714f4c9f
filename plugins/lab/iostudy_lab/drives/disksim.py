"""Conversion of DiskSim's parameters of a drive into a drive file.

The meaning of each parameter is that of the DiskSim 4.0 reference manual (CMU-PDL-08-101).
Lists of defects are ignored; a slipped sector shifts blocks by one.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from iostudy.errors import UsageError
from iostudy.prober import BLOCK_BYTES
from iostudy_lab.drives.disksim_syntax import Value, parse

DEFAULT_BLOCK_MS = 0.106
"""Transfer time of a block if the files give none: the median of the drives that give one."""

_READ_AHEAD = {"0": "nowhere", "1": "track", "2": "segment", "3": "segment", "4": "segment"}
_VALIDATION = "_validate"
_SOURCE = "parameters extracted for the DiskSim validation, Carnegie Mellon University"


def convert(folder: Path, name: str) -> dict[str, Any]:
    """Content of a drive file from ``NAME.diskspecs``, ``NAME.model`` and ``NAME.seek``.

    Each file, and ``name``, may end in ``_validate``. UsageError names a file that is missing or
    wrong.
    """
    name = name.removesuffix(_VALIDATION)
    specification, model = (_read(folder, name, suffix) for suffix in ("diskspecs", "model"))
    mechanics, layout = _section(model, "Mechanical Model"), _section(model, "Layout Model")
    surfaces = _whole(model, "Number of data surfaces")
    return {
        "family": "disk",
        "name": name,
        "year": 1999,
        "sources": [_SOURCE],
        "capacity": f"{_whole(model, 'Block count') * BLOCK_BYTES}B",
        "rotation": f"{_text(mechanics, 'Rotation speed (in rpms)')}rpm",
        "surfaces": surfaces,
        "serpentine": _text(layout, "LBN-to-PBN mapping scheme") == "1",
        "zones": [_zone(layout, zone, surfaces) for zone in _list(layout, "Zones")],
        "seek": _seek(folder, name, mechanics, _whole(model, "Number of cylinders")),
        "head_switch": _ms(mechanics, "Head switch time"),
        "write_settle": _ms(mechanics, "Add. write settling delay"),
        "overheads": _overheads(specification),
        "interface": _interface(specification),
        "cache": _cache(specification),
        "queue": {"depth": _whole(specification, "Max queue length"), "age_limit": "10s"},
    }


def _find(folder: Path, name: str, suffix: str) -> Path:
    paths = [folder / f"{name}{end}.{suffix}" for end in ("", _VALIDATION)]
    for path in paths:
        if path.is_file():
            return path
    raise UsageError(
        f"{paths[0].name} or {paths[1].name}",
        found="neither",
        where=str(folder),
        remedy="name a folder with the parameters of each trace's drive",
    )


def _read(folder: Path, name: str, suffix: str) -> dict[str, Value]:
    path = _find(folder, name, suffix)
    try:
        return parse(path.read_text("utf-8"))
    except ValueError as error:
        raise _wrong("a block of parameters", f"{path}: {error}") from error


def _wrong(wanted: str, found: str) -> UsageError:
    where = "DiskSim's parameters"
    return UsageError(wanted, found=found, where=where, remedy="name files of DiskSim 4")


def _section(values: dict[str, Value], key: str) -> dict[str, Value]:
    value = values.get(key)
    if not isinstance(value, dict):
        raise _wrong(f"a block `{key}`", repr(value))
    return value


def _list(values: dict[str, Value], key: str) -> list[Value]:
    value = values.get(key)
    if not isinstance(value, list):
        raise _wrong(f"a list `{key}`", repr(value))
    return value


def _text(values: dict[str, Value], key: str) -> str:
    value = values.get(key)
    if not isinstance(value, str):
        raise _wrong(f"a value `{key}`", repr(value))
    return value


def _whole(values: dict[str, Value], key: str) -> int:
    return int(_number(values, key))


def _number(values: dict[str, Value], key: str) -> float:
    text = _text(values, key)
    try:
        return float(text)
    except ValueError as error:
        raise _wrong(f"a number `{key}`", repr(text)) from error


def _ms(values: dict[str, Value], key: str) -> str:
    return f"{_number(values, key):g}ms"


def _zone(layout: dict[str, Value], zone: Value, surfaces: int) -> dict[str, Any]:
    if not isinstance(zone, dict):
        raise _wrong("a zone as a block", repr(zone))
    first, last = (_whole(zone, f"{end} cylinder number") for end in ("First", "Last"))
    return {
        "first_cylinder": first,
        "cylinders": last - first + 1,
        "sectors": _whole(zone, "Blocks per track"),
        "track_skew": _number(zone, "Skew for track switch"),
        "cylinder_skew": _number(zone, "Skew for cylinder switch"),
        "offset": _number(zone, "Offset of first block"),
        "reserved": _whole(zone, "Empty space at zone front")
        if "Empty space at zone front" in zone
        else 0,
        "spares": _spares(layout, zone, (last - first + 1) * surfaces, surfaces),
    }


def _spares(
    layout: dict[str, Value], zone: dict[str, Value], tracks: int, surfaces: int
) -> dict[str, int]:
    """Spare space by sparing scheme; the schemes follow from the drives' block counts."""
    scheme = _text(layout, "Sparing scheme used")
    spares, sectors = _whole(zone, "Number of spares"), _whole(zone, "Blocks per track")
    if scheme == "1":
        return {"sectors": spares * sectors, "tracks": tracks}
    if scheme == "3":
        return {"sectors": spares, "tracks": 1}
    if scheme == "8":
        return {"sectors": spares, "tracks": _whole(layout, "Rangesize for sparing") * surfaces}
    return {"sectors": spares, "tracks": tracks}


def _seek(folder: Path, name: str, mechanics: dict[str, Value], cylinders: int) -> dict[int, str]:
    if _text(mechanics, "Seek type") == "extracted":
        lines = _find(folder, name, "seek").read_text("utf-8").splitlines()[1:]
        points = [re.split(r"[,\s]+", line.strip()) for line in lines if line.strip()]
        return {int(point[0]): f"{float(point[1]):g}ms" for point in points}
    return _seek_equation(mechanics, cylinders)


def _seek_equation(mechanics: dict[str, Value], cylinders: int) -> dict[int, str]:
    """Ten measured times, then a + b sqrt(d) up to a boundary and c + e d beyond it."""
    values = [float(str(number)) for number in _list(mechanics, "HPL seek equation values")]
    boundary, start, root, base, slope, _ = values
    first = [float(str(number)) for number in _list(mechanics, "First ten seek times")]
    times = dict(enumerate(first, start=1))
    for distance in range(len(first) + 1, cylinders):
        near = start + root * math.sqrt(distance)
        times[distance] = near if distance < boundary else base + slope * distance
    return {distance: f"{time:.6f}ms" for distance, time in times.items()}


def _overheads(values: dict[str, Value]) -> dict[str, Any]:
    def by_command(kind: str) -> dict[str, str]:
        return {
            "after_read": _ms(values, f"{kind} over. after read"),
            "after_write": _ms(values, f"{kind} over. after write"),
        }

    return {
        "read_hit": by_command("Read hit"),
        "read_miss": by_command("Read miss"),
        "write_hit": by_command("Write hit"),
        "write_miss": by_command("Write miss"),
        "read_completion": _ms(values, "Read completion overhead"),
        "write_completion": _ms(values, "Write completion overhead"),
    }


def _interface(values: dict[str, Value]) -> dict[str, Any]:
    block_ms = _number(values, "Bulk sector transfer time") or DEFAULT_BLOCK_MS
    return {
        "rate": f"{BLOCK_BYTES / block_ms / 1000:.6f}MB/s",
        "read_watermark": f"{_number(values, 'High (read) water mark') * 100:g}%",
        "holds_for_write": _flag(values, "Hold bus entire write xfer"),
    }


def _flag(values: dict[str, Value], key: str) -> bool:
    return _whole(values, key) != 0


def _cache(values: dict[str, Value]) -> dict[str, Any]:
    write_segments = _whole(values, "Maximum number of write segments")
    segment = f"{_whole(values, 'Segment size (in blks)') * BLOCK_BYTES}B"
    zero_latency = _flag(values, "Immediate buffer read")
    passing = _flag(values, "Read any free blocks")
    read_ahead = _READ_AHEAD[_text(values, "Buffer continuous read")]
    return {
        "read_segments": max(1, _whole(values, "Number of buffer segments") - write_segments),
        "segment": segment,
        "read_ahead": "whole-track" if zero_latency and passing else read_ahead,
        "read_ahead_limit": f"{_whole(values, 'Maximum read-ahead (blks)') * BLOCK_BYTES}B",
        "read_ahead_replaces_request": _flag(values, "Read-ahead over requested"),
        "read_ahead_after_hit": _flag(values, "Read-ahead on idle hit"),
        "keep_passing_sectors": passing,
        "zero_latency_reads": zero_latency,
        "zero_latency_writes": _flag(values, "Immediate buffer write"),
        "write_cache": _flag(values, "Fast write level"),
        "write_size": segment,
        "write_extents": write_segments,
        "written_segments": write_segments * _flag(values, "Allow read hits on write data"),
    }
