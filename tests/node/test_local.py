"""The local node on a real loop-back disk."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from iostudy.errors import (
    RestoreError,
    SettingError,
    TargetError,
    UnsafePathError,
    UsageError,
    WorkloadError,
    WorkloadStoppedError,
)
from iostudy.execution.validity import explain_disturbance
from iostudy.host.stack import whole_stack
from iostudy.node import caches, local_block
from iostudy.node.conditions import Callbacks, Conditions, Permission
from iostudy.node.local import LocalNode
from iostudy.settings import kinds as settings
from iostudy.study.combinations import Configuration
from iostudy.study.requests import build_request as request_of
from iostudy.study.sections import LoadLimit, Validity
from iostudy.study.targets.directories import DirectoryTarget
from iostudy.study.targets.loopback import LoopbackTarget
from iostudy.study.targets.section import parse_target
from iostudy.study.targets.target import Target
from iostudy.telemetry.processes import compute_moved_kb, find_submitters
from iostudy.telemetry.recorder import ProcRecorder
from iostudy.units import MIB
from iostudy.workloads import catalog
from iostudy.workloads.measurement import Part
from iostudy.workloads.native.io import IO, Io

AS_IT_IS = Configuration("as it is", {}, {})
BFQ = Configuration("bfq", {"block.scheduler": "bfq"}, {})
NONE = Configuration("none", {"block.scheduler": "none"}, {})
LIMITS = Validity(foreign_io=0.10)


def request(operation="write", **options):
    given = {"operation": operation, "size": "8MiB", "direct": True, **options}
    return request_of("io", catalog.get("io").options.model_validate(given))


@pytest.fixture
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("IOSTUDY_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def node(tmp_path, own_state):
    folder = tmp_path / "out"
    folder.mkdir()
    with LocalNode(Conditions(LoopbackTarget(64 * MIB, "ext4")), folder) as node:
        yield node
    assert list(folder.iterdir()) == []


def on_its_own_disk(session):
    """The session without telemetry of the disk below, where other programs are at work."""
    return replace(session, make_recorder=lambda: ProcRecorder([session.devices[0]]))


def without_the_disk_below(result):
    """The result without figures of the disk below, where other programs are at work."""
    summary = result.telemetry.summary
    devices = {name: summary.devices[name] for name in result.devices}
    telemetry = replace(result.telemetry, summary=replace(summary, devices=devices))
    return replace(result, telemetry=telemetry)


def scheduler_of(device):
    (setting,) = settings.bind("block.scheduler", device)
    return setting.read()


@pytest.mark.root
def test_trial_applies_and_restores_its_settings(node):
    with node.block(request(), seed=1) as session:
        before = scheduler_of(session.devices[0])
        result = on_its_own_disk(session).trial(BFQ)
        assert result.settings == {f"block.scheduler@{session.devices[0]}": "bfq"}
        assert scheduler_of(session.devices[0]) == before
        assert result.figures["bytes"] == 8 * MIB
        assert list(result.phases) == ["prepare", "apply", "reset", "sync", "run", "restore"]
        written = result.telemetry.summary.devices[session.devices[0]]["kB_wrtn"]
        assert written >= 8 * 1024
        assert explain_disturbance(result, LIMITS) == ""


@pytest.mark.root
def test_memory_is_touched_before_trials_that_use_the_page_cache(tmp_path, own_state):
    folder = tmp_path / "out"
    folder.mkdir()
    with LocalNode(Conditions(LoopbackTarget(256 * MIB, "ext4"), warm_memory=True), folder) as node:
        with node.block(request(size="128MiB", direct=False), seed=1) as session:
            cached = session.trial(AS_IT_IS)
        with node.block(request(), seed=1) as session:
            direct = session.trial(AS_IT_IS)
    assert "128 MiB of free memory touched before the trial" in cached.notes
    assert list(cached.phases)[-3:] == ["warm", "run", "restore"]
    assert not any("touched" in note for note in direct.notes)


@pytest.mark.root
@pytest.mark.exclusive("host")  # other tests list the control groups of all studies
def test_the_limit_of_the_load_holds_on_the_device(tmp_path, own_state):
    folder = tmp_path / "out"
    folder.mkdir()
    limit = LoadLimit(rate=8 * MIB, iops=4000)
    with (
        LocalNode(Conditions(LoopbackTarget(64 * MIB, "ext4"), limit=limit), folder) as node,
        node.block(request(size="16MiB"), seed=1) as session,
    ):
        result = session.trial(AS_IT_IS)
    device = result.devices[0]
    assert result.settings[f"cgroup.wbps@{device}"] == str(8 * MIB)
    assert result.settings[f"cgroup.riops@{device}"] == "4000"
    # One burst of a tenth of a second or a record comes at once.
    assert result.figures["bandwidth"] < 10


@pytest.mark.root
def test_a_run_that_lasts_longer_than_the_limit_is_ended(tmp_path, own_state):
    folder = tmp_path / "out"
    folder.mkdir()
    limit = LoadLimit(rate=MIB, duration=1.0)
    with LocalNode(Conditions(LoopbackTarget(64 * MIB, "ext4"), limit=limit), folder) as node:
        with (
            node.block(request(size="16MiB"), seed=1) as session,
            pytest.raises(WorkloadError, match=r"a run of io within 1\.0 s"),
        ):
            session.trial(AS_IT_IS)
        with node.block(request(size="64KiB", record_size="64KiB"), seed=2) as session:
            assert session.trial(AS_IT_IS).figures["bytes"] == 64 << 10


@pytest.mark.root
def test_further_disks_are_recorded_set_and_removed(tmp_path, own_state):
    folder = tmp_path / "out"
    folder.mkdir()
    target = LoopbackTarget(32 * MIB, "ext4", {"disk2": "ext2"})
    request = request_of(
        "io",
        catalog.get("io").options.model_validate(
            {
                "operation": "write",
                "jobs": 2,
                "size": "1MiB",
                "sync": "fsync",
                "directories": "target, disk2",
            }
        ),
    )
    with LocalNode(Conditions(target), folder) as node:
        circumstances = node.circumstances()
        assert [m["filesystem"] for m in circumstances["host"]["mounts"].values()] == [
            "ext4",
            "ext2",
        ]
        assert node.preflight([request], [BFQ]) == {}
        with node.block(request, seed=1) as session:
            first, second = session.devices
            assert circumstances["target"]["disks"] == {first: "target", second: "disk2"}
            result = session.trial(BFQ)
            alone = session.trial(Configuration("there", {}, {"directories": "disk2"}))
        assert alone.devices == (second,)
        assert result.settings == {f"block.scheduler@{name}": "bfq" for name in (first, second)}
        assert result.devices == (first, second)
        assert all(
            result.telemetry.summary.devices[name]["kB_wrtn"] > 0 for name in (first, second)
        )
        assert [path.name for path in session.place.disks["disk2"].iterdir()] == ["lost+found"]
    assert list(folder.iterdir()) == []


@pytest.mark.root
def test_trial_without_files_on_a_disk_is_not_on_the_target(tmp_path, own_state):
    folder = tmp_path / "out"
    folder.mkdir()
    with TemporaryDirectory(dir="/dev/shm") as in_memory:
        options = catalog.get("io").options.model_validate(
            {"operation": "write", "size": "1MiB", "directories": in_memory}
        )
        request = request_of("io", options)
        node = LocalNode(
            Conditions(LoopbackTarget(32 * MIB, "ext4"), directories=[Path(in_memory)]), folder
        )
        with node, node.block(request, seed=1) as session:
            assert len(session.devices) == 1
            assert session.trial(AS_IT_IS).devices == ()
            there = session.trial(Configuration("there", {}, {"directories": "target"}))
            assert there.devices == session.devices


@pytest.mark.root
def test_there_has_to_be_room_for_all_disks(tmp_path, own_state):
    free_bytes = shutil.disk_usage(tmp_path).free
    target = LoopbackTarget(free_bytes // 2, "ext4", {"disk2": "ext4", "disk3": "ext4"})
    with (
        pytest.raises(TargetError, match="for a scratch disk"),
        LocalNode(Conditions(target), tmp_path),
    ):
        pass


def test_directories_of_workloads_are_recorded_with_their_mounts(tmp_path, own_state):
    elsewhere = Path("/dev/shm")
    with LocalNode(
        Conditions(DirectoryTarget(tmp_path), directories=[elsewhere]), tmp_path
    ) as node:
        circumstances = node.circumstances()
    assert circumstances["host"]["mounts"][str(elsewhere)]["filesystem"] == "tmpfs"
    assert circumstances["target"]["on"] == {str(elsewhere): []}


@pytest.mark.root
def test_levels_are_those_that_the_device_offers_with_none_first(node):
    assert node.offered("block.scheduler")[0] == "none"
    assert "bfq" in node.offered("block.scheduler")


@pytest.mark.root
def test_data_are_made_once_a_block_and_removed_after_it(node):
    with node.block(request("read"), seed=1) as session:
        first = session.trial(NONE)
        (path,) = session.place.directory.glob("*/job-*")
        inode = path.stat().st_ino
        second = session.trial(BFQ)
        assert path.stat().st_ino == inode
        assert "prepare" in first.phases
        assert "prepare" not in second.phases
        assert any("dropped before every trial" in note for note in second.notes)
        # All of it came from the disk: the cache held nothing.
        assert second.telemetry.summary.devices[session.devices[0]]["kB_read"] >= 8 * 1024
    assert not path.exists()


@pytest.mark.root
def test_foreign_change_during_a_trial_is_reported_and_kept(node):
    class InterferingRecorder(ProcRecorder):
        def stop(self):
            scheduler.write_text("kyber")
            return super().stop()

    with node.block(request(), seed=1) as session:
        scheduler = Path(f"/sys/block/{session.devices[0]}/queue/scheduler")
        meddled = replace(session, make_recorder=lambda: InterferingRecorder([session.devices[0]]))
        with pytest.raises(RestoreError, match="another process has changed it") as caught:
            meddled.trial(BFQ)
        assert "bfq for the whole trial" in str(caught.value.__context__)
        assert scheduler_of(session.devices[0]) == "kyber"
        scheduler.write_text("bfq")


@pytest.mark.root
def test_foreign_io_is_noticed_on_the_disk_below(node, tmp_path):
    class ForeignIoRecorder(ProcRecorder):
        def stop(self):
            foreign = tmp_path / "foreign"
            command = ["dd", "if=/dev/zero", f"of={foreign}", "bs=1M", "count=4", "oflag=direct"]
            subprocess.run(command, check=True, capture_output=True)
            foreign.unlink()
            return super().stop()

    with node.block(request(), seed=1) as session:
        (disk, *below) = [device.name for device in whole_stack(session.place.directory)]
        if not below:
            pytest.skip("the folder of this test lies on no block device")
        recorder = partial(ForeignIoRecorder, [disk, *below], private_devices=[disk])
        disturbed = replace(session, make_recorder=recorder)
        reason = explain_disturbance(disturbed.trial(AS_IT_IS), LIMITS)
    assert re.search(rf"foreign I/O on ({'|'.join(below)}): \d\d", reason)


def durable_writes(size="1MiB"):
    options = {"operation": "write", "order": "random", "jobs": 2, "size": size}
    options |= {"record_size": "4KiB", "dsync": True, "direct": False}
    return request_of("io", catalog.get("io").options.model_validate(options))


@contextmanager
def other_writer(folder):
    """A process that is no descendant of this one, and writes durably to a file."""
    command = f"dd if=/dev/zero of={folder}/other bs=4k count=1000000 oflag=direct,dsync"
    started = subprocess.check_output(["sh", "-c", f"{command} >&- 2>&- & echo $!"], text=True)
    pid = int(started)
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        while Path(f"/proc/{pid}/fd/0").exists():
            time.sleep(0.01)
        (folder / "other").unlink()


@pytest.mark.root
@pytest.mark.usefixtures("tracing")
def test_a_second_writer_on_the_studys_disk_is_named(tmp_path, own_state):
    folder = tmp_path / "out"
    folder.mkdir()
    target = LoopbackTarget(64 * MIB, "ext4")
    # Long enough for the other writer to exceed what may be metadata, also on a busy host.
    with (
        LocalNode(Conditions(target, block_latency=True), folder) as node,
        node.block(durable_writes("8MiB"), seed=1) as session,
        other_writer(session.place.directory.parent) as pid,
    ):
        result = session.trial(AS_IT_IS)
    found = find_submitters(result.telemetry.summary, result.devices)
    assert [(each.name, each.pid) for each in found] == [("dd", pid)]
    reason = explain_disturbance(without_the_disk_below(result), Validity(foreign_io=0.001))
    assert f"by dd, process {pid}" in reason


@contextmanager
def other_that_syncs():
    """A process that is no descendant of this one, and writes out what all others have written."""
    code = "import os, time\nwhile True: os.sync(); time.sleep(0.05)"
    command = f"{sys.executable} -c '{code}' >&- 2>&- & echo $!"
    pid = int(subprocess.check_output(["sh", "-c", command], text=True))
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.root
@pytest.mark.usefixtures("tracing")
@pytest.mark.parametrize("kind", ["ext4", "btrfs"])
def test_another_that_writes_out_all_files_is_not_named(kind, tmp_path, own_state):
    folder = tmp_path / "out"
    folder.mkdir()
    own = Configuration(kind, {"filesystem.type": kind}, {}, whole_plot=kind)
    with (
        LocalNode(Conditions(TARGETS["loop"], block_latency=True), folder) as node,
        node.block(durable_writes(), seed=1) as session,
        other_that_syncs() as pid,
    ):
        result = session.trial(own)
    found = find_submitters(result.telemetry.summary, result.devices)
    assert pid not in {each.pid for each in found}


TARGETS = {
    "loop": LoopbackTarget(512 * MIB, "ext4"),
}


def make_target(made: str) -> Target:
    """The target by its name; the plugin of drives is only needed for one."""
    drive = {"model": "ssd-data-centre", "size": "512MiB"}
    return TARGETS[made] if made in TARGETS else parse_target({"drive": drive})


@pytest.mark.root
@pytest.mark.usefixtures("tracing")
@pytest.mark.parametrize(
    ("kind", "made", "traced"),
    [
        ("ext4", "loop", False),
        ("ext4, data=journal", "loop", True),
        ("xfs", "loop", True),
        ("btrfs", "loop", False),
        pytest.param("ext4", "modelled drive", True, marks=pytest.mark.all_plugins),
        pytest.param("ext4, data=journal", "modelled drive", False, marks=pytest.mark.all_plugins),
        pytest.param("xfs", "modelled drive", False, marks=pytest.mark.all_plugins),
        pytest.param("btrfs", "modelled drive", True, marks=pytest.mark.all_plugins),
    ],
)
def test_the_journal_of_durable_writes_is_not_foreign(kind, made, traced, tmp_path, own_state):
    folder = tmp_path / "out"
    folder.mkdir()
    name, _, mode = kind.partition(", data=")
    levels = {"filesystem.options": f"data={mode}"} if mode else {}
    own = Configuration(kind, {"filesystem.type": name, **levels}, {}, whole_plot=kind)
    with (
        LocalNode(Conditions(make_target(made), block_latency=traced), folder) as node,
        node.block(durable_writes(), seed=1) as session,
    ):
        result = session.trial(own)
    result = without_the_disk_below(result)
    summary = result.telemetry.summary
    moved = compute_moved_kb(summary, result.devices) * 1024
    assert moved > 1.5 * result.figures["bytes"]  # there is a journal
    assert find_submitters(summary, result.devices) == []
    assert "foreign" not in explain_disturbance(result, LIMITS)


@pytest.mark.root
def test_the_metadata_of_the_file_system_are_not_foreign(node):
    with node.block(request(size="64KiB", record_size="64KiB"), seed=1) as session:
        assert explain_disturbance(on_its_own_disk(session).trial(AS_IT_IS), LIMITS) == ""


@pytest.mark.root
def test_a_workload_that_fails_leaves_the_settings_as_they_were(node):
    with node.block(request("read"), seed=1) as session:
        before = scheduler_of(session.devices[0])
        session.trial(NONE)
        next(session.place.directory.glob("*/job-*")).write_bytes(bytes(8 * MIB))
        with pytest.raises(WorkloadError):
            session.trial(BFQ)
        assert scheduler_of(session.devices[0]) == before


@pytest.mark.root
def test_preflight_refuses_missing_space_and_missing_settings(node):
    with pytest.raises(TargetError, match="are free"):
        node.preflight([request(size="1GiB")], [AS_IT_IS])
    cfq = Configuration("cfq", {"block.scheduler": "cfq"}, {})
    refused = node.preflight([request()], [AS_IT_IS, cfq])
    assert list(refused) == ["cfq"]
    assert isinstance(refused["cfq"], SettingError)
    assert "cfq" in refused["cfq"].wanted


@pytest.mark.root
def test_circumstances_name_host_versions_and_target(node):
    circumstances = node.circumstances()
    assert circumstances["host"]["kernel"]["release"] == os.uname().release
    assert circumstances["versions"]["python"]
    assert circumstances["target"]["devices"][0].startswith("loop")


def test_a_directory_needs_no_root_and_is_left_as_it_was(tmp_path, own_state):
    (tmp_path / "precious").write_text("data")
    with (
        LocalNode(Conditions(DirectoryTarget(tmp_path)), tmp_path) as node,
        node.block(request(direct=False), seed=1) as session,
    ):
        session.trial(AS_IT_IS)
        assert len(list(session.place.directory.iterdir())) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"precious", "state"}


@pytest.mark.root
@pytest.mark.parametrize("weak", ["target", "output", "directories"])
def test_a_folder_of_another_user_is_refused_unless_the_user_insists(tmp_path, weak):
    folders = {name: tmp_path / name for name in ("target", "output", "directories")}
    for folder in folders.values():
        folder.mkdir()
    os.chown(folders[weak], 65534, -1)
    target, others = DirectoryTarget(folders["target"]), [folders["directories"]]
    with pytest.raises(UnsafePathError) as caught:
        LocalNode(Conditions(target, directories=others), folders["output"]).__enter__()
    assert str(folders[weak]) in caught.value.found
    assert "--unsafe-folders" in caught.value.remedy
    assert not any(folders["target"].iterdir())
    insisting = Permission(unsafe_folders=True)
    with LocalNode(Conditions(target, directories=others), folders["output"], permission=insisting):
        (work,) = folders["target"].iterdir()
        assert stat.S_IMODE(work.stat().st_mode) == 0o700


@pytest.fixture
def anybodys_folder():
    """A folder of a user without rights; below pytest's no other user may look."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        os.chown(folder, 65534, 65534)
        yield folder


