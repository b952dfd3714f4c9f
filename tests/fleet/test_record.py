"""The record of a fleet run, and the runs that it refuses."""

from pathlib import Path

import pytest

from iostudy.errors import LedgerError
from iostudy.fleet.design import Design
from iostudy.fleet.record import FILE_NAME, NodeRecord, prepare_record, read_record
from iostudy.fleet.supervision.node_state import Phase


def test_a_folder_has_one_run_which_only_its_own_study_resumes(tmp_path: Path):
    with pytest.raises(LedgerError, match="there is none"):
        prepare_record(tmp_path, "s", "text", Design.REPLICATE, resume=True)
    record = prepare_record(tmp_path, "s", "text", Design.REPLICATE, resume=False)
    nodes = {"n1": NodeRecord(phase=Phase.LOST, detail="late", folder="/x")}
    record = record.model_copy(update={"nodes": nodes})
    record.write(tmp_path)
    assert prepare_record(tmp_path, "s", "text", Design.REPLICATE, resume=True) == record
    assert record.list_missing() == ["n1 is lost: late; its folder there is /x"]
    with pytest.raises(LedgerError, match="--resume"):
        prepare_record(tmp_path, "s", "text", Design.REPLICATE, resume=False)
    with pytest.raises(LedgerError, match="different text"):
        prepare_record(tmp_path, "s", "other", Design.REPLICATE, resume=True)
    with pytest.raises(LedgerError, match="its design is replicate"):
        prepare_record(tmp_path, "s", "text", Design.TOGETHER, resume=True)


def test_a_damaged_record_is_refused(tmp_path: Path):
    assert read_record(tmp_path) is None
    (tmp_path / FILE_NAME).write_text("{}")
    with pytest.raises(LedgerError, match="record of a fleet run"):
        read_record(tmp_path)
