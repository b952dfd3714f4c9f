"""Parsing and formatting of sizes, counts, percentages and times.

Binary units (KiB, MiB, GiB, TiB) are powers of 1024, decimal ones (kB, MB, GB, TB) powers of 1000;
the two are never mixed up, and a bare number is bytes. A letter alone (4k, 1G) is binary, as in fio
and systemd. A time without a unit is in seconds, as there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30

_SIZE_UNITS = {
    "": 1,
    "B": 1,
    "KiB": KIB,
    "MiB": MIB,
    "GiB": GIB,
    "TiB": 1 << 40,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    **dict.fromkeys("kK", KIB),
    **dict.fromkeys("mM", MIB),
    **dict.fromkeys("gG", GIB),
    **dict.fromkeys("tT", 1 << 40),
}
_COUNT_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}
_SECOND_UNITS = {
    **dict.fromkeys(("us", "usec"), Fraction(1, 10**6)),
    **dict.fromkeys(("ms", "msec"), Fraction(1, 1000)),
    **dict.fromkeys(("", "s", "sec"), Fraction(1)),
    **dict.fromkeys(("m", "min"), Fraction(60)),
    "h": Fraction(3600),
    "d": Fraction(86400),
}
_MAX_VALUE = (1 << 63) - 1
"""What off_t holds (<sys/types.h>): no file is larger; and in nanoseconds 292 years."""
_MAX_UNIX_SECONDS = 250e9
SIZE_FORM = (
    "a number and KiB, MiB, GiB, TiB or K, M, G, T (powers of 1024), "
    "kB, MB, GB, TB (powers of 1000) or B, such as 256MiB"
)
COUNT_FORM = "a whole number, or one with k, M or G, such as 10M"
SECONDS_FORM = "a number and us, ms, s, min, h or d, such as 30s; seconds without a unit"
PERCENT_FORM = "a percentage such as 3%"


def _pattern(units: Iterable[str]) -> str:
    """An ECMA regular expression of a number with one of the units, as JSON Schema takes it."""
    return rf"^\s*[0-9]+(\.[0-9]+)?\s*({'|'.join(units)})\s*$"


SIZE_PATTERN = _pattern(_SIZE_UNITS)
COUNT_PATTERN = _pattern(_COUNT_UNITS)
SECONDS_PATTERN = _pattern(_SECOND_UNITS)
PERCENT_PATTERN = _pattern("%")

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")


def _parse(text: object, units: Mapping[str, int | Fraction], kind: str, form: str) -> Fraction:
    """The number with its unit; ValueError names the form that is understood."""
    match = _NUMBER.fullmatch(str(text).strip())
    if match is None or match[2] not in units:
        raise ValueError(f"not a {kind}; write {form}")
    return Fraction(match[1]) * units[match[2]]


def parse_size(text: str | int) -> int:
    """Bytes of ``text``; ValueError names the form that is understood."""
    size = _parse(text, _SIZE_UNITS, "size", SIZE_FORM)
    if size.denominator != 1:
        raise ValueError("not a whole number of bytes")
    if size > _MAX_VALUE:
        raise ValueError(f"more than any file can have; write at most {_MAX_VALUE}")
    return int(size)


def parse_count(text: str | int) -> int:
    """The whole number that a text such as ``250``, ``10M`` or ``1.5k`` means."""
    count = _parse(text, _COUNT_UNITS, "count", COUNT_FORM)
    if count.denominator != 1:
        raise ValueError("not a whole number")
    if count > _MAX_VALUE:
        raise ValueError(f"too large; write at most {_MAX_VALUE}")
    return int(count)


def format_count(count: int) -> str:
    """The shortest exact form: 10000000 -> ``10M``, 1234 -> ``1234``."""
    for unit in ("G", "M", "k"):
        if count and count % _COUNT_UNITS[unit] == 0:
            return f"{count // _COUNT_UNITS[unit]}{unit}"
    return str(count)


def parse_seconds(text: str | float) -> float:
    """Seconds of ``text``, which are its unit without one; ValueError names the form."""
    seconds = _parse(text, _SECOND_UNITS, "time", SECONDS_FORM)
    if seconds * 10**9 > _MAX_VALUE:
        raise ValueError(f"too long; write at most {_MAX_VALUE // 10**9}s, which are 292 years")
    return float(seconds)


def format_exact_seconds(seconds: float) -> str:
    """A time that `parse_seconds` reads back: 0.3 -> ``300ms``, 40.0 -> ``40s``, 2400 -> ``40min``.

    The largest unit in which it is a whole number; else seconds with their decimals.
    """
    exact = Fraction(str(seconds))
    for unit in ("h", "min", "s", "ms", "us"):
        if exact and (exact / _SECOND_UNITS[unit]).denominator == 1:
            return f"{exact / _SECOND_UNITS[unit]}{unit}"
    return f"{Decimal(str(seconds)).normalize():f}s"


def parse_percent(text: str | float) -> float:
    """The fraction that a text such as ``3%`` or ``2.5 %`` means; ValueError otherwise."""
    match = _PERCENT.fullmatch(str(text).strip())
    if match is None:
        raise ValueError(f"not a percentage; write {PERCENT_FORM}")
    return float(match[1]) / 100


def format_exact_percent(fraction: float) -> str:
    """A fraction as `parse_percent` reads it back: 0.3 -> ``30%``."""
    percent = round(fraction * 100, 10)  # without what dividing by 100 has added
    return f"{Decimal(str(percent)).normalize():f}%"


def format_size(size_bytes: int) -> str:
    """The shortest exact binary form: 268435456 -> ``256MiB``, 1000 -> ``1000B``."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if size_bytes and size_bytes % _SIZE_UNITS[unit] == 0:
            return f"{size_bytes // _SIZE_UNITS[unit]}{unit}"
    return f"{size_bytes}B"


