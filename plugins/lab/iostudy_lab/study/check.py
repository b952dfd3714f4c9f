"""Checks of studies with a simulated target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from iostudy.settings.definitions import volume
from iostudy.settings.definitions.queue import CFQ_2_6_32, SCHEDULER
from iostudy.study.combinations import Factor, FactorKind
from iostudy.study.model import Study
from iostudy.study.problems import KeyPath, ProblemCollector
from iostudy.study.sections import DecisionMode
from iostudy.workloads import catalog
from iostudy.workloads.mix import MixOptions

DEFAULT_SCHEDULER = "mq-deadline"
"""Scheduler of a simulated drive without a factor."""
QUEUE_SETTINGS = (
    "block.nr_requests",
    "block.max_sectors_kb",
    "block.read_ahead_kb",
    "block.nomerges",
)
HOST_SETTINGS = ("sysctl.vm.dirty_ratio", "sysctl.vm.dirty_background_ratio")
_OF_PAGE_CACHE = ("block.read_ahead_kb", *HOST_SETTINGS)
_SIMULATED_VALUES: Mapping[str, Any] = MappingProxyType(
    {"rate": None, "slow_down": 0.0, "directories": (), "spill": (), "input": ()}
)
"""Options with the only value that has a simulation."""


def is_tunable(name: str) -> bool:
    """Whether a setting is a tunable of a scheduler, such as ``block.cfq.quantum``."""
    return name.startswith(tuple(f"block.{scheduler}." for scheduler in SCHEDULER.choices))


def check_simulated(collector: ProblemCollector, path: KeyPath, study: Study) -> None:
    """Note what a simulation does not know; for another target what only a simulation has."""
    if not study.target.predicts:
        _refuse_simulated_scheduler(collector, path, study)
        for index, request in enumerate(study.workloads):
            if catalog.get(request.name).only_simulated:
                message = f"{request.name} needs a drive with simulated: true as target"
                collector.add(("workloads", index), message)
        return
    for factor in study.factors:
        if factor.kind is FactorKind.SETTING and (message := _refuse(factor, study)):
            collector.add((*path, factor.name), message)
    for index, request in enumerate(study.workloads):
        for message in _unknown(request.name, request.options):
            collector.add(("workloads", min(index, len(study.workloads) - 1)), message)
    for key, message in (*_useless(study), *_beyond_one_drive(study)):
        collector.add(key, message)


def _beyond_one_drive(study: Study) -> Iterator[tuple[KeyPath, str]]:
    """Workloads that go to one drive, on a volume of several."""
    for index, request in enumerate(study.workloads):
        if study.target.layout is not None and catalog.get(request.name).only_simulated:
            message = f"{request.name} goes to one drive; simulate a drive, and no volume"
            yield ("workloads", index), message


def _useless(study: Study) -> Iterator[tuple[KeyPath, str]]:
    """Keys of the study that mean nothing to a simulation."""
    if study.fallback is not None:
        yield ("without_root",), "a simulation needs no root; leave this out"
    if study.telemetry.block_latency:
        yield ("telemetry", "block_latency"), "a simulation has no request to trace"
    if study.limit.settings:
        yield ("limit",), "a simulation harms nobody; leave the limit out"
    if study.decide.mode is DecisionMode.SWITCHBACK:
        yield ("decide", "mode"), "a simulation runs whole trials; use trials"


def _refuse_simulated_scheduler(collector: ProblemCollector, path: KeyPath, study: Study) -> None:
    for factor in study.factors:
        if factor.name == SCHEDULER.name and CFQ_2_6_32 in [level.value for level in factor.levels]:
            message = f"only a simulated drive has {CFQ_2_6_32}; use cfq"
            collector.add((*path, factor.name), message)


def _refuse(factor: Factor, study: Study) -> str:
    settings = (SCHEDULER.name, *QUEUE_SETTINGS, *HOST_SETTINGS)
    names = [
        workload.name for workload in study.workloads if catalog.get(workload.name).only_simulated
    ]
    if names and factor.name in _OF_PAGE_CACHE:
        return f"{names[0]} begins below the page cache; leave this out"
    if factor.name in volume.NAMES:
        return "" if study.target.layout else "a simulated drive is no volume; leave this out"
    if factor.on:
        return "a simulated target is one drive; leave on out"
    if factor.name in settings or is_tunable(factor.name):
        return ""
    return f"a simulation knows the tunables of schedulers and {', '.join(settings)}"


def _unknown(name: str, options: object) -> Iterator[str]:
    if isinstance(options, MixOptions):
        for label, member in options.workloads.items():
            yield from (f"{label}: {text}" for text in _unknown(member.name, member.options))
        return
    if not catalog.get(name).can_be_simulated:
        names = [workload for workload in catalog.names() if catalog.get(workload).can_be_simulated]
        yield f"{name} has no simulation; those with one are {', '.join(names)}"
    for option, simulated in _SIMULATED_VALUES.items():
        value = getattr(options, option, simulated)
        if value != simulated:
            yield f"{option}: {value} has no simulation; leave it out"
