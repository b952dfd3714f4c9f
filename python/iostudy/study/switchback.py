"""Validity of switchback for a study, and the order of configurations in its blocks."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from iostudy.settings import catalog as settings
from iostudy.settings.definition import RESPONSE_SECONDS
from iostudy.study.combinations import Configuration, Factor, FactorKind
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.plan import Block
from iostudy.study.sections import DecisionMode
from iostudy.workloads import catalog

MAX_NAMED = 3
"""Most reasons that a sentence gives."""


def uses_switchback(study: Study) -> bool:
    """Return whether the study pairs windows of one run instead of whole trials."""
    return study.decide.mode is not DecisionMode.TRIALS and not list_obstacles(study)


def describe_mode(study: Study) -> str:
    """Describe what a study that prefers windows compares, with the reasons for whole trials."""
    if obstacles := list_obstacles(study):
        return "whole trials: " + "; ".join(obstacles[:MAX_NAMED])
    return "windows of one run of each workload (switchback)"


def list_obstacles(study: Study) -> tuple[str, ...]:
    """Return why configurations cannot be switched under the workloads; empty if they can."""
    return tuple(_list_obstacles(study))


def _list_obstacles(study: Study) -> Iterator[str]:
    if study.search is not None or study.design is not None:
        yield "a search or a screening has too many configurations for one block"
    if study.validity.limits:
        yield f"a limit of {', '.join(study.validity.limits)} applies to whole trials"
    if study.telemetry.block_latency:
        yield "block_latency is reported by trial"
    for factor in study.factors:
        yield from _factor_obstacles(study, factor)
    for request in study.workloads:
        yield from _workload_obstacles(request)


def _factor_obstacles(study: Study, factor: Factor) -> Iterator[str]:
    if factor.kind is FactorKind.SETTING:
        if obstacle := settings.get(factor.name).switching.obstacle:
            yield f"{factor.name}: {obstacle}"
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


def slowest_response_seconds(configuration: Configuration) -> float:
    """Return the largest time constant of the response that a pilot must exclude."""
    known = (
        settings.get(name).switching.response_seconds(value)
        for name, value in configuration.settings.items()
    )
    return max(known, default=RESPONSE_SECONDS)


def draw_block(
    study: Study, request: WorkloadRequest, seed: int, index: int, undecided: Sequence[str]
) -> Block:
    """Draw the order of the undecided configurations in a block of windows.

    It depends on seed, workload and index alone, so that a resumed study continues as it would
    have.
    """
    labels = [own.label for own in study.configurations()]
    drawn = random.Random(f"{seed} {request.label} {index}").sample(labels, len(labels))
    return Block(index, request.label, tuple(label for label in drawn if label in undecided))
