"""Plain text output of readings in the format of ``iostat -xt`` (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from iostudy.telemetry.iostat import EXTENDED_FIGURES, OLD_FIGURES, compute_old_figures
from iostudy.telemetry.stack import Direction, build_flow
from iostudy.telemetry.summary import Figures
from iostudy_watch.live import MachineIdentity, Reading

CPU = ("%user", "%nice", "%system", "%iowait", "%steal", "%idle")
_NAME_WIDTH = 13
"""At least, as in iostat; the names of volumes are often longer."""
_OF_OPERATION = (7, 9, 8, 6, 7, 8)
_WIDTHS = dict(
    zip(
        EXTENDED_FIGURES + OLD_FIGURES, _OF_OPERATION * 3 + (7, 7, 7, 6) + (8, 8, 7, 6), strict=True
    )
)
"""At least iostat's width of each figure, so that lines stay aligned between readings."""
_CPU_WIDTHS = dict.fromkeys(CPU, 7) | {CPU[0]: 6}


@dataclass(frozen=True)
class PlainText:
    """Time, CPUs and a line per device with its display name; heads in each reading.

    Merged and split requests of a volume follow below.

    With ``old`` the figures of sysstat's old names follow the others. Columns have iostat's
    width, or more for large numbers.
    """

    host: MachineIdentity
    day: date
    old: bool = False

    def begin(self) -> str:
        """The machine, as iostat's first line."""
        host = self.host
        return (
            f"{host.system} {host.release} ({host.name}) \t{self.day.isoformat()} "
            f"\t_{host.machine}_\t({host.cpus} CPU)\n\n"
        )

    def reading(self, reading: Reading) -> str:
        """Its lines, with an empty one at the end."""
        lines = [reading.at.isoformat(timespec="milliseconds"), *_cpus(reading.summary.machine)]
        return "\n".join((*lines, *self._devices(reading), *_flows(reading), "", ""))

    def end(self) -> str:
        """Nothing."""
        return ""

    def _devices(self, reading: Reading) -> list[str]:
        heads = EXTENDED_FIGURES + (OLD_FIGURES if self.old else ())
        rows = [heads]
        for figures in reading.summary.devices.values():
            values = {**figures, **compute_old_figures(figures)}
            rows.append(tuple(f"{values[head]:.2f}" for head in heads))
        names = ("Device", *(reading.devices[name].label for name in reading.summary.devices))
        return list(align(names, rows, _WIDTHS, _NAME_WIDTH))


def _cpus(machine: Figures) -> list[str]:
    """iostat's part about CPUs; nothing where the shares are not known."""
    if any(head not in machine for head in CPU):
        return []
    shares = [tuple(f"{machine[head]:.2f}" for head in CPU)]
    return [*align(("avg-cpu:", ""), [CPU, *shares], _CPU_WIDTHS, len("avg-cpu:")), ""]


def _flows(reading: Reading) -> Iterator[str]:
    """Describe splits and merges of requests between each volume and its members."""
    called = {name: device.label for name, device in reading.devices.items()}
    members = {
        called[volume]: [called[name] for name in reading.members_of(volume)]
        for volume in reading.devices
    }
    figures = {called[name]: values for name, values in reading.summary.devices.items()}
    inner = {name for below in members.values() for name in below}
    for volume in (name for name, below in members.items() if below and name not in inner):
        flows = [build_flow(direction, volume, members, figures) for direction in Direction]
        yield from (flow.sentence for flow in flows if flow and flow.is_reshaped)


def align(
    names: Sequence[str], rows: Sequence[Sequence[str]], least: Mapping[str, int], name_width: int
) -> Iterator[str]:
    """Names to the left, numbers to the right; the first row are the heads."""
    heads = rows[0]
    columns = zip(*rows, strict=True)
    widths = [
        max(least[head], *map(len, column)) for head, column in zip(heads, columns, strict=True)
    ]
    name_width = max(name_width, *map(len, names))
    for name, row in zip(names, rows, strict=True):
        cells = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        yield " ".join((name.ljust(name_width), *cells))
