"""Readings as the JSON document of ``iostat -xt -o JSON`` (pure).

Source: sysstat 12.6.1, iostat.c, write_json_ext_stat and write_json_cpu_stat; times and dates have
the form of S_TIME_FORMAT=ISO. Except for its values the document is identical to the byte. Two
additions follow iostat's keys, which readers find by name: ``called`` is the display name of a
device if it differs from the kernel's, and, on request, the figures with sysstat's old names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from iostudy.telemetry.iostat import OLD_FIGURES, compute_old_figures
from iostudy.telemetry.summary import Figures
from iostudy_watch.live import MachineIdentity, Reading
from iostudy_watch.plain import CPU

DISK = (
    *("r/s", "w/s", "d/s", "f/s", "rkB/s", "wkB/s", "dkB/s", "rrqm/s", "wrqm/s", "drqm/s"),
    *("%rrqm", "%wrqm", "%drqm", "r_await", "w_await", "d_await", "f_await"),
    *("rareq-sz", "wareq-sz", "dareq-sz", "aqu-sz", "%util"),
)
"""The figures of a device in iostat's order; the keys have no percent sign."""

_END = "\n\t\t\t]\n\t\t}\n\t]\n}}\n"


@dataclass
class IostatJson:
    """One document, valid once ``end`` is written, even without a reading."""

    host: MachineIdentity
    day: date
    old: bool = False
    _begun: bool = field(default=False, init=False)

    def begin(self) -> str:
        """The machine."""
        host = self.host
        head: dict[str, str | int] = {
            "nodename": host.name,
            "sysname": host.system,
            "release": host.release,
            "machine": host.machine,
            "number-of-cpus": host.cpus,
            "date": self.day.isoformat(),
        }
        lines = "".join(f"\t\t\t{_text(key)}: {_text(value)},\n" for key, value in head.items())
        return '{"sysstat": {\n\t"hosts": [\n\t\t{\n' + lines + '\t\t\t"statistics": [\n'

    def reading(self, reading: Reading) -> str:
        """An element of ``statistics``."""
        before, self._begun = ",\n" if self._begun else "", True
        time = _text(reading.at.strftime("%Y-%m-%dT%H:%M:%S%z"))
        parts = [f'"timestamp": {time},\n', *_cpus(reading.summary.machine), self._disks(reading)]
        return before + "\t\t\t\t{\n" + "".join(f"\t\t\t\t\t{part}" for part in parts) + "\t\t\t\t}"

    def end(self) -> str:
        """Close all open elements."""
        return _END

    def _disks(self, reading: Reading) -> str:
        disks = ",\n".join(f"\t\t\t\t\t\t{self._disk(reading, n)}" for n in reading.summary.devices)
        return f'"disk": [\n{disks}\n\t\t\t\t\t]\n'

    def _disk(self, reading: Reading, name: str) -> str:
        figures, called = reading.summary.devices[name], reading.devices[name].label
        parts = [f'"disk_device": {_text(name)}', *_numbers(figures, DISK)]
        if called != name:
            parts.append(f'"called": {_text(called)}')
        if self.old:
            parts += _numbers(compute_old_figures(figures), OLD_FIGURES)
        return "{" + ", ".join(parts) + "}"


def _cpus(machine: Figures) -> list[str]:
    """iostat's part about CPUs; nothing where the shares are not known."""
    if any(name not in machine for name in CPU):
        return []
    return ['"avg-cpu":  {' + ", ".join(_numbers(machine, CPU)) + "},\n"]


def _numbers(figures: Figures, names: Iterable[str]) -> list[str]:
    return [f'"{name.removeprefix("%")}": {figures[name]:.2f}' for name in names]


def _text(value: str | int) -> str:
    return json.dumps(value)
