"""What the machine did while a command ran, and what limited it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType

from iostudy.diagnosis.bottleneck import Diagnosis
from iostudy.diagnosis.diagnose import diagnose
from iostudy.errors import UsageError
from iostudy.telemetry.recorder import ProcRecorder
from iostudy.telemetry.samples import Process
from iostudy.units import KIB
from iostudy.visible import visible
from iostudy.watch.judged import ground_of, target_of
from iostudy.watch.live import Reading, Watch
from iostudy.watch.machine_text import dirty, pressure
from iostudy.watch.plain import PlainText, aligned

_TOLD = 5
_WIDTHS = {"pid": 8, "CPU s": 9, "read kB": 12, "written kB": 12, "of": 8}


@dataclass(frozen=True)
class Told:
    """A command that has ended with ``exit_code`` (128 and its number for a signal).

    ``reading`` is of the whole time from just before it began to its end, ``devices`` those that
    the diagnosis takes for its target (none if none did anything), ``processes`` the busiest.
    """

    command: tuple[str, ...]
    exit_code: int
    reading: Reading
    devices: tuple[str, ...]
    processes: tuple[Process, ...]
    limited: Diagnosis

    def text(self) -> str:
        """The summary as lines: machine, devices, processes and what limited it."""
        reading, machine = self.reading, self.reading.seen.machine
        plain = PlainText(reading.host, reading.at.date()).reading(reading)
        ended = f"{reading.seen.seconds:.2f} s, exit code {self.exit_code}"
        lines = [f"{visible(' '.join(self.command))}: {ended}", plain.rstrip(), ""]
        lines += [line for line in (pressure(machine), dirty(machine)) if line]
        lines += ["", *self._process_lines(), ""] if self.processes else [""]
        lines += [f"{told}." for told in self.limited.sentences]
        return "\n".join(lines)

    def _process_lines(self) -> Iterator[str]:
        heads = tuple(_WIDTHS)
        rows = [
            (
                str(each.pid),
                f"{each.cpu_seconds:.2f}",
                f"{each.read_bytes / KIB:.0f}",
                f"{each.written_bytes / KIB:.0f}",
                "command" if each.of_workload else "others",
            )
            for each in self.processes
        ]
        names = ("Process", *(visible(each.name) for each in self.processes))
        return aligned(names, [heads, *rows], _WIDTHS, name_width=16)


def run(
    command: Sequence[str],
    watch: Watch,
    hz: float,
    ending: Collection[signal.Signals],
    stdout: int | None = None,
) -> Told:
    """Run it to its end, ``hz`` samples a second beside it; ``ending`` signals are handed on to it.

    ``stdout`` is a descriptor for what it prints there, else our own. UsageError if there is no
    such program, or it cannot be executed.
    """
    recorder = ProcRecorder(watch.asked_for, [os.getpid()], hz)
    with _handed_on(ending) as handed:
        recorder.start()
        try:
            # No `with`: it would wait once more, after the last sample.
            child = _started(command, stdout)
        except BaseException:
            recorder.stop()
            raise
        handed.to(child.pid)
        # Not yet reaped: the kernel still tells what it has used as its own.
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        telemetry = recorder.stop()
        handed.to(None)
        status = child.wait()
    reading = watch.reading(telemetry.samples)
    if watch.asked_for is None:
        reading = _of_busy(reading)
    target = target_of(reading, watch.asked_for)
    return Told(
        command=tuple(command),
        exit_code=status if status >= 0 else 128 - status,
        reading=reading,
        devices=target.devices,
        processes=_busiest(telemetry.samples.processes),
        limited=diagnose(reading.seen, ground_of(reading, target)),
    )


def _of_busy(reading: Reading) -> Reading:
    """Without devices that did nothing meanwhile."""
    busy = {
        name: own
        for name, own in reading.seen.devices.items()
        if any(own[head] for head in ("r/s", "w/s", "d/s", "f/s", "%util"))
    }
    return replace(reading, seen=replace(reading.seen, devices=busy))


@dataclass
class _HandedOn:
    """Sends what is received to a process, once there is one.

    In the foreground of a terminal Ctrl-C reaches the process itself, and it must not be told
    twice: many programs then leave without putting things back.
    """

    received: list[int] = field(default_factory=list)
    pid: int | None = None

    def handle(self, number: int, _frame: FrameType | None) -> None:
        """As a signal's handler."""
        if self.pid is None:
            self.received.append(number)
        elif number != signal.SIGINT or not _in_the_foreground():
            os.kill(self.pid, number)

    def to(self, pid: int | None) -> None:
        """From now on to this process, or to none; what came before it was there is for it too."""
        self.pid = pid
        if pid is not None:
            for number in self.received:
                os.kill(pid, number)


@contextmanager
def _handed_on(ending: Collection[signal.Signals]) -> Iterator[_HandedOn]:
    handed = _HandedOn()
    before = {number: signal.signal(number, handed.handle) for number in ending}
    try:
        yield handed
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_the_foreground() -> bool:
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:  # stdin is no terminal, or closed
        return False


def _started(command: Sequence[str], stdout: int | None) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(command, stdout=stdout)
    except OSError as error:
        raise UsageError(
            f"to run {command[0]}",
            found=error.strerror or str(error),
            where="the command line, behind --",
            remedy="name a program in the PATH, or by its path, that may be executed",
        ) from error


def _busiest(processes: Sequence[Process]) -> tuple[Process, ...]:
    """The command's first, each side by bytes and then by CPU time."""
    active = (each for each in processes if each.pid != os.getpid())
    order = sorted(
        active,
        key=lambda each: (
            not each.of_workload,
            -(each.read_bytes + each.written_bytes),
            -each.cpu_seconds,
        ),
    )
    own = [each for each in order if each.of_workload][:_TOLD]
    return (*own, *[each for each in order if not each.of_workload][:_TOLD])
