"""Verdicts of windows that whole trials confirm."""

from __future__ import annotations

from iostudy.analysis.verdict import Verdict
from iostudy.results.comparisons import compare_configurations
from iostudy.results.confirmation import select_confirmations
from tests.results.test_windows_rule import rows, study


def test_a_comparison_without_a_verdict_has_nothing_to_confirm():
    own = study("switchback")
    undecided, decided = (compare_configurations(own, rows(noise=noise)) for noise in (0.2, 0.0001))
    assert {each.comparison.verdict for each in undecided} == {Verdict.INCONCLUSIVE}
    assert {each.comparison.verdict for each in decided} == {Verdict.EQUIVALENT}
    assert select_confirmations(own, undecided) == {}
    assert select_confirmations(own, decided) == {"io": ("bfq",)}
