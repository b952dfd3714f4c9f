"""Mode of a study: whole trials, windows of one run, a screening or a search."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from iostudy.settings import catalog as settings
from iostudy.study.combinations import Factor, FactorKind
from iostudy.study.load_limit import LoadLimit
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.sections import DecisionMode
from iostudy.workloads import catalog

MAX_NAMED = 3
"""Most reasons that a sentence gives."""


class Mode(StrEnum):
    """How a study chooses its runs and what it compares."""

    TRIALS = "whole trials"
    WINDOWS = "windows"
    SCREENING = "a screening"
    SEARCH = "a search"

    @property
    def compares_configurations(self) -> bool:
        """Whether each configuration is compared with the baseline, until that is decided.

        A screening compares levels of factors, by its whole design. A search races candidates.
        """
        return self in (Mode.TRIALS, Mode.WINDOWS)

    @property
    def plans_trials(self) -> bool:
        """Whether the fewest and the most trials are known before the first one."""
        return self in (Mode.TRIALS, Mode.SCREENING)


def find_mode(study: Study) -> Mode:
    """Return the mode of the study.

    Only windows have a bias: those of earlier versions may have settings with obstacles of now.
    """
    if study.search is not None:
        return Mode.SEARCH
    if study.design is not None:
        return Mode.SCREENING
    if study.decide.mode is DecisionMode.TRIALS:
        return Mode.TRIALS
    return Mode.WINDOWS if study.bias > 0 or not list_obstacles(study) else Mode.TRIALS


def describe_mode(study: Study) -> str:
    """Describe what a study that prefers windows compares, with the reasons for whole trials."""
    if find_mode(study) is Mode.WINDOWS:
        return "windows of one run of each workload (switchback)"
    return "whole trials: " + "; ".join(list_obstacles(study)[:MAX_NAMED])


def list_obstacles(study: Study) -> tuple[str, ...]:
    """Return why configurations cannot be switched under the workloads; empty if they can."""
    return tuple(_list_obstacles(study))


def _list_obstacles(study: Study) -> Iterator[str]:
    if study.search is not None or study.design is not None:
        yield "a search or a screening has too many configurations for one block"
    if study.validity.limits:
        yield f"a limit of {', '.join(study.validity.limits)} applies to whole trials"
    if study.limit != LoadLimit():
        yield "a limit of the load holds for each trial"
    if study.telemetry.block_latency:
        yield "block_latency is reported by trial"
    for factor in study.factors:
        yield from _factor_obstacles(study, factor)
    for request in study.workloads:
        yield from _workload_obstacles(request)


def _factor_obstacles(study: Study, factor: Factor) -> Iterator[str]:
    if factor.kind is FactorKind.SETTING:
        switching = settings.get(factor.name).switching
        values = [level.value for level in factor.levels]
        if any(switching.find_obstacle(value) for value in values) or not switching.is_possible:
            yield f"{factor.name}: {switching.obstacle}"
        return
    if factor.kind is FactorKind.DIRECTORY:
        yield f"{factor.name}: a run keeps its files"
        return
    for request in study.workloads:
        if factor.option not in catalog.get(request.name).switchable_options:
            yield f"{factor.name}: a run of {request.label} keeps its {factor.option}"


def _workload_obstacles(request: WorkloadRequest) -> Iterator[str]:
    definition = catalog.get(request.name)
    if reason := definition.make(request.options).unsteady_reason():
        yield f"{request.label}: {reason}"
    elif request.figure.name not in definition.window_figures(request.options):
        yield f"{request.label}: a window has no {request.figure.name}"
    elif len(request.figures) > 1:
        yield f"{request.label}: windows bound the bias of one figure, and several are named"