def format_rounded_size(size_bytes: int) -> str:
    """Bytes to three digits in a binary unit: 960197124096 -> ``894 GiB``."""
    power = min(4, max(0, size_bytes.bit_length() - 1) // 10)
    unit = ("B", "KiB", "MiB", "GiB", "TiB")[power]
    return f"{format_significant(size_bytes / 1024**power)} {unit}"


def format_significant(value: float) -> str:
    """Three significant digits without an exponent: 1234.5 -> ``1230``, 5.1 -> ``5.10``."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.2e}")
    decimals = 2 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:.{max(0, decimals)}f}"


def format_reading(value: float, unit: str) -> str:
    """Three digits and the unit; bytes in the binary unit that suits them."""
    if unit != "B":
        return f"{format_significant(value)} {unit}"
    return format_rounded_size(round(value))


def format_percent(fraction: float) -> str:
    """A fraction as a percentage of three significant digits: 0.03 -> ``3 %``, 10.14 -> ``1010 %``.

    Never with an exponent, as ``g`` alone would have it.
    """
    return f"{Decimal(f'{fraction * 100:.3g}'):f} %"


def format_percent_interval(fraction: float, low: float, high: float) -> str:
    """A fraction with its interval as percentages: ``6 % [4.1, 11]``."""
    low_text, high_text = (format_percent(end).removesuffix(" %") for end in (low, high))
    return f"{format_percent(fraction)} [{low_text}, {high_text}]"


def format_seconds(seconds: float) -> str:
    """A duration as people say it: ``850 ms``, ``12.3 s``, ``3 min 05 s``, ``2 h 10 min``."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


LARGEST_CHANGE = 10.0
"""A change of 1000 %. Intervals of the first few blocks reach further; digits say nothing there."""
LARGEST_RATIO = 1000.0
"""Largest ratio to the baseline in digits; beyond it only its order matters."""


def is_ratio(change: float) -> bool:
    """Whether a change, a fraction, is stated as a ratio: above 100 %."""
    return change > 1


def format_relative_change(change: float) -> str:
    """A change: -0.1204 -> ``-12.0 %``; above 100 % the ratio: 29.0 -> ``30.0 x``."""
    return f"{_ratio(change)} x" if is_ratio(change) else f"{_signed(change)} %"


def format_change_ends(low: float, high: float, *, ratio: bool = False) -> str:
    """The interval of a change in percent: ``[-15.0, -9.0]``; as ratios: ``[25.1, 36.2]``."""
    if low < 0 and high >= LARGEST_CHANGE:
        return "[too wide]"
    text = _ratio if ratio else _signed
    return f"[{text(low)}, {text(high)}]"


def format_relative_interval(change: float, low: float, high: float) -> str:
    """A change and its interval, fractions: ``-12.0 % [-15.0, -9.0]``, ``30.0 x [25.1, 36.2]``."""
    return (
        f"{format_relative_change(change)} {format_change_ends(low, high, ratio=is_ratio(change))}"
    )


def require_time(unix_seconds: float) -> float:
    """Return a time; ValueError unless it is in the years 1970 to 9892, which can be printed."""
    if not 0 <= unix_seconds < _MAX_UNIX_SECONDS:
        raise ValueError(f"no time that can be printed: {unix_seconds} s")
    return unix_seconds


def format_tenths(percent: float, sign: str = "-") -> str:
    """Round to one decimal; to two where one would show another value as 0 % or 100 %."""
    if 0 < abs(percent) < 0.05 or 99.95 <= abs(percent) < 100:
        return f"{max(-99.99, min(percent, 99.99)):{sign}.2f}"
    return f"{percent + 0.0:{sign}.1f}"


def _signed(fraction: float) -> str:
    if fraction >= LARGEST_CHANGE:
        return f">+{LARGEST_CHANGE * 100:.0f}"
    return format_tenths(fraction * 100, sign="+")


def _ratio(change: float) -> str:
    """The ratio to the baseline that a change, a fraction, is: 29.0 -> ``30.0``."""
    ratio = 1 + change
    return f">{LARGEST_RATIO:.0f}" if ratio >= LARGEST_RATIO else format_significant(ratio)
