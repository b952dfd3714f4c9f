"""Schedule of a planned study, from rows alone."""

from __future__ import annotations

from dataclasses import replace

from iostudy.execution.schedule import PlannedSchedule
from iostudy.ledger.rows import TrialRow, TrialStatus
from iostudy.study.plan import make_plan
from tests.execution.test_runner import study

OF = study()
PLAN = make_plan(OF, 3)
SCHEDULE = PlannedSchedule(OF, PLAN)


def ran(block, values):
    """The rows of a block that counts; ``values`` by configuration, 100 for the others."""
    return [
        TrialRow(
            id=0,
            block=block.index,
            attempt=1,
            position=position,
            workload=block.workload,
            configuration=label,
            status=TrialStatus.FINISHED,
            figures={"bandwidth": values.get(label, 100.0 + block.index / 100)},
            counts=True,
        )
        for position, label in enumerate(block.order, start=1)
    ]


def all_rows(values):
    rows = []
    while (block := SCHEDULE.next(rows)) is not None:
        rows += ran(block, values)
    return rows


def test_blocks_come_in_the_order_of_the_plan():
    rows = []
    for planned in PLAN.blocks[:6]:
        assert SCHEDULE.next(rows) == planned
        rows += ran(planned, {})


def test_a_block_that_does_not_count_comes_again():
    rows = [replace(row, counts=False) for row in ran(PLAN.blocks[0], {})]
    assert SCHEDULE.next(rows) == PLAN.blocks[0]


def test_decided_configurations_are_omitted_from_the_order():
    rows = []
    for block in PLAN.blocks[:14]:
        rows += ran(block, {"kyber": 80.0, "bfq": 120.0 if block.index % 2 else 85.0})
    assert set(SCHEDULE.next(rows).order) == {"none", "bfq"}


def test_nothing_is_left_once_all_is_decided():
    rows = all_rows({"kyber": 80.0, "bfq": 110.0})
    # A few blocks more than the fewest, until each order occurred twice.
    assert {row.block for row in rows} == set(range(1, 7))


def test_the_remaining_time_is_that_of_the_remaining_blocks():
    rows = ran(PLAN.blocks[0], {})
    progress = SCHEDULE.progress(PLAN.blocks[0], rows, seconds_per_trial=2.0)
    assert progress.seconds_left == 2.0 * 3 * (len(PLAN.blocks) - 1)
    rows = all_rows({"kyber": 80.0, "bfq": 110.0})
    assert SCHEDULE.progress(PLAN.blocks[-1], rows, seconds_per_trial=2.0).seconds_left == 0
