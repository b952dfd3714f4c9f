"""The promise of each confidence, and the model that judges it."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.diagnosis.evidence import Confidence
from tests.diagnosis.calibration import PROMISED, Situation, judge, lower_bound
from tests.diagnosis.model import Model

PAGE = Path(__file__).parents[2] / "docs/telemetry/calibration.md"


@pytest.mark.parametrize(
    ("right", "total", "bound"), [(59, 59, 0.95), (92, 93, 0.95), (0, 5, 0.0), (1, 2, 0.025)]
)
def test_the_bound_is_that_of_clopper_and_pearson(right, total, bound):
    assert lower_bound(right, total) == pytest.approx(bound, abs=0.001)


def documented(start: str) -> list[str]:
    """Return the fields of the only row of the page that begins so."""
    (row,) = (line for line in PAGE.read_text().splitlines() if line.startswith(f"| {start} |"))
    return [each.strip(" %") for each in row.strip("|").split("|")]


@pytest.mark.parametrize("confidence", Confidence)
def test_main_findings_keep_the_documented_promise(confidence):
    _, _, right, bound, promised = documented(f"all main findings | {confidence}")
    assert float(promised) == 100 * PROMISED[confidence] <= float(bound)
    assert lower_bound(*map(int, right.split(" of "))) >= PROMISED[confidence]


@pytest.mark.parametrize("confidence", Confidence)
def test_findings_with_bystanders_keep_the_documented_promise(confidence):
    _, _, right, bound, promised = documented(f"all bystanders | {confidence}")
    assert float(promised) == 100 * PROMISED[confidence] <= float(bound)
    assert lower_bound(*map(int, right.split(" of "))) >= PROMISED[confidence]


BUSY = Model(threads=16, service_ms=1.0, channels=2, other_runs=(1,))


@pytest.mark.parametrize(
    ("limit", "elasticity"),
    [(Bottleneck.DEVICE, 1.0), (Bottleneck.CPU, 0.0), (Bottleneck.CONCURRENCY, 0.0)],
)
def test_a_saturated_device_is_what_limits_a_run_of_the_model(limit, elasticity):
    situation = Situation.record(BUSY, 1)
    assert situation.elasticity(limit) == pytest.approx(elasticity, abs=0.3)
    assert situation.elasticity(Bottleneck.CAP) == pytest.approx(0.0, abs=0.3)


def test_innocent_bystanders_are_not_named():
    """A journal of the workload's, and a process that writes to another disk."""
    bystanders = Model(threads=16, journal=1.0, service_ms=1.0, bystander_kb=1e6, private=True)
    (main, *further) = judge(Situation.record(bystanders, 1))
    assert (main.finding.limit, main.is_right) == (Bottleneck.DEVICE, True)
    assert Bottleneck.FOREIGN not in {each.finding.limit for each in further}
