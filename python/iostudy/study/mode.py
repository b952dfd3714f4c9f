"""Mode of a study: whole trials, windows of one run, or what its design makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from iostudy.plugins import Mode
from iostudy.settings import catalog as settings
from iostudy.study.combinations import Factor, FactorKind
from iostudy.study.model import Design, Study, WorkloadRequest
from iostudy.study.sections import DecisionMode, LoadLimit
from iostudy.workloads import catalog

MAX_NAMED = 3
"""Most reasons that a sentence gives."""


_COMPARISONS = "iostudy.results.comparisons:compare_with_baseline"
TRIALS = Mode(
    "whole trials",
    comparisons=_COMPARISONS,
    strategy="iostudy.execution.strategies:WHOLE_TRIALS",
    text="iostudy.cli.mode_text:TRIALS_TEXT",
    compares_configurations=True,
    plans_trials=True,
)
WINDOWS = Mode(
    "windows of one run",
    comparisons=_COMPARISONS,
    strategy="iostudy.execution.strategies:WINDOWS",
    text="iostudy.cli.mode_text:WINDOWS_TEXT",
    power="iostudy.results.power:find_windows_basis",
    compares_configurations=True,
    measures_windows=True,
)


def find_mode(study: Study) -> Mode:
    """Return the mode of the study.

    Windows that a ledger has stay windows: those of earlier versions may have obstacles of now.
    """
    if study.design is not None:
        return study.design.mode
    if study.decide.mode is DecisionMode.TRIALS:
        return TRIALS
    return WINDOWS if study.has_windows or not list_obstacles(study) else TRIALS


def with_recorded_mode(study: Study, *, has_windows: bool) -> Study:
    """Return a study of a ledger with the mode that follows from its windows, or their absence.

    No workload takes part: fio would parse the jobs of whoever wrote the ledger.
    """
    if has_windows or study.decide.mode is DecisionMode.SWITCHBACK:
        return replace(study, has_windows=True)
    return in_whole_trials(study)


def in_whole_trials(study: Study) -> Study:
    """Return the study that compares whole trials."""
    return replace(study, decide=replace(study.decide, mode=DecisionMode.TRIALS))


def has_comparison(study: Study) -> bool:
    """Return whether something is left to compare without what the host refuses."""
    return (study.design or Design()).has_comparison(study)


def describe_mode(study: Study) -> str:
    """Describe what a study that prefers windows compares, with the reasons for whole trials."""
    if find_mode(study).measures_windows:
        return "windows of one run of each workload (switchback)"
    return "whole trials: " + "; ".join(list_obstacles(study)[:MAX_NAMED])


def list_obstacles(study: Study) -> tuple[str, ...]:
    """Return why configurations cannot be switched under the workloads; empty if they can."""
    return tuple(_list_obstacles(study))


def _list_obstacles(study: Study) -> Iterator[str]:
    if study.design is not None:
        yield f"{study.design.mode} has too many configurations for one block"
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
