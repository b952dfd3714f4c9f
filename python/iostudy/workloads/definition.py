"""Definition of a workload: the source of its schema, documentation, options and report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel

from iostudy.workloads.option_types import Options
from iostudy.workloads.workload import Workload


@dataclass(frozen=True)
class Figure:
    """A figure of a workload."""

    __pydantic_config__: ClassVar = {"use_attribute_docstrings": True, "extra": "forbid"}

    name: str
    """Name of the figure, such as ``throughput``."""
    unit: str
    """Unit of its values, such as ``MiB/s``."""
    documentation: str
    """What it measures."""
    higher_is_better: bool
    """False for a time or a latency."""


@dataclass(frozen=True)
class SerialResource:
    """A resource of a workload that serves one operation at a time: a lock or a log.

    ``name`` describes it: "the tree", or how a log is written: "synced batch by batch". Its
    figures are shares in percent. The sum of ``waited`` is the share of their time for which
    operations waited. ``used`` is the share of the run in which it was busy, "" if unknown.
    ``stores`` says whether it writes to the workload's devices or is in memory only.
    """

    name: str
    waited: tuple[str, ...]
    used: str = ""
    stores: bool = False


@dataclass(frozen=True)
class WorkloadDefinition:
    """A workload's name, options, figures and what it models.

    ``options`` is a model of frozen Options whose field descriptions are the documentation;
    ``figures`` gives, for validated options, every figure of a run: verdicts use the first one
    unless the study names another. ``part_figures`` does the same for the parts of a run. The
    first sentence of ``models`` stands alone in the list of workloads.
    ``example`` are options of a run of a second or so; ``make`` turns validated options into the
    Workload. ``ticks_bytes`` says that the tick of a run gets the bytes moved since its start:
    they are known of a run that was stopped, too. ``service``: what its place needs in addition to
    files, by the name that a plugin gives it.
    The product of ``concurrency_options`` is the largest number of requests in flight; where no
    product gives that, ``count_requests`` does. ``serial_resources`` are what its operations wait
    for within it, by which a diagnosis distinguishes a lock or a log from its devices.
    ``spins`` says whether threads of it are on a CPU while they wait: they poll the device, or
    what other threads do. ``measured_seconds`` is the figure that says how long it measured, where
    that may be little of a run: telemetry is of all of it.
    ``steady_when`` says in the documentation with which options it has a steady state; "": never.
    ``switchable_options`` may change during its `Workload.steady_run`, whose windows have the
    figures that ``window_figures`` names.
    ``can_be_simulated``: all its I/O are jobs of `Place.run` that a simulated disk knows; with
    ``only_simulated`` no other machine does, and it begins below the page cache.
    ``decides`` are the properties of Hadoop's that it gives by its own options or never heeds, so
    that a study's levels of them would change nothing.
    """

    name: str
    models: str
    not_modelled: str
    source: str
    options: type[Options]
    figures: Callable[[Any], tuple[Figure, ...]]
    make: Callable[[Any], Workload]
    example: Mapping[str, Any]
    part_figures: Callable[[Any], tuple[Figure, ...]] = lambda _: ()
    concurrency_options: tuple[str, ...] = ()
    count_requests: Callable[[Any], int | None] = lambda _: None
    serial_resources: Callable[[Any], tuple[SerialResource, ...]] = lambda _: ()
    spins: Callable[[Any], bool] = lambda _: False
    measured_seconds: str = ""
    ticks_bytes: bool = False
    service: str = ""
    can_be_simulated: bool = False
    only_simulated: bool = False
    decides: frozenset[str] = frozenset()
    steady_when: str = ""
    switchable_options: frozenset[str] = frozenset()
    window_figures: Callable[[Any], tuple[str, ...]] = lambda _: ()

    @property
    def summary(self) -> str:
        """The first sentence of what it models."""
        return self.models.partition(". ")[0]

    def concurrency(self, options: BaseModel) -> int | None:
        """Return the largest number of concurrent requests; None if the options do not give it."""
        if not self.concurrency_options:
            return self.count_requests(options)
        return math.prod(int(getattr(options, name)) for name in self.concurrency_options)

    def uses_page_cache(self, options: BaseModel) -> bool:
        """Return whether it may use the page cache; other programs than iostudy's always may."""
        return not getattr(options, "direct", False)

    def figure(self, name: str, options: BaseModel) -> Figure:
        """Return the figure of that name; KeyError if it is unknown."""
        return {figure.name: figure for figure in self.figures(options)}[name]


def fixed_figures(*figures: Figure) -> Callable[[Any], tuple[Figure, ...]]:
    """Return a function that gives the same figures for all options."""
    return lambda _: figures
