"""iostat's figures of each sampled device, from increments of the kernel's counters (pure).

Names and formulae are those of sysstat 12 (``iostat -dxk``; iostat.c and rd_stats.c compute them,
its manual page names the fields). Counters are those of the kernel's
Documentation/admin-guide/iostats.rst; a sector there is always 512 bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iostudy.telemetry.samples import Samples, Values, counter_increments
from iostudy.telemetry.summary import Figures

SECTOR_BYTES = 512
_KB_PER_SECTOR = SECTOR_BYTES / 1024


class _Operation(NamedTuple):
    """One kind of request: the letter of its figures, and its counters."""

    letter: str
    requests: str
    merged: str
    sectors: str
    milliseconds: str


_OPERATIONS = (
    _Operation("r", "reads", "reads_merged", "sectors_read", "read_ms"),
    _Operation("w", "writes", "writes_merged", "sectors_written", "write_ms"),
    _Operation("d", "discards", "discards_merged", "sectors_discarded", "discard_ms"),
)

COUNTERS = (
    *(counter for _, *counters in _OPERATIONS for counter in counters),
    *("flushes", "flush_ms", "io_ms", "weighted_io_ms"),
)
"""The kernel's counters of a device that the figures use."""

EXTENDED_FIGURES = (
    *("r/s", "rkB/s", "rrqm/s", "%rrqm", "r_await", "rareq-sz"),
    *("w/s", "wkB/s", "wrqm/s", "%wrqm", "w_await", "wareq-sz"),
    *("d/s", "dkB/s", "drqm/s", "%drqm", "d_await", "dareq-sz"),
    *("f/s", "f_await", "aqu-sz", "%util"),
)
"""The figures that ``iostat -dxk`` prints, in its order."""

OLD_FIGURES = ("avgrq-sz", "avgqu-sz", "await", "svctm")
"""The figures that sysstat renamed, split or dropped, in their former order."""


def compute_iostat_figures(moved: Mapping[str, float], seconds: float) -> dict[str, float]:
    """Compute iostat's figures of a device from the increments of COUNTERS in ``seconds``.

    ``kB_read`` and ``kB_wrtn`` are totals, as in ``iostat -dk``, and follow ``EXTENDED_FIGURES``.
    Rates are per second, sizes in kB of 1024 bytes, waits in milliseconds, %util in percent. As in
    iostat, %util is above 100 if the kernel has counted more time than has passed.
    """
    figures: dict[str, float] = {}
    for operation in _OPERATIONS:
        letter = operation.letter
        requests, merged = moved[operation.requests], moved[operation.merged]
        kilobytes = moved[operation.sectors] * _KB_PER_SECTOR
        figures |= {
            f"{letter}/s": requests / seconds,
            f"{letter}kB/s": kilobytes / seconds,
            f"{letter}rqm/s": merged / seconds,
            f"%{letter}rqm": 100 * _share(merged, requests + merged),
            f"{letter}_await": _share(moved[operation.milliseconds], requests),
            f"{letter}areq-sz": _share(kilobytes, requests),
        }
    return figures | {
        "f/s": moved["flushes"] / seconds,
        "f_await": _share(moved["flush_ms"], moved["flushes"]),
        "aqu-sz": moved["weighted_io_ms"] / (seconds * 1000),
        "%util": 100 * moved["io_ms"] / (seconds * 1000),
        "kB_read": moved["sectors_read"] * _KB_PER_SECTOR,
        "kB_wrtn": moved["sectors_written"] * _KB_PER_SECTOR,
    }


def compute_old_figures(figures: Figures) -> dict[str, float]:
    """Compute the figures that iostat used to print, from a device's ``EXTENDED_FIGURES`` figures.

    ``avgrq-sz`` is in sectors of 512 bytes, ``await`` and ``svctm`` in milliseconds. Discards count
    as in sysstat 12's ``areq-sz`` and ``await``; sysstat knew none while it had the old names.

    Do not trust ``svctm``. It is the time in which the device had any request, divided by the
    number of requests. No request took that time if the device serves several at once. sysstat's
    manual calls it meaningless, because the block layer does not know when a driver begins a
    request. The manual warns "Do not trust this field any more" since 9.1.3 (2010); 12.1.2 (2018)
    removed it.
    """
    letters = [operation.letter for operation in _OPERATIONS]
    requests = sum(figures[f"{letter}/s"] for letter in letters)
    kilobytes = sum(figures[f"{letter}kB/s"] for letter in letters)
    waited = sum(figures[f"{letter}/s"] * figures[f"{letter}_await"] for letter in letters)
    busy_ms = figures["%util"] / 100 * 1000
    return {
        "avgrq-sz": _share(kilobytes / _KB_PER_SECTOR, requests),
        "avgqu-sz": figures["aqu-sz"],
        "await": _share(waited, requests),
        "svctm": _share(busy_ms, requests),
    }


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


NUMBER = "number"
"""The column with a device's major and minor number; another number is another device."""
_IDLE = compute_iostat_figures(dict.fromkeys(COUNTERS, 0.0), 1.0)
"""The figures of an idle device, for any duration; most devices are idle."""
_VALUES_AT_ONCE = 1 << 16
"""Values in one computation: few enough for a processor's cache."""


def compute_device_figures(
    samples: Samples, wanted: Collection[str] | None = None
) -> Mapping[str, Figures]:
    """Compute iostat's figures over the time in which each device was present.

    The figures of a device that was absent for a while, or replaced by another of its name, cover
    the intervals with the same device at both ends. ``wanted`` of None means all sampled devices.
    """
    disks = samples.keyed("disk")
    names = [name for name in disks if wanted is None or name in wanted]
    # Many devices at once: one after the other takes ten times as long when samples are few.
    length = max(1, _VALUES_AT_ONCE // (len(COUNTERS) * len(samples.seconds)))
    groups = (names[begin : begin + length] for begin in range(0, len(names), length))
    return {
        name: figures
        for group in groups
        for name, figures in _figures(group, [disks[name] for name in group], samples.intervals)
    }


def _figures(
    names: Sequence[str], disks: Sequence[Mapping[str, Values]], seconds: Values
) -> Iterator[tuple[str, Figures]]:
    """Compute the figures of each device that was present in any interval of ``seconds``."""
    counters = np.concatenate([disk[counter] for disk in disks for counter in COUNTERS])
    steps = counter_increments(counters.reshape(len(disks), len(COUNTERS), -1))
    is_same = find_unchanged_intervals(np.stack([disk[NUMBER] for disk in disks]))
    known = is_same & np.isfinite(steps).all(axis=1)
    counted = np.where(known[:, np.newaxis], steps, 0).sum(axis=2).tolist()
    lengths = (known @ seconds).tolist()
    for name, moved_by, length in zip(names, counted, lengths, strict=True):
        if length and any(moved_by):
            yield name, compute_iostat_figures(dict(zip(COUNTERS, moved_by, strict=True)), length)
        elif length:
            yield name, _IDLE


def find_unchanged_intervals(number: Values) -> NDArray[np.bool_]:
    """Return the intervals in which each device was present, and the same at both ends."""
    return np.equal(np.diff(number), 0)
