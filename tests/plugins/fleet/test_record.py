"""The record of a fleet run, and the runs that it refuses."""

from pathlib import Path

import pytest

from iostudy.errors import LedgerError, RestoreError
from iostudy.folders import FLEET_RECORD
from iostudy_fleet.design import Design
from iostudy_fleet.options import RunOptions
from iostudy_fleet.record import NodeRecord, prepare_record, read_record
from iostudy_fleet.supervision.node_state import Phase


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
    (tmp_path / FLEET_RECORD).write_text("{}")
    with pytest.raises(LedgerError, match="record of a fleet run"):
        read_record(tmp_path)


def test_a_record_that_another_command_has_changed_is_refused(tmp_path: Path):
    new = prepare_record(tmp_path, "s", "text", Design.REPLICATE, resume=False)
    new.require_unchanged(tmp_path)
    other = prepare_record(tmp_path, "s", "text", Design.REPLICATE, resume=False)
    other.write(tmp_path)
    other.require_unchanged(tmp_path)
    with pytest.raises(LedgerError, match="another command changed it"):
        new.require_unchanged(tmp_path)


def test_a_resumed_run_keeps_the_folders_of_its_nodes_and_loses_absent_ones(tmp_path: Path):
    nodes = {
        name: NodeRecord(phase=Phase.COMPLETE, detail="", folder=f"/data/{name}")
        for name in ("n1", "n2")
    }
    record = prepare_record(tmp_path, "s", "text", Design.TOGETHER, resume=False)
    record = record.model_copy(update={"nodes": nodes})
    options = RunOptions(lease_seconds=60.0, parent=Path("/var/tmp"), study_options=())
    folders = options.name_folders(record, ("n1", "n3"))
    assert folders["n1"].path == Path("/data/n1")
    assert folders["n3"].path.parent == Path("/var/tmp")
    assert record.list_remaining() == ("n1", "n2"), "all run together again"
    lost = record.lose_others(("n1", "n3"))
    assert {node: own.phase for node, own in lost.nodes.items()} == {
        "n1": Phase.COMPLETE,
        "n2": Phase.LOST,
    }
    assert lost.nodes["n2"].folder == "/data/n2"


def test_a_node_that_could_not_restore_is_an_error_with_its_folder(tmp_path: Path):
    record = prepare_record(tmp_path, "s", "text", Design.REPLICATE, resume=False)
    record.require_restored()
    kept = NodeRecord(phase=Phase.FAILED, detail="swappiness", folder="/x", unrestored=True)
    record = record.model_copy(update={"nodes": {"n1": kept}})
    with pytest.raises(RestoreError, match="n1: swappiness"):
        record.require_restored()
    record.clear_unrestored().require_restored()
    absent = record.lose_others(())
    absent.require_restored()
    assert "swappiness; then it was not ready" in absent.nodes["n1"].detail


def test_results_that_were_fetched_are_not_missing_but_their_folder_is_still_to_go(tmp_path: Path):
    record = prepare_record(tmp_path, "s", "text", Design.REPLICATE, resume=False)
    fetched = NodeRecord(phase=Phase.FETCHED, detail="", folder="/x")
    record = record.model_copy(update={"nodes": {"n1": fetched}})
    assert (record.list_missing(), record.list_remaining()) == ([], ("n1",))
    assert record.list_in(Phase.FETCHED) == ("n1",)
