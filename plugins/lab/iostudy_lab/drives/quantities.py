"""Quantities of drive files as pydantic types: texts with units, validated to whole numbers."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated

from pydantic import BeforeValidator, Field

from iostudy import units
from iostudy.prober import BLOCK_BYTES

_NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_TIME = re.compile(rf"(-?\d+(?:\.\d+)?)\s*({'|'.join(_NANOSECONDS)})")
_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*(kB|MB|GB)/s")
_SPEED = re.compile(r"(\d+(?:\.\d+)?)\s*rpm")
_RATE_UNITS = {"kB": 10**3, "MB": 10**6, "GB": 10**9}


def parse_nanoseconds(text: str) -> int:
    """Nanoseconds of a text such as ``8.5ms``, rounded; ValueError names the form."""
    if str(text).strip() == "0":
        return 0
    match = _TIME.fullmatch(str(text).strip())
    if match is None:
        raise ValueError(f"{text!r} is not a time; write a number and ns, us, ms or s")
    return round(Fraction(match[1]) * _NANOSECONDS[match[2]])


def parse_rate(text: str) -> Fraction:
    """Bytes per second of a text such as ``205MB/s``; ValueError names the form."""
    match = _RATE.fullmatch(str(text).strip())
    if match is None or Fraction(match[1]) == 0:
        raise ValueError(f"{text!r} is not a rate; write a number and kB/s, MB/s or GB/s")
    return Fraction(match[1]) * _RATE_UNITS[match[2]]


def parse_period(text: str) -> int:
    """Nanoseconds of a revolution at a speed such as ``7200rpm``; ValueError names the form."""
    match = _SPEED.fullmatch(str(text).strip())
    if match is None or Fraction(match[1]) == 0:
        raise ValueError(f"{text!r} is not a speed; write a number and rpm")
    return round(60 * 10**9 / Fraction(match[1]))


def _parse_blocks(text: str | int) -> int:
    """Blocks of 512 bytes of a size."""
    size = units.parse_size(text)
    if size % BLOCK_BYTES:
        raise ValueError(f"{text!r} is not a multiple of {BLOCK_BYTES} bytes")
    return size // BLOCK_BYTES


def _parse_block_time(text: str) -> int:
    """Nanoseconds for a block at a rate."""
    return round(BLOCK_BYTES * 10**9 / parse_rate(text))


NonNegative = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(gt=0)]
Nanoseconds = Annotated[int, BeforeValidator(parse_nanoseconds), Field(ge=0)]
SignedNanoseconds = Annotated[int, BeforeValidator(parse_nanoseconds)]
Period = Annotated[int, BeforeValidator(parse_period)]
BlockTime = Annotated[int, BeforeValidator(_parse_block_time)]
Blocks = Annotated[int, BeforeValidator(_parse_blocks), Field(ge=0)]
Bytes = Annotated[int, BeforeValidator(units.parse_size), Field(gt=0)]
Share = Annotated[float, BeforeValidator(units.parse_percent), Field(ge=0, le=1)]
Rate = Annotated[Fraction, BeforeValidator(parse_rate)]
