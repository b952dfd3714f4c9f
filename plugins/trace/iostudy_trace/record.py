"""Records the block events of devices while a command runs, or for some time."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from iostudy.cli.child import exit_code, forward_signals, start_program
from iostudy.errors import RecordError, TargetError
from iostudy.host import devices, stack
from iostudy.host.devices import BlockDevice
from iostudy.settings.trace_instance import TraceInstance, TracePurpose
from iostudy.settings.transaction.transaction import Transaction
from iostudy_trace.block_trace import BlockTrace
from iostudy_trace.events import OPTIONAL_EVENTS
from iostudy_trace.trace_file import write_trace

PURPOSE = TracePurpose("a trace of block events", "", OPTIONAL_EVENTS)


@dataclass(frozen=True)
class Recording:
    """A trace that is written to ``file``: of ``disks``, or of all devices of the host.

    ``path`` is the name that the file will get. ``ending`` are the signals that end it, and
    ``on_journal`` is that of `Transaction`.
    """

    path: Path
    file: BinaryIO
    disks: tuple[BlockDevice, ...] | None
    ending: Collection[signal.Signals]
    on_journal: Callable[[Path], None]


@dataclass(frozen=True)
class RecordedTrace:
    """Numbers of events that were written and lost, and the exit code of the command."""

    events: int
    lost: int
    exit_code: int


def select_disks(places: Sequence[str]) -> tuple[BlockDevice, ...]:
    """Return the disks of the places, of volumes those below. TargetError for no device."""
    disks = (
        disk for place in places for device in stack.find_devices(place) for disk in _disks(device)
    )
    return tuple(dict.fromkeys(disks))


def _disks(device: BlockDevice) -> Iterator[BlockDevice]:
    """Volumes have bios and no requests; loop devices have requests of their own."""
    if not (device.partition_of or device.slaves):
        yield device
        return
    for lower in stack.lower_devices(device):
        yield from _disks(lower)


def record_command(recording: Recording, command: Sequence[str]) -> RecordedTrace:
    """Record while a command runs; signals are forwarded to it.

    ProgramError if it cannot be started, RecordError if the trace cannot be written: the command
    continues then, and this waits for its end.
    """
    with forward_signals(recording.ending) as handed, _tracing(recording) as trace:
        child = start_program(command)
        handed.forward_to(child.pid)
        try:
            _write(recording, trace, lambda: _has_ended(child.pid, os.WNOHANG))
        finally:
            _has_ended(child.pid, 0)
            handed.forward_to(None)
            status = child.wait()
    return RecordedTrace(trace.events, trace.lost, exit_code(status))


def record_time(recording: Recording, seconds: float) -> RecordedTrace:
    """Record for some time, or until a signal arrives. RecordError as `record_command`."""
    with forward_signals(recording.ending) as handed, _tracing(recording) as trace:
        end = time.monotonic() + seconds
        _write(recording, trace, lambda: bool(handed.received) or time.monotonic() >= end)
    code = exit_code(-handed.received[0]) if handed.received else 0
    return RecordedTrace(trace.events, trace.lost, code)


@contextmanager
def _tracing(recording: Recording) -> Iterator[BlockTrace]:
    """Make a trace instance and start it."""
    with Transaction(on_journal=recording.on_journal) as transaction:
        traced = (
            None if recording.disks is None else tuple(devices.with_partitions(recording.disks))
        )
        instance = TraceInstance.prepare(traced, PURPOSE)
        transaction.apply(instance)
        with BlockTrace(instance.path, instance.events, _names()) as trace:
            yield trace


def _names() -> Mapping[int, str]:
    """Names of the disks by the kernel's numbers of them and of their partitions."""
    present = devices.with_partitions(devices.read_disks())
    return {_number(device): device.disk for device in present if device.number}


def _number(device: BlockDevice) -> int:
    major, minor = map(int, device.number.split(":"))
    return major << 20 | minor


def _has_ended(pid: int, wait: int) -> bool:
    """Whether a child has ended, which is not yet reaped."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | wait) is not None


def _write(recording: Recording, trace: BlockTrace, has_ended: Callable[[], bool]) -> None:
    try:
        write_trace(trace.read(has_ended), recording.file)
    except OSError as error:
        raise RecordError(
            "to write the trace",
            found=error.strerror or str(error),
            where=str(recording.path),
            remedy="free space, or name a file on another disk with --out",
        ) from error


def describe_overlap(folder: Path, disks: Sequence[BlockDevice] | None) -> str:
    """Return ", " and a note if a trace in the folder records its own writes; else ""."""
    try:
        below = {device.name for device in stack.whole_stack(folder)}
    except TargetError:
        return ""
    names = below if disks is None else below & {disk.name for disk in disks}
    return f"; its own writes to {', '.join(sorted(names))} are among them" if names else ""
