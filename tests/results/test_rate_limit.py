"""Configurations at the limit of the load, by what their control groups moved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.ledger.rows import TrialRow
from iostudy.report.topics.caveats import find_limited
from tests.report.factory import row

KEY = ("file-writes", "bfq")


def trial(rate: float, *, cap: float = 100.0, figure: str = "wkB/s") -> TrialRow:
    """A trial whose group had a cap and this rate."""
    own = row(1, 1, 1, *KEY, 500.0)
    assert own.summary is not None
    figures = {**own.summary.devices["loop0"], f"cap_{figure}": cap, f"capped_{figure}": rate}
    return replace(own, summary=replace(own.summary, devices={"loop0": figures}))


@pytest.mark.parametrize(
    ("own", "found"),
    [
        (trial(100), {KEY}),
        (trial(91), {KEY}),
        (trial(85), set()),
        (trial(100, figure="r/s"), {KEY}),
        (row(1, 1, 1, *KEY, 500.0), set()),
        (replace(trial(100), summary=None), set()),
        (replace(trial(100), counts=False), set()),
    ],
)
def test_a_trial_at_its_cap(own: TrialRow, found: set[tuple[str, str]]) -> None:
    assert find_limited([own]) == found


def test_most_counted_trials_decide() -> None:
    at_cap, below = trial(100), trial(50)
    assert find_limited([at_cap, below]) == {KEY}
    assert find_limited([at_cap, below, below]) == frozenset()
    other = replace(below, configuration="none")
    assert find_limited([at_cap, other]) == {KEY}
