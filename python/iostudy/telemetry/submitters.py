"""Processes outside the workload that submitted I/O to devices, by the threads of the bios."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from iostudy.host.files import read_text
from iostudy.host.mounts import Mount, parse_mount_id, read_mounts
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
    private_devices: Collection[str] = (),
    proc: Path = Path("/proc"),
    mounts: Callable[[], Iterable[Mount]] = read_mounts,
) -> tuple[Submitter, ...]:
    """Attribute (device, thread, bytes) to running processes outside the workload.

    ``workload`` are processes whose descendants are the workload, and others of it. A thread that
    has ended may have been the workload's, and kernel threads work for whoever uses the device:
    both are left out. A process that calls sync(2) submits what others have written. On the
    ``private_devices``, which the study made, it therefore also needs an open file.
    """
    found = Counter[tuple[str, int, str]]()
    for device, thread, size in submitted:
        process = _read_process(proc, thread)
        if process is not None and _is_foreign(process, workload, proc):
            found[device, process.pid, process.name] += size
    if private := {device for device, _, _ in found}.intersection(private_devices):
        nodes = {Path("/dev", name) for name in private_devices}
        own = {each.id for each in mounts() if each.named_device in nodes}
        users = {pid for _, pid, _ in found if _has_open_file(proc / str(pid), own, nodes)}
        found = Counter(
            {key: size for key, size in found.items() if key[0] not in private or key[1] in users}
        )
    return tuple(
        Submitter(device, name, pid, size / KIB) for (device, pid, name), size in found.items()
    )


def _has_open_file(process: Path, mounts: Collection[int], nodes: Collection[Path]) -> bool:
    """Return whether it has a file open on one of the mounts, or one of the devices itself."""
    with suppress(FileNotFoundError, ProcessLookupError):  # it ends meanwhile
        for descriptor in (process / "fd").iterdir():
            with suppress(FileNotFoundError):  # it is closed meanwhile
                info = (process / "fdinfo" / descriptor.name).read_text("ascii")
                if parse_mount_id(info) in mounts or descriptor.readlink() in nodes:
                    return True
    return False


def _is_foreign(process: _Process, workload: Collection[int], proc: Path) -> bool:
    ancestry = {each.pid for each in _ancestry(process, proc)}
    return _KTHREADD not in ancestry and ancestry.isdisjoint(workload)


def _ancestry(process: _Process | None, proc: Path) -> Iterator[_Process]:
    while process is not None:
        yield process
        process = _read_process(proc, process.parent) if process.parent else None


def _read_process(proc: Path, thread: int) -> _Process | None:
    """Return the process of a thread, None if it has ended. A process may have any name."""
    if (text := read_text(proc / str(thread) / "status")) is None:
        return None
    status = dict(_STATUS.findall(text))
    pid = int(status["Tgid"])
    return (
        _read_process(proc, pid)
        if pid != thread
        else _Process(pid, int(status["PPid"]), status["Name"])
    )
