"""Verdicts of windows that whole trials confirm."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from iostudy.analysis.paired import Interval
from iostudy.analysis.switchback.confirmation import ConfirmationOutcome
from iostudy.results.comparisons import collect_figures, compare_configurations
from iostudy.results.recommendation import confirm, select_confirmations
from tests.results.test_windows_rule import rows, study


def test_only_a_recommendation_is_confirmed():
    own = study("switchback")
    same, better = (
        compare_configurations(own, rows(noise=0.001, gain=gain)) for gain in (0.0, 0.2)
    )
    assert select_confirmations(own, same) == {}
    assert select_confirmations(own, better) == {"io": ("noop",)}


def test_changes_are_those_of_the_figure_whichever_is_better():
    own = study("switchback")
    (result,) = (
        each
        for each in compare_configurations(own, rows(noise=0.002, gain=0.2))
        if each.configuration == "noop"
    )
    trials = collect_figures(own, rows(noise=0.002, gain=0.1)[:15])
    higher = confirm(own, result, trials)
    comparison = result.comparison
    mirrored = replace(
        comparison,
        estimate=-comparison.estimate,
        interval=Interval(-comparison.interval.high, -comparison.interval.low),
        higher_is_better=False,
    )
    assert confirm(own, replace(result, comparison=mirrored), trials) == higher
    assert higher is not None
    whole, agreement = higher
    assert (whole.count, agreement.outcome) == (5, ConfirmationOutcome.DISAGREE)
    assert whole.mean == pytest.approx(0.1, abs=0.005)
    assert whole.interval.low < whole.mean < whole.interval.high
    assert agreement.difference == pytest.approx(-0.1, abs=0.005)


def test_what_cannot_be_judged_has_no_confirmation():
    own = study("switchback")
    result = compare_configurations(own, rows(gain=0.2))[-1]
    trials = collect_figures(own, rows(gain=0.2)[:15])
    failed = replace(result.comparison, sd=math.nan)
    assert confirm(own, result, trials) is not None
    assert confirm(own, replace(result, comparison=failed), trials) is None
    assert confirm(own, result, collect_figures(own, rows(gain=0.2)[:3])) is None
