"""Settings of a configuration as host and request queue of a simulated disk."""

from __future__ import annotations

from collections.abc import Mapping

from iostudy.job import SimulationSetup
from iostudy.settings.definitions.queue import CFQ_2_6_32, SCHEDULER
from iostudy.settings.values import AS_FOUND
from iostudy_lab.study.check import DEFAULT_SCHEDULER, is_tunable

LEGACY_SCHEDULERS = ("noop", "deadline", "anticipatory", "cfq", CFQ_2_6_32)
"""Schedulers of the block layer with one queue, which ended with Linux 5.0."""
_LEGACY_REQUESTS, _LEGACY_SECTORS_KB = 128, 512
_MAX_REQUESTS, _SECTORS_KB = 256, 1280


def build_setup(
    settings: Mapping[str, str], *, rotational: bool, depth: int, seed: int
) -> SimulationSetup:
    """Return host and queue under these settings, with the kernel's defaults for all others.

    ``depth`` is the queue depth of the drive.
    """
    given = {name: text for name, text in settings.items() if text != AS_FOUND}
    scheduler = given.get(SCHEDULER.name, DEFAULT_SCHEDULER)
    is_legacy = scheduler in LEGACY_SCHEDULERS

    def number(name: str, default: int) -> int:
        return int(given.get(name, default))

    return SimulationSetup(
        scheduler=scheduler,
        rotational=rotational,
        seed=seed,
        tunables=_tunables(given),
        nr_requests=number("block.nr_requests", default_requests(scheduler, depth)),
        max_sectors_kb=number(
            "block.max_sectors_kb", _LEGACY_SECTORS_KB if is_legacy else _SECTORS_KB
        ),
        read_ahead_kb=number("block.read_ahead_kb", SimulationSetup.read_ahead_kb),
        nomerges=number("block.nomerges", SimulationSetup.nomerges),
        dirty_ratio=number("sysctl.vm.dirty_ratio", SimulationSetup.dirty_ratio),
        dirty_background_ratio=number(
            "sysctl.vm.dirty_background_ratio", SimulationSetup.dirty_background_ratio
        ),
    )


def default_requests(scheduler: str, depth: int) -> int:
    """Return the kernel's default of nr_requests."""
    if scheduler in LEGACY_SCHEDULERS:
        return _LEGACY_REQUESTS
    return depth if scheduler == "none" else min(2 * depth, _MAX_REQUESTS)


def _tunables(given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name.rpartition(".")[2], text) for name, text in given.items() if is_tunable(name)
    )
