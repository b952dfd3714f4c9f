"""A finished study that is continued by stages that were fixed before its first block."""

from __future__ import annotations

import pytest

from iostudy.analysis.spending import CONTINUABLE, SPENT
from iostudy.analysis.verdict import Verdict
from iostudy.errors import UsageError
from iostudy.execution.listeners import Listener
from iostudy.execution.schedule import TimeLimit
from iostudy.execution.session import prepare_session
from iostudy.ledger.store import Ledger
from iostudy.ledger.studies import CONTINUATION, open_ledger, read_study
from tests.execution.test_runner import TEXT, conduct, rows, study
from tests.fake_node import FakeNode

SHORT = TEXT.replace("[none, kyber, bfq]", "[none, kyber]").replace("[5, 12]", "[5, 8]")
WRITE, READ = "file-writes", "file-reads"


def fake(seed=0):
    """A node on which writes differ clearly, and reads hardly."""
    return FakeNode(effects={(WRITE, "kyber"): -0.6, (READ, "kyber"): 0.04}, noise=0.1, seed=seed)


class Ends(Listener):
    """The progress after every block."""

    def __init__(self):
        self.progress = []

    def block_ended(self, progress):
        self.progress.append(progress)


def go_on(folder, node, blocks, *, limit=None, listeners=()):
    session = prepare_session(study(SHORT), folder, root=True, resume=True, further_blocks=blocks)
    limits = {} if limit is None else {"limit": limit}
    return session.execute(node, seed=None, listeners=listeners, **limits)


def blocks_of(folder, workload):
    return [(row.block, row.configuration) for row in rows(folder) if row.workload == workload]


def test_futile_comparisons_reopen_and_decided_ones_stay(tmp_path):
    first = {own.workload: own.comparison for own in conduct(tmp_path, fake(), text=SHORT)}
    assert first[WRITE].verdict is Verdict.WORSE
    assert not first[READ].verdict.is_final
    before = blocks_of(tmp_path, WRITE), blocks_of(tmp_path, READ)
    ends = Ends()
    results = go_on(tmp_path, fake(1), 3, listeners=[ends])
    again = {own.workload: own.comparison for own in results}
    last = first[READ].blocks + 3
    assert [progress.blocks for progress in ends.progress] == [last] * 3
    assert again[WRITE] == first[WRITE]
    assert again[READ].blocks == first[READ].blocks + 3
    assert blocks_of(tmp_path, WRITE) == before[0]
    added = blocks_of(tmp_path, READ)[len(before[1]) :]
    last = before[1][-1][0]
    assert [block for block, _ in added] == [last + 1 + number // 2 for number in range(6)]


def test_a_study_may_stop_anywhere_and_the_order_of_its_trials_stays(tmp_path):
    for folder, parts in (("once", (6,)), ("parts", (1, 3, 2))):
        conduct(tmp_path / folder, fake(), text=SHORT)
        for blocks in parts:
            go_on(tmp_path / folder, fake(), blocks)
    once, parts = (blocks_of(tmp_path / folder, READ) for folder in ("once", "parts"))
    assert once == parts
    assert go_on(tmp_path / "once", fake(), 3, limit=TimeLimit.start(0.0))
    assert blocks_of(tmp_path / "once", READ) == once


def test_the_last_stage_ends_the_study(tmp_path):
    text = TEXT.replace("[none, kyber, bfq]", "[none, kyber]").replace("[5, 12]", "[3, 3]")
    conduct(tmp_path, FakeNode(noise=5.0), text=text)

    def session():
        return prepare_session(study(text), tmp_path, root=True, resume=True, further_blocks=99)

    node = FakeNode(noise=5.0, seed=1)
    final = session().execute(node, seed=None, listeners=())
    assert {own.comparison.blocks for own in final} == {3 * 2**CONTINUABLE.stages}
    assert session().final_comparisons() is not None


def test_the_ledger_records_the_stages(tmp_path):
    conduct(tmp_path, fake(), text=SHORT)
    with open_ledger(tmp_path) as ledger:
        assert ledger.study().circumstances[CONTINUATION] == {"reserve": 0.15, "stages": 3}
        assert read_study(ledger).continuation == CONTINUABLE


def test_an_earlier_ledger_has_spent_its_risk(tmp_path, monkeypatch):
    create = Ledger.create

    def without_stages(folder, row):
        row.circumstances.pop(CONTINUATION)
        return create(folder, row)

    monkeypatch.setattr(Ledger, "create", without_stages)
    conduct(tmp_path, fake(), text=SHORT)
    with open_ledger(tmp_path) as ledger:
        assert read_study(ledger).continuation == SPENT
    with pytest.raises(UsageError, match="whole risk is spent"):
        go_on(tmp_path, fake(), 3)


def test_a_study_of_another_command_has_spent_its_risk(tmp_path):
    """As `run_and_write_report` runs the studies of power, selftest and report-study."""
    session = prepare_session(
        study(SHORT).without_continuation(), tmp_path, root=True, resume=False
    )
    session.execute(fake(), seed=1, listeners=[])
    with pytest.raises(UsageError, match="one of another command than run and try"):
        go_on(tmp_path, fake(), 3)
