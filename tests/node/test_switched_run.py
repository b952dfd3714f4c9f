"""Switched runs of the local node on a real loop-back disk."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from iostudy.errors import RestoreError, SettingError, WorkloadError
from iostudy.node.conditions import Conditions
from iostudy.node.local import LocalNode
from iostudy.settings import kinds as settings
from iostudy.settings.transaction.journal import journal_paths
from iostudy.study.combinations import Configuration
from iostudy.study.requests import build_request
from iostudy.study.targets.section import LoopbackTarget
from iostudy.telemetry.recorder import ProcRecorder
from iostudy.units import MIB
from iostudy.workloads import catalog
from iostudy.workloads.native.steady import NativeSteadyRun
from iostudy.workloads.windows import Window

pytestmark = pytest.mark.root

NONE, BFQ, KYBER = (
    Configuration(label, {"block.scheduler": label}, {}) for label in ("none", "bfq", "kyber")
)


@pytest.fixture
def node(tmp_path, monkeypatch):
    monkeypatch.setenv("IOSTUDY_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "out"
    folder.mkdir()
    with LocalNode(Conditions(LoopbackTarget(64 * MIB, "ext4")), folder) as node:
        yield node
    assert list(folder.iterdir()) == []
    assert journal_paths(tmp_path / "state") == ()


def request():
    options = {"operation": "read", "order": "random", "size": "8MiB", "direct": True}
    model = catalog.get("io").options.model_validate(options | {"record_size": "4KiB"})
    return build_request("io", model)


def on_its_own_disk(session):
    """The session without telemetry of the disk below, where other programs are at work."""
    return replace(session, make_recorder=lambda: ProcRecorder([session.devices[0]]))


def scheduler_of(session):
    (setting,) = settings.bind("block.scheduler", session.devices[0])
    return setting.read()


def measure(run, seconds=0.1):
    start = run.now() + 0.01
    run.meter.open(Window(start, start + seconds))
    run.wait(start + seconds)
    deadline = time.monotonic() + 300
    while not (found := run.meter.completed()):
        assert time.monotonic() < deadline
        run.wait(run.now() + 0.01)
    return found[0]


def test_the_run_continues_while_its_scheduler_is_switched(node):
    with node.block(request(), seed=1) as block:
        session = on_its_own_disk(block)
        before = scheduler_of(session)
        with session.switched_run([NONE, BFQ, KYBER]) as run:
            for label in ("bfq", "none", "kyber", "bfq"):
                run.switch(label)
                assert scheduler_of(session) == label
                count = measure(run)
                run.verify()
                assert count.operations > 0
                assert count.figures["iops"] == pytest.approx(count.operations / 0.1)
            result = run.stop()
        assert scheduler_of(session) == before
        device = session.devices[0]
        assert result.settings == {
            label: {f"block.scheduler@{device}": label} for label in ("bfq", "none", "kyber")
        }
        assert result.devices == (device,)
        assert result.telemetry.summary.devices[device]["r/s"] > 0


def test_an_error_ends_the_run_and_restores(node):
    with node.block(request(), seed=1) as block:
        session = on_its_own_disk(block)
        before = scheduler_of(session)
        with pytest.raises(KeyboardInterrupt), session.switched_run([NONE, BFQ]) as run:
            run.switch("bfq")
            run.verify()
            raise KeyboardInterrupt
        assert scheduler_of(session) == before
        assert not run._thread.is_alive()
        result = run.stop()
        assert result.settings.keys() == {"bfq"}
        assert result.telemetry.summary.seconds > 0


def test_a_foreign_change_stops_the_run(node):
    with node.block(request(), seed=1) as block:
        session = on_its_own_disk(block)
        (setting,) = settings.bind("block.scheduler", session.devices[0])
        before = setting.read()
        with (
            pytest.raises((SettingError, RestoreError)) as raised,
            session.switched_run([NONE, BFQ, KYBER]) as run,
        ):
            run.switch("bfq")
            run.verify()
            setting.owner.write("scheduler", "kyber")
            run.verify()
        assert "another process has changed it to kyber" in str(raised.value)
        assert setting.read() == before


def test_a_run_that_fails_is_noticed_at_once(node, monkeypatch):
    def fail(self):
        raise WorkloadError("to read", found="EIO", where="disk", remedy="replace it")

    monkeypatch.setattr(NativeSteadyRun, "run", fail)
    with node.block(request(), seed=1) as block:
        session = on_its_own_disk(block)
        before = scheduler_of(session)
        end = time.monotonic() + 600
        with pytest.raises(WorkloadError, match="EIO"), session.switched_run([BFQ, NONE]) as run:
            run.wait(run.now() + 600)
        assert run.stop().devices == (session.devices[0],), "what was recorded until then"
        assert time.monotonic() < end
        assert scheduler_of(session) == before


def test_an_unswitchable_setting_is_refused_before_the_run(node):
    levels = [Configuration(v, {"block.read_ahead_kb": v}, {}) for v in ("0", "128")]
    with node.block(request(), seed=1) as block:
        session = on_its_own_disk(block)
        with pytest.raises(SettingError, match="read-ahead"), session.switched_run(levels):
            pytest.fail("the run must not start")
