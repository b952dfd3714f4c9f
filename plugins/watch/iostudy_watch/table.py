"""Rows of the live view: figures, order and history (pure)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf

from iostudy.telemetry.summary import Figures
from iostudy_watch.device_selection import WatchedDevice
from iostudy_watch.live import Reading

DEVICE = "Device"
"""The column of names; sorting by it restores the order of devices."""

COLUMNS = (
    *("%util", "r/s", "w/s", "rkB/s", "wkB/s", "r_await", "w_await", "aqu-sz"),
    *("rareq-sz", "wareq-sz", "rrqm/s", "wrqm/s", "%rrqm", "%wrqm"),
    *("f/s", "f_await", "d/s", "dkB/s", "drqm/s", "%drqm", "d_await", "dareq-sz"),
)
"""iostat's columns, with the most important first for narrow terminals."""

BARS = "▁▂▃▄▅▆▇█"
_HISTORY = 240
"""Readings kept: more than a terminal has columns."""
_PERCENT = "%"
_FULL_PERCENT = 100.0

Path = tuple[str, ...]
"""From a volume to one of its members, by kernel names: a member may be in several."""


@dataclass(frozen=True)
class TableView:
    """View options of the user.

    ``sorted_by`` is one of COLUMNS or DEVICE; ``matching`` a part of the names to be shown, in any
    case. ``as_tree`` has members below their volume, but for those that are ``folded``.
    """

    sorted_by: str = DEVICE
    descending: bool = True
    matching: str = ""
    as_tree: bool = True
    folded: frozenset[Path] = frozenset()
    history_of: str = "%util"


@dataclass(frozen=True)
class Row:
    """A device at its position; ``figures`` are empty for a new one."""

    path: Path
    device: WatchedDevice
    figures: Figures
    has_members: bool
    is_folded: bool

    @property
    def depth(self) -> int:
        """Number of volumes above it."""
        return len(self.path) - 1


def build_rows(reading: Reading, view: TableView) -> tuple[Row, ...]:
    """Return the visible rows from the top."""
    return tuple(_Table(reading, view).rows())


class History:
    """The figures of past readings."""

    def __init__(self) -> None:
        self._past: deque[Mapping[str, Figures]] = deque(maxlen=_HISTORY)
        self._figure = ""
        self._values: deque[Mapping[str, float]] = deque(maxlen=_HISTORY)

    def add(self, reading: Reading) -> None:
        """Keep one more, and drop the oldest if there are too many."""
        self._past.append(reading.summary.devices)
        self._values.append(_values(reading.summary.devices, self._figure))

    def last_values(self, device: str, figure: str, length: int) -> tuple[float | None, ...]:
        """The last values of a figure, the newest last; None where the device was not there."""
        past = self._figure_history(figure)
        return tuple([values.get(device) for values in list(past)[max(0, len(past) - length) :]])

    def scale(self, figure: str) -> float:
        """Value of a full bar: 100 for a percentage, else the maximum over all devices."""
        if figure.startswith(_PERCENT):
            return _FULL_PERCENT
        values = (value for values in self._figure_history(figure) for value in values.values())
        return max(values, default=0.0)

    def _figure_history(self, figure: str) -> deque[Mapping[str, float]]:
        """Return the figure of every reading, by device; cached, because it is read often."""
        if figure != self._figure:
            self._figure = figure
            self._values = deque((_values(past, figure) for past in self._past), maxlen=_HISTORY)
        return self._values


def _values(devices: Mapping[str, Figures], figure: str) -> Mapping[str, float]:
    return {name: values[figure] for name, values in devices.items() if figure in values}


@lru_cache
def sparkline(values: tuple[float | None, ...], scale: float, width: int) -> str:
    """A bar for each value, right-aligned in ``width`` columns; a blank for an unknown value.

    Kept, as the history of one idle device is that of the others.
    """
    bars = (_bar(value, scale) for value in values)
    return "".join(bars).rjust(width)


def next_sorting(view: TableView, column: str) -> tuple[str, bool]:
    """Return the new sorting: the same column again reverses the order."""
    if view.sorted_by == column:
        return column, not view.descending
    return column, True


def adjacent_column(column: str, steps: int) -> str:
    """Return the column that many places to the right, cyclically."""
    places = (DEVICE, *COLUMNS)
    return places[(places.index(column) + steps) % len(places)]


def _bar(value: float | None, scale: float) -> str:
    if value is None:
        return " "
    share = min(1.0, value / scale) if scale > 0 else 0.0
    return BARS[min(len(BARS) - 1, int(share * len(BARS)))]


class _Table:
    """One reading in the requested view."""

    def __init__(self, reading: Reading, view: TableView) -> None:
        self._reading, self._devices, self._view = reading, reading.devices, view
        self._figures = reading.summary.devices

    def rows(self) -> Iterator[Row]:
        if not self._view.as_tree:
            flat = (self._row((name,), members=()) for name in self._sorted(self._devices))
            yield from (row for row in flat if self._matches(row.device))
            return
        lower = {member for name in self._devices for member in self._reading.members_of(name)}
        for name in self._sorted(name for name in self._devices if name not in lower):
            yield from self._tree((name,), wanted=False)

    def _tree(self, path: Path, *, wanted: bool) -> Iterator[Row]:
        """The device and all below it; without a match, only what leads down to one."""
        members = self._sorted(self._reading.members_of(path[-1]))
        row = self._row(path, members)
        wanted = wanted or self._matches(row.device)
        below = [lower for name in members for lower in self._tree((*path, name), wanted=wanted)]
        if wanted or below:
            yield row
            if not row.is_folded:
                yield from below

    def _row(self, path: Path, members: Sequence[str]) -> Row:
        name = path[-1]
        folded = bool(members) and path in self._view.folded
        figures = self._figures.get(name, {})
        return Row(path, self._devices[name], figures, bool(members), folded)

    def _sorted(self, names: Iterable[str]) -> list[str]:
        by = self._view.sorted_by
        if by == DEVICE:
            return list(names) if self._view.descending else list(names)[::-1]
        sign = -1 if self._view.descending else 1
        last = sign * inf
        return sorted(names, key=lambda name: sign * self._figures.get(name, {}).get(by, last))

    def _matches(self, device: WatchedDevice) -> bool:
        wanted = self._view.matching.lower()
        return wanted in device.name.lower() or wanted in device.label.lower()
