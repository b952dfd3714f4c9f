"""NFS over loopback: doctor's advice, mount settings, and the mount's figures."""

from __future__ import annotations

import json

import pytest

from tests.vm.bench import limited_by, slow
from tests.vm.machine import Machine
from tests.vm.volumes import by_id

OPTIONS = {
    "/mnt/nfs4": "vers=4.2",
    "/mnt/nfs3": "vers=3,nolock,proto=tcp,rsize=65536,wsize=65536",
}

STUDY = """\
question: Where should the edit log live?
target: {loopback: {size: 32MiB}}
factors:
  workload.logs: {1 local disk: log, 1 NFS disk: /mnt/nfs4/journal}
workloads:
  - nnthroughput: {files: 300, threads: 8, operations: [create, open]}
decide: {margin: 90%, blocks: [3, 3]}
"""

COMPARED = """\
question: Which size of requests?
target:
  directories:
    local: /srv/local
    large: {mount: "127.0.0.1:/", at: /mnt/own/large, type: nfs4, options: "OPTIONS"}
    small: {mount: "127.0.0.1:/", at: /mnt/own/small, type: nfs4, options: "OPTIONS,rsize=16384"}
factors: {target.directory: [local, large, small]}
workloads:
  - events: {jobs: 2, events: 4, compute: 1ms}
decide: {margin: 5%, risk: 5%, blocks: [3, 3]}
"""

WRITES = {
    "operation": "write",
    "size": "64KiB",
    "record_size": "4KiB",
    "jobs": "8",
    "dsync": "true",
    "duration": "10s",
}

RECORD = """
import json, os, sys, time
from pathlib import Path
from iostudy.telemetry.recorder import ProcRecorder

recorder = ProcRecorder([])
recorder.start()
for place in sys.argv[1:]:
    file = os.open(Path(place) / "recorded", os.O_CREAT | os.O_WRONLY)
    os.write(file, bytes(1 << 20))
    os.fsync(file)
    os.close(file)
summary = recorder.stop().summary
print(json.dumps({"seconds": summary.seconds, "nfs": dict(summary.nfs)}))
"""


@pytest.fixture(scope="module", autouse=True)
def nfs(booted: Machine) -> None:
    """A server of a folder in memory, and two mounts of it."""
    booted.shell(
        """
        mount -t tmpfs tmpfs /srv
        rpcbind -w
        modprobe nfsd
        mount -t nfsd nfsd /proc/fs/nfsd
        exportfs -o rw,sync,no_root_squash,fsid=0,insecure 127.0.0.1:/srv
        rpc.nfsd --grace-time 10 --lease-time 10 4
        rpc.mountd
        echo Y >/proc/fs/nfsd/v4_end_grace
        mkdir -p /mnt/nfs4 /mnt/nfs3
        """
    )
    for place, source in (("/mnt/nfs4", "127.0.0.1:/"), ("/mnt/nfs3", "127.0.0.1:/srv")):
        booted.run("mount", "-t", "nfs", "-o", OPTIONS[place], source, place)


def mount_line(machine: Machine, place: str) -> str:
    return machine.shell(f"grep ' {place} ' /proc/mounts")


def read_ahead(machine: Machine, place: str) -> str:
    return machine.shell(f"cat /sys/class/bdi/$(mountpoint -d {place})/read_ahead_kb").strip()


def test_doctor_knows_the_mount_and_its_options(machine: Machine) -> None:
    newest = machine.iostudy("doctor", "/mnt/nfs4").stdout
    assert "nfs4 from 127.0.0.1:/ on /mnt/nfs4 (rw,relatime,vers=4.2," in newest
    assert "nfs-version" not in newest
    oldest = machine.iostudy("doctor", "/mnt/nfs3").stdout
    for rule in ("nfs-local-locks", "nfs-small-transfers", "nfs-version"):
        assert rule in oldest
    assert "rsize=65536,wsize=65536  rsize=1048576,wsize=1048576" in oldest


def test_read_ahead_of_a_mount_without_a_device(machine: Machine) -> None:
    before = {place: read_ahead(machine, place) for place in OPTIONS}
    machine.iostudy("set", "bdi.read_ahead_kb=1024", "--on", "/mnt/nfs4")
    assert read_ahead(machine, "/mnt/nfs4") == "1024"
    assert read_ahead(machine, "/mnt/nfs3") == before["/mnt/nfs3"]
    machine.iostudy("restore")
    assert {place: read_ahead(machine, place) for place in OPTIONS} == before


@pytest.mark.parametrize("place", OPTIONS)
def test_options_that_nfs_takes_at_a_remount(machine: Machine, place: str) -> None:
    before = mount_line(machine, place)
    machine.iostudy("set", "mount.atime=noatime", "mount.nodiratime=on", "--on", place)
    assert "noatime,nodiratime" in mount_line(machine, place)
    machine.iostudy("restore")
    assert mount_line(machine, place) == before


