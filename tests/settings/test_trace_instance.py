"""A trace instance is made for some devices, and is gone when it is undone."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.errors import RestoreError, SettingError, UsageError
from iostudy.host.devices import read_device
from iostudy.settings import kinds, trace_instance
from iostudy.settings.identity import boot_id
from iostudy.settings.trace_instance import TraceInstance, TracePurpose
from iostudy.settings.transaction.transaction import Transaction

SOMEWHERE = Path("/sys/kernel/tracing/instances/iostudy-trace-0123456789abcdef")


def text(path: Path) -> str:
    return path.read_text().strip()


@pytest.mark.root
def test_requests_of_its_devices_alone_are_noted_once_it_is_read(tracing, loop, state_dir):
    device = read_device(loop)
    minor = int(device.number.partition(":")[2])
    change = TraceInstance.prepare([device])
    with Transaction() as transaction, transaction.apply_temporarily(change):
        assert change.path.parent == tracing / "instances"
        assert text(change.path / "tracing_on") == "0"
        assert "[mono]" in text(change.path / "trace_clock")
        per_processor = int(text(change.path / "buffer_size_kb"))
        assert per_processor * os.cpu_count() == pytest.approx(64 * 1024, rel=0.05)
        for name in trace_instance.BLOCK_EVENTS:
            event = change.path / "events/block" / name
            assert text(event / "enable") == "1"
            assert text(event / "filter") == f"dev == {7 << 20 | minor}"
        others = [p for p in (change.path / "events").glob("*/enable") if p.parent.name != "block"]
        assert {text(path) for path in others} == {"0"}
    assert not change.path.exists()
    assert not list(state_dir.glob("*.journal"))


@pytest.mark.root
def test_a_trace_of_all_devices_has_no_filter_and_only_events_that_exist(tracing, state_dir):
    purpose = TracePurpose("a trace", "", ("block_plug", "block_rq_insert", "block_no_such_event"))
    change = TraceInstance.prepare(None, purpose)
    assert change.events == (*trace_instance.BLOCK_EVENTS, "block_plug", "block_rq_insert")
    with Transaction() as transaction, transaction.apply_temporarily(change):
        events = change.path / "events/block"
        enabled = {path.parent.name for path in events.glob("*/enable") if text(path) == "1"}
        assert enabled == set(change.events)
        assert text(events / "block_rq_insert/filter") == "none"
    assert not change.path.exists()


@pytest.mark.root
def test_plugs_of_chosen_devices_have_no_filter(tracing, loop, state_dir):
    purpose = TracePurpose("a trace", "", ("block_plug", "block_bio_queue"))
    change = TraceInstance.prepare([read_device(loop)], purpose)
    with Transaction() as transaction, transaction.apply_temporarily(change):
        events = change.path / "events/block"
        assert text(events / "block_plug/filter") == "none"
        assert text(events / "block_bio_queue/filter").startswith("dev == ")


@pytest.mark.root
def test_another_process_undoes_it_by_its_record(tracing, loop):
    made = TraceInstance.prepare([read_device(loop)])
    made.apply()
    change = kinds.rebuild_change(made.kind, made.record())
    assert change == made
    assert [str(restored_value) for restored_value in change.undo()] == [
        f"{made.describe()}: removed"
    ]
    assert not made.path.exists()
    assert change.undo() == ()


@pytest.mark.root
def test_a_reader_of_the_instance_is_awaited_and_named(tracing, loop, monkeypatch):
    monkeypatch.setattr("iostudy.settings.trace_instance._PATIENCE_SECONDS", 0.05)
    made = TraceInstance.prepare([read_device(loop)])
    made.apply()
    with (made.path / "trace_pipe").open("rb"), pytest.raises(RestoreError) as caught:
        made.undo()
    assert "busy" in caught.value.found
    made.undo()
    assert not made.path.exists()


@pytest.mark.root
def test_a_refusal_of_the_kernel_is_an_error_and_undone(tracing, loop, state_dir):
    too_many = ("7:0",) * 4000
    wrong = replace(TraceInstance.prepare([read_device(loop)]), numbers=too_many)
    with pytest.raises(SettingError) as caught, Transaction() as transaction:
        transaction.apply(wrong)
    assert caught.value.where == str(wrong.path / "events/block/block_rq_issue/filter")
    assert not wrong.path.exists()


def test_undoing_after_a_reboot_has_nothing_to_do():
    assert TraceInstance(SOMEWHERE, ("7:0",), "another boot").undo() == ()


def test_without_tracefs_what_was_made_cannot_be_removed(tmp_path):
    path = tmp_path / "instances" / SOMEWHERE.name
    with pytest.raises(RestoreError) as caught:
        TraceInstance(path, ("7:0",), boot_id()).undo()
    assert f"mount -t tracefs nodev {tmp_path}" in caught.value.remedy


@pytest.mark.parametrize("path", ["/etc", f"{SOMEWHERE}/..", "iostudy-trace-0123456789abcdef"])
def test_a_journal_can_name_no_other_folder(path):
    record = {"path": path, "numbers": ["7:0"], "boot": boot_id()}
    with pytest.raises(RestoreError):
        kinds.rebuild_change(TraceInstance.kind, record)


def test_a_missing_requirement_is_reported_with_its_remedy(monkeypatch, tmp_path):
    def refused(*devices):
        with pytest.raises(UsageError) as caught:
            TraceInstance.prepare(devices)
        return caught.value

    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "another user than root" in refused().found
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(trace_instance, "find_tracefs", lambda: None)
    assert "mount -t tracefs nodev /sys/kernel/tracing" in refused().remedy
    monkeypatch.setattr(trace_instance, "find_tracefs", lambda: tmp_path)
    assert "no block_rq_issue, block_rq_requeue, block_rq_complete" in refused().found
    for name in trace_instance.BLOCK_EVENTS:
        (tmp_path / "events/block" / name).mkdir(parents=True)
        (tmp_path / "events/block" / name / "format").touch()
    assert "no block device" in refused().found


def test_an_instance_below_debugfs_is_found(tmp_path):
    assert trace_instance.find_tracefs(tmp_path) is None
    (tmp_path / "sys/kernel/debug/tracing/instances").mkdir(parents=True)
    assert trace_instance.find_tracefs(tmp_path) == tmp_path / "sys/kernel/debug/tracing"
    (tmp_path / "sys/kernel/tracing/instances").mkdir(parents=True)
    assert trace_instance.find_tracefs(tmp_path) == tmp_path / "sys/kernel/tracing"
