"""iostat's device figures from two readings of the kernel's counters (pure).

Names and formulae are those of sysstat 12 (``iostat -dxk``; rd_stats.c and iostat.c describe them,
and its manual page names the fields). Counters are those of the kernel's
Documentation/admin-guide/iostats.rst; a sector there is always 512 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping

SECTOR_BYTES = 512
_KB_PER_SECTOR = SECTOR_BYTES / 1024

# The kernel keeps times in milliseconds as 32-bit values, and other counters as unsigned long.
_WRAP_32 = 1 << 32
_WRAP_64 = 1 << 64


def difference(before: int, after: int) -> int:
    """How far a counter has moved, across one wrap of its 32- or 64-bit width."""
    if after >= before:
        return after - before
    return after - before + (_WRAP_32 if before < _WRAP_32 else _WRAP_64)


def device_figures(
    before: Mapping[str, int], after: Mapping[str, int], seconds: float
) -> dict[str, float]:
    """iostat's extended figures of one device over ``seconds``.

    Beside iostat's own, ``kB_read`` and ``kB_wrtn`` are the totals that ``iostat -dk`` calls so.
    Rates are per second, sizes in kB of 1024 bytes, waits in milliseconds, %util in percent.
    """
    moved = {name: difference(before[name], after[name]) for name in after if name != "in_flight"}
    reads, writes = moved["reads"], moved["writes"]
    read_kb = moved["sectors_read"] * _KB_PER_SECTOR
    written_kb = moved["sectors_written"] * _KB_PER_SECTOR
    return {
        "r/s": reads / seconds,
        "w/s": writes / seconds,
        "d/s": moved["discards"] / seconds,
        "f/s": moved["flushes"] / seconds,
        "rkB/s": read_kb / seconds,
        "wkB/s": written_kb / seconds,
        "rrqm/s": moved["reads_merged"] / seconds,
        "wrqm/s": moved["writes_merged"] / seconds,
        "%rrqm": 100 * _share(moved["reads_merged"], reads + moved["reads_merged"]),
        "%wrqm": 100 * _share(moved["writes_merged"], writes + moved["writes_merged"]),
        "r_await": _share(moved["read_ms"], reads),
        "w_await": _share(moved["write_ms"], writes),
        "f_await": _share(moved["flush_ms"], moved["flushes"]),
        "rareq-sz": _share(read_kb, reads),
        "wareq-sz": _share(written_kb, writes),
        "aqu-sz": moved["weighted_io_ms"] / (seconds * 1000),
        "%util": min(100.0, 100 * moved["io_ms"] / (seconds * 1000)),
        "kB_read": read_kb,
        "kB_wrtn": written_kb,
    }


def cpu_shares(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, float]:
    """Shares of all CPU time in percent by iostat's names: %user, %nice, %system, ..., %idle.

    As in iostat, %system includes interrupts.
    """
    moved = {name: max(0, after[name] - before[name]) for name in after}
    total = sum(moved.values())
    system = moved["system"] + moved["irq"] + moved["softirq"]
    ticks = {
        "%user": moved["user"],
        "%nice": moved["nice"],
        "%system": system,
        "%iowait": moved["iowait"],
        "%steal": moved["steal"],
        "%idle": moved["idle"],
    }
    return {name: 100 * _share(value, total) for name, value in ticks.items()}


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