@pytest.mark.parametrize("option", ["mount.commit=5", "mount.options=rsize=32768"])
def test_options_that_nfs_refuses(machine: Machine, option: str) -> None:
    before = mount_line(machine, "/mnt/nfs3")
    refused = machine.iostudy("set", option, "--on", "/mnt/nfs3", check=False)
    assert refused.returncode == 3
    assert "/mnt/nfs3 (nfs on 127.0.0.1:/srv)" in refused.stderr
    assert "choose an option that nfs accepts at a remount" in refused.stderr
    assert mount_line(machine, "/mnt/nfs3") == before


def test_a_mount_without_a_device_has_no_queue(machine: Machine) -> None:
    refused = machine.iostudy("set", "block.scheduler=bfq", "--on", "/mnt/nfs4", check=False)
    assert refused.returncode == 2
    assert "the disks are the server's" in refused.stderr


def test_nothing_of_a_mount_is_left_out_in_silence(machine: Machine) -> None:
    machine.iostudy("set", "mount.atime=noatime", "bdi.read_ahead_kb=512", "--on", "/mnt/nfs4")
    output = machine.iostudy("persist", check=False).stderr
    assert "not kept: bdi.read_ahead_kb = 512" in output
    assert "mount.atime" in output


def test_bytes_written_to_each_mount_are_recorded(machine: Machine) -> None:
    document = json.loads(machine.run(".venv/bin/python", "-c", RECORD, *OPTIONS).stdout)
    assert set(document["nfs"]) == set(OPTIONS)
    for place, figures in document["nfs"].items():
        written_kb = figures["wkB/s"] * document["seconds"]
        assert 1024 <= written_kb < 1100, place
        assert 0 < figures["w_rtt"] <= figures["w_exe"]
        assert figures["ops/s"] > figures["w/s"] > 0
        assert figures["rkB/s"] == 0


def test_server_with_a_slow_disk(machine: Machine) -> None:
    """Eight threads that wait for its answers, and it for 40 requests a second."""
    machine.shell(
        f"""
        mkfs.ext4 -q {by_id("server-0")}
        mkdir -p /srv/slow /mnt/slow
        mount {by_id("server-0")} /srv/slow
        exportfs -o rw,sync,no_root_squash,fsid=1,insecure 127.0.0.1:/srv/slow
        mount -t nfs -o vers=3,nolock 127.0.0.1:/srv/slow /mnt/slow
        """
    )
    try:
        with slow(machine, "server-0", iops=40):
            assert limited_by(machine, "/mnt/slow", WRITES)[:1] == [("nfs", "/mnt/slow")]
    finally:
        machine.shell("umount /mnt/slow; exportfs -u 127.0.0.1:/srv/slow; umount /srv/slow")


@pytest.mark.usefixtures("volumes")
def test_study_with_one_log_on_nfs_and_one_on_a_disk(machine: Machine) -> None:
    machine.run("sh", "-c", "mkdir -p /mnt/nfs4/journal; cat >/tmp/log.yaml", text=STUDY)
    machine.iostudy("run", "/tmp/log.yaml", "--yes", "--out", "/data/log", seconds=900)
    document = json.loads(machine.iostudy("report", "/data/log", "--format", "json").stdout)
    mounts = document["circumstances"]["host"]["mounts"].values()
    (mount,) = [own for own in mounts if own["filesystem"] == "nfs4"]
    assert {"vers=4.2", "proto=tcp"} <= set(mount["options"])
    assert any(option.startswith("wsize=") for option in mount["options"])
    on = {trial["configuration"]: trial["device"] for trial in document["trials"]}
    assert on["1 local disk"].startswith("loop")
    assert on["1 NFS disk"] == ""


def test_a_study_mounts_one_export_with_different_options(machine: Machine) -> None:
    machine.run("mkdir", "--parents", "/srv/local", "/mnt/own/large", "/mnt/own/small")
    machine.run("chmod", "700", "/mnt/own")
    text = COMPARED.replace("OPTIONS", "vers=4.2,nosharecache")
    machine.run("sh", "-c", "cat >/tmp/compared.yaml", text=text)
    show = "grep -c nfs4 /proc/mounts; ls /srv/local; ls /srv"
    before = machine.shell(show)
    machine.iostudy("run", "/tmp/compared.yaml", "--out", "/tmp/compared")
    assert machine.shell(show) == before
    report = json.loads(machine.iostudy("report", "/tmp/compared", "--format", "json").stdout)
    found = {each["name"]: each for each in report["directories"]}
    assert {name: each["storage"] for name, each in found.items()} == {
        "local": "memory",
        "large": "network",
        "small": "network",
    }
    assert "rsize=16384" in found["small"]["options"]
    assert "rsize=16384" not in found["large"]["options"]