@pytest.mark.root
def test_without_root_the_quickstart_runs_with_what_anybody_may_vary(anybodys_folder):
    """In a process that gives root up, after importing from folders that only root may read."""
    script = textwrap.dedent(f"""
        import encodings.ascii, encodings.unicode_escape, html, os, pprint, sys
        import vl_convert
        import iostudy.cli.study_runner, iostudy.report.render.html
        from iostudy.cli.main import main
        os.chdir({str(anybodys_folder)!r})
        os.setgid(65534); os.setuid(65534)
        sys.argv = ["iostudy", *{ARGUMENTS!r}]
        main()
    """)
    study = Path("studies/quickstart.yaml").read_text()
    small = study.replace("128MiB", "2MiB").replace("[5, 50]", "[3, 3]")
    assert (small.count("2MiB"), small.count("[3, 3]")) == (2, 1)
    # Such short trials have gaps on a busy host, the one disturbance that has a limit by itself.
    lenient = small + "validity: {gap: 100%, attempts: 20}\n"
    (anybodys_folder / "quickstart.yaml").write_text(lenient)
    own = {
        "IOSTUDY_STATE_DIR": str(anybodys_folder / "state"),
        "IOSTUDY_LOCK_DIR": str(anybodys_folder / "locks"),
    }
    env = {**os.environ, **own}
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "not root: block.read_ahead_kb cannot be changed" in done.stderr
    report = (anybodys_folder / "out" / "report.md").read_text()
    assert "record_size=64KiB, direct=true" in report
    assert (anybodys_folder / "out" / "report.html").stat().st_uid == 65534


