"""Tests of the choice of devices by which a command is judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis
from iostudy.diagnosis.diagnose import diagnose
from iostudy.diagnosis.evidence import Confidence
from iostudy.host import stack
from iostudy.telemetry.summary import Figures
from iostudy_watch.device_selection import WatchedDevice
from iostudy_watch.diagnosis_target import DiagnosisTarget, build_watch_context, find_target
from iostudy_watch.live import Reading
from tests.diagnosis.synthetic import BUSY, PEER, SLOW, disk
from tests.fixtures_loop import MIB, loop_disk
from tests.plugins.watch.of_devices import STACK, reading
from tests.plugins.watch.of_devices import disk as watched

IDLE = {"eth0": {"%ifutil": 20.0, "rxkB/s": 2e3, "txkB/s": 24e3}}
FULL = {"eth0": {"%ifutil": 95.0, "rxkB/s": 2e3, "txkB/s": 118e3}}


def saw(devices=None, **fields) -> Reading:
    """A reading of the whole stack in which these devices did anything."""
    now = reading(STACK, {})
    return replace(now, summary=replace(now.summary, devices=devices or {}, **fields))


def server(written_kb: float) -> Figures:
    """A mount with a backlog of writes."""
    waits = {"w_exe": 90.0, "w_rtt": 60.0, "w_queue": 30.0}
    return {"rkB/s": 0.0, "wkB/s": written_kb, "ops/s": 200.0, "w/s": 200.0, **waits}


def wrote(kb: float) -> Figures:
    """What the command moved, in the second that a reading takes."""
    return {"read_kB": 0.0, "written_kB": kb}


def judged(now: Reading) -> Diagnosis:
    return diagnose(now.summary, build_watch_context(now, find_target(now, None)))


def test_an_array_of_partitions_is_judged_by_their_disks():
    array = disk(writes=600, wait_ms=20, util=100, kb=64)
    now = saw({"md0": array, "sda": PEER, "sdb": SLOW})
    assert find_target(now, None) == DiagnosisTarget(("md0",))
    first = judged(now).findings[0]
    assert (first.limit, first.of) == (Bottleneck.MEMBER, "sdb")


def test_requested_devices_are_the_target():
    assert find_target(saw({"sdb": BUSY}), ["sda", "sdb"]) == DiagnosisTarget(("sda", "sdb"))


def test_a_disk_that_leaves_counting_to_its_paths_is_judged_by_these():
    path = watched("nvme0c0n1")
    counted = {"members": (path.name,), "disks": (path.name,), "counted_by": (path.name,)}
    part = WatchedDevice("nvme0n1p2", "nvme0n1p2", is_partition=True, **counted)
    now = reading([part, path], {"nvme0n1p2": 0.0, "nvme0c0n1": 98.0})
    assert find_target(now, ["nvme0n1p2", "nvme0c0n1"]) == DiagnosisTarget(("nvme0c0n1",))


@pytest.mark.root
def test_the_upper_of_two_stacked_devices_is_diagnosed():
    """What it moves arrives at both, and counts once."""
    with loop_disk(MIB) as loop:
        below = [device.name for device in stack.whole_stack(loop)]
        assert below[0] == loop
        assert find_target(saw({loop: BUSY}), list(reversed(below))) == DiagnosisTarget((loop,))


def test_members_of_a_requested_volume_are_not_targets():
    requested = ["md0", "sda", "sdb", "sdc"]
    assert find_target(saw({"sdb": BUSY}), requested) == DiagnosisTarget(("md0", "sdc"))


def test_a_command_that_writes_to_a_mount_is_judged_by_it_alone():
    """Another path to the same server has the same counters, and others may use a third one."""
    mounts = {"/home": server(1e5), "/srv/home": server(1e5), "/others": server(9e5)}
    now = saw({"sda": PEER}, nfs=mounts, network=IDLE, workload=wrote(9e4))
    assert find_target(now, None) == DiagnosisTarget(mount="/home")
    nfs = [each for each in judged(now).findings if each.limit is Bottleneck.NFS]
    assert [(each.of, each.confidence) for each in nfs] == [("/home", Confidence.HIGH)]
    assert "18 requests outstanding at once" in nfs[0].sentence


def test_nfs_traffic_of_others_is_not_attributed_to_the_command():
    now = saw({"sda": PEER}, nfs={"/home": server(1e5)}, network=FULL, workload=wrote(2e4))
    assert find_target(now, None) == DiagnosisTarget(("sda",))
    assert Bottleneck.NFS not in {each.limit for each in judged(now).findings}


@pytest.mark.parametrize(("own_kb", "sure"), [(2e4, Confidence.LOW), (9e4, Confidence.HIGH)])
def test_a_network_that_others_filled_over_nfs_is_no_sure_limit(own_kb, sure):
    now = saw(nfs={"/home": server(1e5)}, network=FULL, workload=wrote(own_kb))
    network = next(each for each in judged(now).findings if each.limit is Bottleneck.NETWORK)
    assert network.confidence is sure


def test_little_that_others_move_over_nfs_says_nothing_of_a_network():
    now = saw(nfs={"/home": server(100.0)}, network=FULL, workload=wrote(0.0))
    assert judged(now).findings[0].confidence is Confidence.HIGH


def test_a_command_that_asks_for_names_alone_is_judged_by_the_mount():
    names = {"okB/s": 900.0, "o/s": 2000.0, "o_exe": 5.0, "o_rtt": 4.0, "o_queue": 1.0}
    mount = {"rkB/s": 0.0, "wkB/s": 0.0, "ops/s": 2000.0, **names}
    log, busy = disk(writes=10, util=0.4), disk(writes=10, util=50)
    now = saw({"sda": log}, nfs={"/home": mount}, workload=wrote(0.0))
    assert find_target(now, None) == DiagnosisTarget(mount="/home")
    assert judged(now).limit is Bottleneck.NFS
    now = saw({"sda": busy}, nfs={"/home": mount}, workload=wrote(0.0))
    assert find_target(now, None) == DiagnosisTarget(("sda",))


def test_without_the_commands_own_figures_the_mount_is_judged_over_which_more_was_moved():
    now = saw({"sda": PEER}, nfs={"/home": server(1e5)})
    assert find_target(now, None) == DiagnosisTarget(mount="/home")
    assert find_target(replace(now, summary=replace(now.summary, nfs={})), None) == DiagnosisTarget(
        ("sda",)
    )


def test_an_idle_machine_has_no_diagnosis_target():
    assert find_target(saw(), None) == DiagnosisTarget()
