"""Windows in the ledger: rounds of a block."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from iostudy.analysis.switchback.window_plan import EarlierPlan, WindowPlan
from iostudy.errors import IostudyError
from iostudy.ledger.rows import PlanRow, WindowRow, average_windows
from iostudy.ledger.store import Ledger
from iostudy.ledger.windows import WindowRecord
from tests.report.factory import study, study_row

ROW = WindowRow(
    workload="io",
    block=1,
    round=1,
    position=1,
    configuration="none",
    previous="none",
    start=1.5,
    seconds=0.1,
    operations=30,
    figures={"iops": 300.0},
)


@pytest.fixture
def record(tmp_path):
    ledger = Ledger.create(tmp_path, study_row(study()))
    yield WindowRecord(ledger)
    ledger.close()


def test_rounds_of_a_block_are_recorded(record):
    block = [ROW, replace(ROW, position=2, configuration="bfq"), replace(ROW, round=2)]
    record.add_block(block)
    assert record.windows() == tuple(block)


def test_a_position_of_a_round_has_one_window(record):
    with pytest.raises(IostudyError):
        record.add_block([ROW, replace(ROW, configuration="bfq")])
    assert record.windows() == ()


def rates(*values: float, **changes) -> list[WindowRow]:
    return [replace(ROW, figures={"iops": value}, **changes) for value in values]


def test_the_figure_of_a_block_is_all_operations_by_all_time():
    """The mean log of noisy windows is not the log of the mean rate."""
    windows = [*rates(100.0, 300.0, 200.0), *rates(50.0, configuration="bfq")]
    windows += rates(400.0, 500.0, block=2)
    found = {
        (row.block, row.configuration): row.figures["iops"] for row in average_windows(windows)
    }
    assert found == pytest.approx({(1, "none"): 200.0, (1, "bfq"): 50.0, (2, "none"): 450.0})


def test_a_window_without_an_operation_is_a_rate_of_0():
    """To leave it out would favour a configuration that stalls."""
    (row,) = average_windows(rates(0.0, 300.0))
    assert row.figures == {"iops": 150.0}


def test_a_figure_that_any_window_lacks_has_no_mean():
    window = replace(ROW, figures={"iops": 300.0, "read_latency_p99": 80.0})
    (row,) = average_windows([window, *rates(100.0)])
    assert row.figures == {"iops": 200.0}


def test_a_plan_is_recorded(record):
    rows = (
        PlanRow("io", WindowPlan(0.04, 0.02, 0.3, 2)),
        PlanRow("io after the windows", None, "io: bfq does not settle"),
    )
    for row in rows:
        record.add_plan(row)
    assert record.plans() == rows


def test_a_plan_of_an_earlier_version_is_read(record):
    plan = {
        "window_seconds": 0.1,
        "washout_seconds": {"none": 0.02, "bfq": 3.0},
        "bias": 0.001,
        "deviation": 0.1,
        "round_seconds": 5.0,
        "needed_rounds": 20,
        "affordable_rounds": 40,
        "averaged_rounds": 1,
    }
    values = {"plan": plan, "reason": "", "allan": [[0.1, 0.05]], "responses": {}}
    with record._tables.transaction() as change:
        change.insert("pilot", workload="io", plan=json.dumps(values))
    (row,) = record.plans()
    assert row.plan == EarlierPlan(0.1, {"none": 0.02, "bfq": 3.0}, 0.001, 20, 40, 1)