ARGUMENTS = ("run", "quickstart.yaml", "--out", "out")


def test_progress_is_reported_and_can_end_a_trial(tmp_path, own_state):
    lines = []

    def stop(done):
        lines.append(done)
        return False

    options = {"operation": "write", "size": "2MiB", "think": "1 h"}
    request = request_of("io", catalog.get("io").options.model_validate(options))
    with (
        LocalNode(
            Conditions(DirectoryTarget(tmp_path)), tmp_path, callbacks=Callbacks(tick=stop)
        ) as node,
        node.block(request, seed=1) as session,
    ):
        assert session.place.tick is stop
        with pytest.raises(WorkloadStoppedError, match="it was stopped"):
            session.trial(AS_IT_IS)
    assert lines
    assert list(tmp_path.glob("iostudy-work-*")) == []


@pytest.mark.parametrize("call", ["write_dirty_pages", "drop_caches"])
def test_a_slow_kernel_is_reported_before_the_trial(tmp_path, own_state, monkeypatch, call):
    monkeypatch.setattr(local_block, "SLOW_SECONDS", 0.01)
    reported, own = threading.Event(), getattr(caches, call)
    monkeypatch.setattr(caches, call, lambda *given: reported.wait() and own(*given))
    with (
        LocalNode(
            Conditions(DirectoryTarget(tmp_path)),
            tmp_path,
            callbacks=Callbacks(on_progress=lambda line: reported.set()),
        ) as node,
        node.block(request("read"), seed=1) as session,
    ):
        session.trial(AS_IT_IS)


