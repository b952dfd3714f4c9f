"""Trials that ran at the rate limit of their control group (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from iostudy.ledger.rows import TrialRow
from iostudy.settings.definitions.cgroup import NO_LIMIT, Control, definition_of
from iostudy.telemetry.summary import Figures
from iostudy.units import KIB

AT_LIMIT = 0.9
"""Share of the limit from which a trial ran at it: the kernel's throttle is not exact, and a trial
begins and ends below its rate."""
_MOST = 0.5
"""Share of the counted trials of a configuration that ran at the limit, from which it did."""
_FIGURES: Mapping[Control, tuple[str, int]] = {
    Control.RBPS: ("rkB/s", KIB),
    Control.WBPS: ("wkB/s", KIB),
    Control.RIOPS: ("r/s", 1),
    Control.WIOPS: ("w/s", 1),
}
"""iostat's figure that each control limits, and its unit in bytes or operations per second."""


def find_limited(rows: Iterable[TrialRow]) -> frozenset[tuple[str, str]]:
    """Return workload and configuration of those with most counted trials at a rate limit."""
    at_limit: dict[tuple[str, str], list[bool]] = {}
    for row in rows:
        if row.counts:
            own = at_limit.setdefault((row.workload, row.configuration), [])
            own.append(ran_at_limit(row))
    return frozenset(key for key, found in at_limit.items() if sum(found) >= _MOST * len(found))


def ran_at_limit(row: TrialRow) -> bool:
    """Return whether a device of the trial moved data at a limit that was read back."""
    if row.summary is None:
        return False
    return any(
        _share(row.summary.devices.get(device, {}), control, value) >= AT_LIMIT
        for control, device, value in _limits(row.settings or {})
    )


def _limits(settings: Mapping[str, str]) -> Iterable[tuple[Control, str, float]]:
    by_name = {definition_of(control).name: control for control in _FIGURES}
    for label, value in settings.items():
        name, _, device = label.partition("@")
        if name in by_name and value != NO_LIMIT:
            yield by_name[name], device, float(value)


def _share(figures: Figures, control: Control, limit: float) -> float:
    name, unit = _FIGURES[control]
    return figures.get(name, 0.0) * unit / limit
