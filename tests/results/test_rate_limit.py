"""Trials at the limit of the load, by what the devices moved and the limits read back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.ledger.rows import TrialRow
from iostudy.results.rate_limit import find_limited, ran_at_limit
from iostudy.units import MIB
from tests.report.factory import row


def trial(limit: str, rate: float = 100.0, name: str = "cgroup.wbps") -> TrialRow:
    """A trial that wrote at ``rate`` MiB/s, with that limit read back."""
    own = row(1, 1, 1, "dfsio-write", "bfq", rate)
    return replace(own, settings={"block.scheduler@loop0": "bfq", f"{name}@loop0": limit})


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (trial(str(100 * MIB)), True),
        (trial(str(105 * MIB)), True),
        (trial(str(130 * MIB)), False),
        (trial("max"), False),
        (trial(str(100 * MIB), name="cgroup.rbps"), False),
        (trial("800", name="cgroup.wiops"), True),
        (trial("1000", name="cgroup.wiops"), False),
        (trial("100", name="cgroup.weight"), False),
        (replace(trial(str(100 * MIB)), summary=None), False),
        (replace(trial(""), settings=None), False),
    ],
)
def test_a_trial_at_its_limit(own: TrialRow, *, expected: bool) -> None:
    assert ran_at_limit(own) is expected


def test_most_counted_trials_decide() -> None:
    at_limit, below = trial(str(100 * MIB)), trial(str(200 * MIB))
    other = replace(below, configuration="none")
    uncounted = replace(at_limit, configuration="none", counts=False)
    found = find_limited([at_limit, below, other, other, uncounted])
    assert found == {("dfsio-write", "bfq")}
    assert find_limited([at_limit, below, below]) == frozenset()
