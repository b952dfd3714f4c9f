"""A comparison that the rest of its blocks cannot decide ends early."""

from __future__ import annotations

from iostudy.analysis.spending import AnalysisMethod
from iostudy.execution.session import prepare_session
from iostudy.ledger.store import Ledger
from iostudy.ledger.studies import METHOD, open_ledger, read_study
from tests.execution.test_runner import SHORT, TEXT, conduct, rows, study
from tests.fake_node import FakeNode

NOISY = TEXT.replace("[none, kyber, bfq]", "[none, kyber]").replace("[5, 12]", "[5, 30]")


def test_a_futile_comparison_runs_no_further_block(tmp_path) -> None:
    (write, read) = (
        own.comparison for own in conduct(tmp_path, FakeNode(noise=0.5, seed=1), text=NOISY)
    )
    for own in (write, read):
        assert not own.verdict.is_final
        assert own.futile
        assert own.blocks_needed > own.blocks
    most = study(NOISY).decide.max_blocks
    ran = [row.block for row in rows(tmp_path) if row.workload == "file-writes"]
    assert max(ran) == write.blocks < most
    again = prepare_session(study(NOISY), tmp_path, root=True, resume=True)
    assert again.final_comparisons() is not None


def test_the_ledger_records_the_method_and_a_resumption_keeps_it(tmp_path, monkeypatch) -> None:
    conduct(tmp_path / "new", FakeNode(), text=SHORT)
    with open_ledger(tmp_path / "new") as ledger:
        assert ledger.study().circumstances[METHOD] == "signed normal scores"
        assert read_study(ledger).method is AnalysisMethod.NORMAL_SCORES
    create = Ledger.create

    def without_method(folder, row):
        row.circumstances.pop(METHOD)
        return create(folder, row)

    monkeypatch.setattr(Ledger, "create", without_method)
    conduct(tmp_path / "old", FakeNode(), text=SHORT)
    resumed = prepare_session(study(SHORT), tmp_path / "old", root=True, resume=True)
    assert resumed.study.method is AnalysisMethod.CONSTANT_LEVEL
