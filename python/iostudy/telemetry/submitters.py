"""Processes outside the workload that submitted I/O to devices, by the threads of the bios."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from iostudy.telemetry.summary import Submitter
from iostudy.units import KIB

_KTHREADD = 2
"""The parent of all kernel threads."""
_STATUS = re.compile(r"^(Name|Tgid|PPid):\t(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class _Process:
    pid: int
    parent: int
    name: str


def find_foreign_submitters(
    submitted: Iterable[tuple[str, int, int]],
    workload: Collection[int],
    proc: Path = Path("/proc"),
) -> tuple[Submitter, ...]:
    """Attribute (device, thread, bytes) to running processes outside the workload.

    ``workload`` are processes whose descendants are the workload, and others of it. A thread that
    has ended may have been the workload's, and kernel threads work for whoever uses the device:
    both are left out.
    """
    found = Counter[tuple[str, int, str]]()
    for device, thread, size in submitted:
        process = _read_process(proc, thread)
        if process is not None and _is_foreign(process, workload, proc):
            found[device, process.pid, process.name] += size
    return tuple(
        Submitter(device, name, pid, size / KIB) for (device, pid, name), size in found.items()
    )


def _is_foreign(process: _Process, workload: Collection[int], proc: Path) -> bool:
    ancestry = {each.pid for each in _ancestry(process, proc)}
    return _KTHREADD not in ancestry and ancestry.isdisjoint(workload)


def _ancestry(process: _Process | None, proc: Path) -> Iterator[_Process]:
    while process is not None:
        yield process
        process = _read_process(proc, process.parent) if process.parent else None


def _read_process(proc: Path, thread: int) -> _Process | None:
    """Return the process of a thread, None if it has ended."""
    try:
        status = dict(_STATUS.findall((proc / str(thread) / "status").read_text()))
        pid = int(status["Tgid"])
        if pid != thread:
            return _read_process(proc, pid)
    except (FileNotFoundError, ProcessLookupError):
        return None
    return _Process(pid, int(status["PPid"]), status["Name"])
