"""Pilot of a workload: noise of the baseline, response of every level, and the window plan.

Pilot data decide nothing.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.switchback.allan import compute_allan_deviations
from iostudy.analysis.switchback.looks import FIRST_LOOK
from iostudy.analysis.switchback.response import Response, estimate_response
from iostudy.analysis.switchback.window_plan import (
    LONGEST_WASHOUT_SECONDS,
    Pilot,
    WindowPlan,
    choose_windows,
    list_unsettled,
)
from iostudy.execution.switchback.measure import collect, measure_bins, open_bins
from iostudy.ledger.rows import PilotRow, ResponseCurve
from iostudy.node.protocol import SwitchedRun
from iostudy.results.comparisons import decision_rule
from iostudy.study.combinations import Configuration
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.switchback import slowest_response_seconds
from iostudy.workloads.definition import Figure
from iostudy.workloads.windows import WindowCount

Array = NDArray[np.float64]

CURVES = 6
"""Switches to each configuration; their curves are replicates."""
STEADY_SECONDS = 6.0
MAX_BLOCKS = 1000
_BIN_SECONDS = (0.02, 1.0)
"""Shortest and longest bin of the pilot."""
_BIN_OPERATIONS = 10
LARGEST_AMPLITUDE = math.log(10)
"""Largest response to a switch, as a log-ratio: no setting starts ten times slower or faster."""
_SWITCH_SECONDS = 0.5
"""Time of a switch for which bins are added; a slow disk drains its queue meanwhile."""
_MIN_BINS = 9
"""Fewest bins of a curve; its last third is the reference."""
_WARM_UP_SECONDS = 1.0
_BLOCKS_FACTOR = 3
"""Most blocks in units of those that find the margin: the pilot may underestimate the noise."""


def run_pilot(study: Study, request: WorkloadRequest, run: SwitchedRun, seed: int) -> PilotRow:
    """Measure noise and responses, and choose the windows of the workload."""
    bin_seconds = _find_bin_seconds(run, request.figure)
    if bin_seconds is None:
        reason = f"a window of {_BIN_SECONDS[1]:g} s has too few operations for its figure"
        return PilotRow(request.label, None, 0, f"{request.label}: {reason}", (), {})
    return build_plan(study, request, _measure(study, request, run, bin_seconds, seed))


def pilot_seconds(configurations: Sequence[Configuration]) -> float:
    """Return the duration of a pilot with the shortest bins."""
    curves = sum(map(_curve_seconds, configurations))
    return _WARM_UP_SECONDS + STEADY_SECONDS + CURVES * curves


def build_plan(study: Study, request: WorkloadRequest, pilot: Pilot) -> PilotRow:
    """Choose windows and blocks from a pilot; without a plan where a level does not settle."""
    rule = decision_rule(study)
    tolerance, level = rule.delta / 2, rule.risk / rule.comparisons
    plan = choose_windows(pilot, rule.delta, tolerance, level)
    unsettled = () if plan else list_unsettled(pilot, tolerance)
    reason = ""
    if unsettled:
        reason = (
            f"{', '.join(unsettled)} does not settle within {LONGEST_WASHOUT_SECONDS:g} s after a "
            "switch, as far as the pilot can show"
        )
    elif plan is None:
        reason = "the pilot has too few operations for windows"
    return PilotRow(
        workload=request.label,
        plan=None if reason else plan,
        max_blocks=_max_blocks(plan) if plan and not reason else 0,
        reason=f"{request.label}: {reason}" if reason else "",
        allan=tuple(
            (own.seconds, own.deviation)
            for own in compute_allan_deviations(pilot.rates, pilot.bin_seconds)
        ),
        responses={
            label: _curve(response) for label, response in pilot.responses.items() if response
        },
    )


def _max_blocks(plan: WindowPlan) -> int:
    return min(MAX_BLOCKS, max(2 * FIRST_LOOK, _BLOCKS_FACTOR * plan.blocks))


def _find_bin_seconds(run: SwitchedRun, figure: Figure) -> float | None:
    """Return the shortest bin with the figure; None if even the longest has too few operations."""
    shortest, longest = _BIN_SECONDS
    run.wait(run.now() + _WARM_UP_SECONDS)
    (count,) = measure_bins(run, longest, 1)
    seconds = max(shortest, _BIN_OPERATIONS * longest / max(count.operations, 1))
    while seconds <= longest:
        counts = measure_bins(run, seconds, _MIN_BINS)
        if all(own.figures.get(figure.name, 0.0) > 0 for own in counts):
            return seconds
        seconds *= 2
    return None


def _measure(
    study: Study, request: WorkloadRequest, run: SwitchedRun, bin_seconds: float, seed: int
) -> Pilot:
    configurations = {own.label: own for own in study.configurations()}
    steady = measure_bins(run, bin_seconds, _count_bins(STEADY_SECONDS, bin_seconds))
    curves: dict[str, list[Array]] = {label: [] for label in configurations}
    switches: dict[str, list[float]] = {label: [] for label in configurations}
    draw = random.Random(f"{seed} {request.label} pilot")
    before = study.baseline.label
    for _ in range(CURVES):
        for label in _draw_order(draw, list(configurations), before):
            before = label
            count = _count_bins(_curve_seconds(configurations[label]), bin_seconds)
            seconds, counts = _measure_curve(run, label, bin_seconds, count)
            switches[label].append(seconds)
            curves[label].append(_values(counts, request.figure))
    operations = sum(own.operations for own in steady)
    return Pilot(
        rates=_values(steady, request.figure),
        bin_seconds=bin_seconds,
        operation_rate=operations / (len(steady) * bin_seconds),
        responses={
            label: _estimate(_stack(own), bin_seconds, configurations[label])
            for label, own in curves.items()
        },
        switch_seconds={label: float(np.mean(own)) for label, own in switches.items()},
    )


def _draw_order(draw: random.Random, labels: Sequence[str], before: str) -> list[str]:
    """Draw an order whose first switch changes something, if there are several labels."""
    order = draw.sample(labels, len(labels))
    return order if order[0] != before or len(order) == 1 else [*order[1:], order[0]]


def _estimate(rates: Array, bin_seconds: float, configuration: Configuration) -> Response:
    """Estimate a response from the shortest bins without a pause of all operations.

    A pilot that is too noisy leaves the largest amplitude, which still bounds the washout.
    """
    size = 1
    while (rates <= 0).any() and rates.shape[1] >= 2 * _MIN_BINS:
        even = rates[:, : rates.shape[1] // 2 * 2]
        rates, size = (even[:, ::2] + even[:, 1::2]) / 2, 2 * size
    slowest = slowest_response_seconds(configuration)
    response = estimate_response(rates, size * bin_seconds, slowest)
    if response is None:
        none = np.empty(0)
        bounds = np.array([LARGEST_AMPLITUDE])
        return Response(size * bin_seconds, none, none, none, np.array([slowest]), bounds)
    return replace(response, bounds=np.minimum(response.bounds, LARGEST_AMPLITUDE))


def _stack(curves: Sequence[Array]) -> Array:
    """Return the curves x bins that all curves have."""
    common = min(map(len, curves))
    return np.stack([own[:common] for own in curves])


def _curve_seconds(configuration: Configuration) -> float:
    return max(1.0, 2 * slowest_response_seconds(configuration))


def _count_bins(seconds: float, bin_seconds: float) -> int:
    return max(_MIN_BINS, math.ceil(seconds / bin_seconds))


def _measure_curve(
    run: SwitchedRun, label: str, bin_seconds: float, count: int
) -> tuple[float, list[WindowCount]]:
    """Return the duration of the switch, and the bins that begin after it.

    The bins are opened before the switch, so that the first one follows it at once. A switch that
    takes too long leaves fewer bins.
    """
    spare = math.ceil(_SWITCH_SECONDS / bin_seconds)
    windows = open_bins(run, bin_seconds, count + spare)
    run.wait(windows[0].start)
    began = run.now()
    run.switch(label)
    ended = run.now()
    counts = [own for own in collect(run, windows) if own.window.start >= ended]
    return ended - began, counts[:count]


def _values(counts: Sequence[WindowCount], figure: Figure) -> Array:
    """Return the figure by bin; 0 where a bin has none."""
    return np.array([own.figures.get(figure.name, 0.0) for own in counts])


def _curve(response: Response) -> ResponseCurve:
    return ResponseCurve(
        response.bin_seconds,
        tuple(map(float, response.curve)),
        tuple(map(float, response.low)),
        tuple(map(float, response.high)),
    )