def test_missing_requirement_of_a_workload_fails_before_any_change(
    tmp_path, own_state, monkeypatch
):
    class UnavailableWorkload(Io):
        def check(self):
            raise UsageError("fio", found="there is none", where="PATH", remedy="install it")

    definition = replace(IO, make=UnavailableWorkload)
    monkeypatch.setitem(catalog._ALL, "io", definition)
    with LocalNode(Conditions(DirectoryTarget(tmp_path)), tmp_path) as node:
        monkeypatch.setattr(node, "_begin", lambda _: pytest.fail("a level was applied"))
        with pytest.raises(UsageError, match="install it"):
            node.preflight([request()], [AS_IT_IS])


@pytest.mark.parametrize("is_sound", [True, False])
def test_written_data_are_verified_after_the_recording(tmp_path, own_state, monkeypatch, is_sound):
    calls = []

    class VerifiedWorkload(Io):
        def run(self, place):
            return replace(super().run(place), verify=self.verified)

        def verified(self):
            calls.append("verified")
            if not is_sound:
                raise WorkloadError("it", found="other data", where="the file", remedy="look")

    class LoggingRecorder(ProcRecorder):
        def stop(self):
            calls.append("recorded")
            return super().stop()

    definition = replace(IO, make=VerifiedWorkload)
    monkeypatch.setitem(catalog._ALL, "io", definition)
    with (
        LocalNode(Conditions(DirectoryTarget(tmp_path)), tmp_path) as node,
        node.block(request(direct=False), seed=1) as session,
    ):
        session.make_recorder = lambda: LoggingRecorder(session.devices)
        expectation = (
            nullcontext() if is_sound else pytest.raises(WorkloadError, match="other data")
        )
        with expectation:
            session.trial(AS_IT_IS)
    assert calls == ["recorded", "verified"]


def test_latencies_parts_and_notes_of_a_workload_come_with_its_trial(
    tmp_path, own_state, monkeypatch
):
    part = Part({"file": "0"}, {"rate": 1.0})

    class PartsWorkload(Io):
        def run(self, place):
            return replace(super().run(place), parts=(part,), notes=("fell back to psync",))

    definition = replace(IO, make=PartsWorkload)
    monkeypatch.setitem(catalog._ALL, "io", definition)
    with (
        LocalNode(Conditions(DirectoryTarget(tmp_path)), tmp_path) as node,
        node.block(request(direct=False), seed=1) as session,
    ):
        result = session.trial(AS_IT_IS)
    assert result.parts == (part,)
    assert result.notes[-1] == "fell back to psync"
    assert sum(count for _, count in result.latencies["write"]) == 8
