"""Named causes of the noise: each cause as itself, none as another, none by chance."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.results.noise_causes import NoiseCause, decompose_noise
from tests.results.synthetic_noise import (
    BLOCKS,
    SITUATIONS,
    STUDY,
    WORKLOAD,
    build_rows,
    find_causes,
    first_touch,
    foreign_cpu,
    steal,
    throttling,
)

SEEDS = range(5)


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: each.__name__)
def test_each_cause_is_named_first(situation):
    expected = SITUATIONS[situation]
    found = [find_causes(situation, seed) for seed in SEEDS]
    assert [next(iter(own), None) for own in found].count(expected) >= len(SEEDS) - 1
    assert all(own.get(expected, 0.0) > 0.5 for own in found if expected in own)
    others = [share for own in found for cause, share in own.items() if cause is not expected]
    assert len(others) <= 2
    assert max(others, default=0.0) < 0.3


def test_every_cause_has_a_situation():
    assert {cause for cause in SITUATIONS.values() if cause} == set(NoiseCause)


def test_shares_and_unexplained_rest_add_up_to_one():
    found = decompose_noise(STUDY, WORKLOAD, build_rows(steal, 1))
    explained = sum(own.share.share for own in found.contributions)
    assert explained + found.unexplained == pytest.approx(1)
    assert found.trials == 2 * BLOCKS


def test_a_frequency_without_throttling_events_is_no_throttling():
    rows = build_rows(throttling, 1)
    cool = [_with_machine(row, throttles=0.0) for row in rows]
    (found,) = decompose_noise(STUDY, WORKLOAD, cool).contributions
    assert found.indicator.cause is NoiseCause.FREQUENCY


def test_the_process_is_named_with_its_period():
    rows = build_rows(foreign_cpu, 1, blocks=30)
    busy = [row.started_at % 300 < 100 for row in rows]
    timed = [
        _with_machine(
            replace(row, figures={**row.figures, "bandwidth": 300.0 if is_busy else 400.0}),
            **{"foreign_%cpu": 150.0 if is_busy else 1.0},
        )
        for row, is_busy in zip(rows, busy, strict=True)
    ]
    cause, *_ = decompose_noise(STUDY, WORKLOAD, timed).contributions
    assert cause.indicator.cause is NoiseCause.FOREIGN_CPU
    assert cause.process == "backup"
    assert cause.period_seconds == pytest.approx(300, rel=0.05)


def test_figures_of_few_trials_are_not_examined():
    rows = build_rows(first_touch, 1)
    without = [_without(row, "cache_growth_kB/s") if row.id % 4 else row for row in rows]
    found = decompose_noise(STUDY, WORKLOAD, without)
    assert NoiseCause.FIRST_TOUCH not in found.examined
    assert NoiseCause.STEAL in found.examined


def test_telemetry_of_an_earlier_version_names_what_it_can():
    rows = build_rows(steal, 1)
    for figure in ("MHz", "cache_growth_kB/s", "throttles"):
        rows = [_without(row, figure) for row in rows]
    largest = decompose_noise(STUDY, WORKLOAD, rows).contributions[0]
    assert largest.indicator.cause is NoiseCause.STEAL


def test_trials_that_do_not_count_explain_nothing():
    rows = [replace(row, counts=False) for row in build_rows(steal, 1)]
    assert decompose_noise(STUDY, WORKLOAD, rows) is None


@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_few_blocks_name_no_cause(blocks):
    assert not find_causes(steal, 1, blocks)


def _with_machine(row, **figures):
    return replace(row, summary=replace(row.summary, machine={**row.summary.machine, **figures}))


def _without(row, figure):
    kept = {name: value for name, value in row.summary.machine.items() if name != figure}
    return replace(row, summary=replace(row.summary, machine=kept))
