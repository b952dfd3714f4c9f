"""Runs a command under telemetry and reports what the machine did and the bottleneck."""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from iostudy.cli.child import exit_code, forward_signals, start_program
from iostudy.diagnosis.bottleneck import Diagnosis
from iostudy.diagnosis.diagnose import diagnose
from iostudy.telemetry.recorder import ProcRecorder
from iostudy.telemetry.samples import ProcessUsage
from iostudy.units import KIB
from iostudy.visible import visible
from iostudy_watch.diagnosis_target import build_watch_context, find_target
from iostudy_watch.live import DeviceSelection, Reading
from iostudy_watch.machine_text import format_dirty, format_pressure
from iostudy_watch.plain import PlainText, align

_MAX_PROCESSES = 5
_WIDTHS = {"pid": 8, "CPU s": 9, "read kB": 12, "written kB": 12, "of": 8}


@dataclass(frozen=True)
class CommandReport:
    """Report of a command that ended with ``exit_code`` (128 + number for a signal).

    ``reading`` covers the time from just before its start to its end. ``devices`` are those that
    the diagnosis assumes as its target (none if all were idle), ``processes`` the busiest.
    """

    command: tuple[str, ...]
    exit_code: int
    reading: Reading
    devices: tuple[str, ...]
    processes: tuple[ProcessUsage, ...]
    limited: Diagnosis

    def text(self, *, old: bool = False) -> str:
        """Format the report as lines: machine, devices, processes and bottleneck.

        With ``old`` the devices have the figures of sysstat's old names too.
        """
        reading, machine = self.reading, self.reading.summary.machine
        plain = PlainText(reading.host, reading.at.date(), old).reading(reading)
        ended = f"{reading.summary.seconds:.2f} s, exit code {self.exit_code}"
        lines = [f"{visible(' '.join(self.command))}: {ended}", plain.rstrip(), ""]
        lines += [line for line in (format_pressure(machine), format_dirty(machine)) if line]
        lines += ["", *self._process_lines(), ""] if self.processes else [""]
        lines += [f"{sentence}." for sentence in self.limited.sentences]
        return "\n".join(lines)

    def _process_lines(self) -> Iterator[str]:
        heads = tuple(_WIDTHS)
        rows = [
            (
                str(process.pid),
                f"{process.cpu_seconds:.2f}",
                f"{process.read_bytes / KIB:.0f}",
                f"{process.written_bytes / KIB:.0f}",
                "command" if process.of_workload else "others",
            )
            for process in self.processes
        ]
        names = ("Process", *(visible(process.name) for process in self.processes))
        return align(names, [heads, *rows], _WIDTHS, name_width=16)


def run(
    command: Sequence[str],
    watch: DeviceSelection,
    hz: float,
    ending: Collection[signal.Signals],
    stdout: int | None = None,
) -> CommandReport:
    """Run the command with ``hz`` samples a second, and forward ``ending`` signals to it.

    ``stdout`` is a descriptor for its output, else our own. ProgramError if there is no
    such program, or it cannot be executed.
    """
    recorder = ProcRecorder(watch.selected, [os.getpid()], hz)
    with forward_signals(ending) as handed:
        recorder.start()
        try:
            # No `with`: it would wait once more, after the last sample.
            child = start_program(command, stdout)
        except BaseException:
            recorder.stop()
            raise
        handed.forward_to(child.pid)
        # Not yet reaped: the kernel still accounts its usage to it.
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        telemetry = recorder.stop()
        handed.forward_to(None)
        status = child.wait()
    reading = watch.reading(telemetry.samples)
    if watch.selected is None:
        reading = _drop_idle_devices(reading)
    target = find_target(reading, watch.selected)
    return CommandReport(
        command=tuple(command),
        exit_code=exit_code(status),
        reading=reading,
        devices=target.devices,
        processes=_select_busiest(telemetry.samples.processes),
        limited=diagnose(reading.summary, build_watch_context(reading, target)),
    )


def _drop_idle_devices(reading: Reading) -> Reading:
    """Drop the devices that were idle."""
    busy = {
        name: figures
        for name, figures in reading.summary.devices.items()
        if any(figures[head] for head in ("r/s", "w/s", "d/s", "f/s", "%util"))
    }
    return replace(reading, summary=replace(reading.summary, devices=busy))


def _select_busiest(processes: Sequence[ProcessUsage]) -> tuple[ProcessUsage, ...]:
    """Select the busiest processes, the command's first, by bytes and then by CPU time."""
    active = (process for process in processes if process.pid != os.getpid())
    order = sorted(
        active,
        key=lambda process: (
            not process.of_workload,
            -(process.read_bytes + process.written_bytes),
            -process.cpu_seconds,
        ),
    )
    workload = [process for process in order if process.of_workload][:_MAX_PROCESSES]
    return (*workload, *[process for process in order if not process.of_workload][:_MAX_PROCESSES])
