"""Warnings about levels that this host lacks, ignores or changes, found without any change.

Source: mm/page-writeback.c (domain_dirty_limits), block/blk-sysfs.c,
block/blk-mq.c (blk_mq_update_nr_requests), mm/readahead.c.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from iostudy.errors import IostudyError, TargetError
from iostudy.host import devices, stack
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT, read_number
from iostudy.host.mounts import find_mount
from iostudy.node.levels import Levels
from iostudy.settings.definitions.queue import MAX_SECTORS, NR_REQUESTS, READ_AHEAD, SCHEDULER
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.values import AS_FOUND
from iostudy.study.combinations import Configuration, Factor
from iostudy.study.model import Study
from iostudy.study.requests import apply_configuration

_REMOVED = {
    "anticipatory": "Linux 2.6.33 removed it",
    "cfq": "Linux 5.0 removed it",
    "deadline": "Linux 5.0 removed it; mq-deadline replaces it",
    "noop": "Linux 5.0 removed it; none replaces it",
}
_MODULE = "it has to be a module that the kernel can load"
_DIRTY = "sysctl.vm.dirty_"
_MAX_SCHEDULER_REQUESTS = 2048
"""MAX_SCHED_RQ in block/blk-mq.h."""
_READ_AHEAD = (READ_AHEAD.name, "bdi.read_ahead_kb")


def find_level_warnings(study: Study, target: Sequence[Path]) -> tuple[str, ...]:
    """Return a sentence for each level, or pair of levels, that would not do what it says.

    ``target`` are paths whose devices stand for the target.
    """
    levels = Levels(Transaction(), target)
    return tuple(
        dict.fromkeys(
            (
                *_missing_schedulers(study, levels),
                *_without_page_cache(study),
                *_swapped_dirty_limits(study, levels),
                *_oversized_requests(study, target),
                *_excess_requests(study, target),
                *_rounded_read_ahead(study),
                *_unmounted_directories(study),
            )
        )
    )


def _missing_schedulers(study: Study, levels: Levels) -> Iterator[str]:
    for factor in _factors(study, SCHEDULER.name):
        try:
            offered = levels.offered(factor.name, factor.on)
        except IostudyError:
            continue  # the place is not there yet, or check_target reports it
        for level in factor.levels:
            if level.value not in (AS_FOUND, *offered):
                reason = _REMOVED.get(level.value, _MODULE)
                yield (
                    f"{factor.name}={level.value} is not among this kernel's: "
                    f"{', '.join(offered)}; {reason}"
                )


def _without_page_cache(study: Study) -> Iterator[str]:
    configurations = study.known().configurations()
    direct = [
        request.label
        for request in study.workloads
        if all(getattr(apply_configuration(request, c), "direct", False) for c in configurations)
    ]
    for factor in study.factors:
        if direct and (factor.name in _READ_AHEAD or factor.name.startswith(_DIRTY)):
            yield (
                f"{factor.name} has no effect on {', '.join(direct)}: with direct: true, I/O "
                "bypasses the page cache"
            )


def _swapped_dirty_limits(study: Study, levels: Levels) -> Iterator[str]:
    for unit in ("ratio", "bytes"):
        names = f"{_DIRTY}{unit}", f"{_DIRTY}background_{unit}"
        if not any(factor.name in names for factor in study.factors):
            continue
        current = {name: levels.bind(name)[0].read() for name in names}
        for configuration in study.known().configurations():
            limit, background = (_level(configuration, name, current[name]) for name in names)
            if 0 < limit <= background:
                yield (
                    f"dirty_{unit}={limit} is not above dirty_background_{unit}={background}: the "
                    f"kernel then starts write-back at half of dirty_{unit}"
                )


def _oversized_requests(study: Study, target: Sequence[Path]) -> Iterator[str]:
    for factor in _factors(study, MAX_SECTORS.name):
        for device in _devices(target, factor, stack.find_devices):
            most = read_number(devices.queue_folder(device) / "max_hw_sectors_kb")
            for value in _numbers(factor):
                if most is not None and value > most:
                    yield (
                        f"{factor.name}={value} exceeds max_hw_sectors_kb of "
                        f"{_title(study, factor, device)} ({most}): the kernel refuses or "
                        "reduces it"
                    )


def _excess_requests(study: Study, target: Sequence[Path]) -> Iterator[str]:
    for factor in _factors(study, NR_REQUESTS.name):
        for device in _devices(target, factor, stack.scheduling_devices):
            for configuration in study.known().configurations():
                value = configuration.settings.get(factor.name, AS_FOUND)
                scheduler = configuration.settings.get(SCHEDULER.name, AS_FOUND)
                most, reason = _most_requests(device, scheduler)
                if value != AS_FOUND and most is not None and int(value) > most:
                    yield (
                        f"{factor.name}={value} exceeds {reason} of "
                        f"{_title(study, factor, device)} ({most}): the kernel refuses it"
                    )


def _most_requests(device: BlockDevice, scheduler: str) -> tuple[int | None, str]:
    """Return the limit of nr_requests under this scheduler, and its name."""
    current = devices.read_scheduler(device)
    if scheduler == AS_FOUND and current is not None:
        scheduler = current.current
    if scheduler == "none":
        return read_number(devices.queue_folder(device).parent / "mq/0/nr_tags"), "the queue depth"
    return _MAX_SCHEDULER_REQUESTS, f"the limit with {scheduler}"


def _rounded_read_ahead(study: Study) -> Iterator[str]:
    page_kib = os.sysconf("SC_PAGE_SIZE") // 1024
    for name in _READ_AHEAD:
        for factor in _factors(study, name):
            for value in _numbers(factor):
                if value % page_kib:
                    rounded = value - value % page_kib
                    yield (
                        f"{name}={value}: the kernel rounds it down to {rounded}, whole pages of "
                        f"{page_kib} KiB"
                    )


def _unmounted_directories(study: Study) -> Iterator[str]:
    for name, path in study.target.compared.items():
        is_mounted_later = name in study.target.mount_requests
        if not is_mounted_later and path.is_dir() and find_mount(path).point == ROOT:
            yield f"{name} ({path}) is in the root file system: is its own file system mounted?"


def _factors(study: Study, name: str) -> Iterator[Factor]:
    return (factor for factor in study.factors if factor.name == name)


def _devices(
    target: Sequence[Path], factor: Factor, find: Callable[[str], tuple[BlockDevice, ...]]
) -> Iterator[BlockDevice]:
    """Yield the devices of a factor; any loop device stands for one not yet made."""
    for place in factor.on or map(str, target):
        with suppress(TargetError):  # check_target reports it
            yield from find(place)


def _title(study: Study, factor: Factor, device: BlockDevice) -> str:
    return "a loop device" if study.target.is_made and not factor.on else device.name


def _numbers(factor: Factor) -> Iterator[int]:
    return (int(level.value) for level in factor.levels if level.value != AS_FOUND)


def _level(configuration: Configuration, name: str, current: str) -> int:
    level = configuration.settings.get(name, AS_FOUND)
    return int(current if level == AS_FOUND else level)
