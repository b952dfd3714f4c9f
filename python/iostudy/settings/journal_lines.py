"""Journal lines: checksum, blank and a JSON object with the line number.

The first line seals the journal: it names the last line that has reached the disk. It is written
over in place after each sync, so it never promises a line that a crash could lose. A journal with
fewer lines was cut short. Lines after the sealed ones announce nothing that has begun.

Journals of earlier versions have no seal and no line numbers; their lines are read the same way.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SEAL = "sealed"
FIRST_LINES = 2
"""The seal and the owner, which a journal has from its first moment on."""

_SEAL_CHARACTERS = 48
"""Width of the seal: it must not change, for other lines follow."""


@dataclass(frozen=True)
class DecodedLines:
    """Objects of the intact lines, and information about the others.

    ``damaged`` numbers (from 1) complete lines with a wrong checksum, ``missing`` counts sealed
    lines that are absent, ``last`` is the highest line number.
    """

    objects: tuple[Mapping[str, Any], ...]
    damaged: tuple[int, ...]
    missing: int
    last: int


def encode(number: int, event: Mapping[str, Any]) -> bytes:
    """Encode a line with this number, counted from 1."""
    text = json.dumps({**event, "line": number}, separators=(",", ":"))
    data = text.ljust(_SEAL_CHARACTERS if SEAL in event else 0).encode()
    return b"%08x %b\n" % (zlib.crc32(data), data)


def seal(last: int) -> Mapping[str, int]:
    """Build the event of the first line, after the lines up to ``last`` are on disk."""
    return {SEAL: last}


def decode(data: bytes) -> DecodedLines:
    """Decode a journal; ValueError for an intact line that is not a JSON object.

    An unterminated last line is skipped: its writer was killed before the sync.
    """
    found = [_decode_line(line) for line in data.split(b"\n")[:-1]]
    objects = tuple(each for each in found if each is not None)
    damaged = tuple(index for index, each in enumerate(found, 1) if each is None)
    numbers = {int(each["line"]) for each in objects if "line" in each}
    sealed = max((int(each[SEAL]) for each in objects if SEAL in each), default=0)
    there = sum(number <= sealed for number in (*numbers, *damaged))
    missing = max(0, sealed - there) if found else 1
    return DecodedLines(objects, damaged, missing, max(numbers | {sealed, len(found)}))


def _decode_line(line: bytes) -> Mapping[str, Any] | None:
    """Return the object, None if the checksum does not match the text."""
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        return None
    decoded = json.loads(text)
    if not isinstance(decoded, dict):
        raise ValueError(f"not a JSON object: {text!r}")
    return decoded
