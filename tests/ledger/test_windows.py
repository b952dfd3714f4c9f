"""Windows in the ledger: rounds of a block."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.errors import IostudyError
from iostudy.ledger.rows import WindowRow
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
