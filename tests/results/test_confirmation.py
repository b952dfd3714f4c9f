"""Verdicts of windows that whole trials confirm."""

from __future__ import annotations

from iostudy.results.comparisons import compare_configurations
from iostudy.results.recommendation import select_confirmations
from tests.results.test_windows_rule import rows, study


def test_only_a_recommendation_is_confirmed():
    own = study("switchback")
    same, better = (
        compare_configurations(own, rows(noise=0.001, gain=gain)) for gain in (0.0, 0.2)
    )
    assert select_confirmations(own, same) == {}
    assert select_confirmations(own, better) == {"io": ("noop",)}
