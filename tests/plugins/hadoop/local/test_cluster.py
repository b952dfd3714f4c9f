"""A cluster of real daemons: what it does, and what is left of it when it is broken."""

from __future__ import annotations

import dataclasses
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from iostudy.errors import ClusterError, TargetError, UsageError
from iostudy_hadoop import processes
from iostudy_hadoop.local import confinement, persistence, port_assignment
from iostudy_hadoop.local.cluster import LocalCluster
from iostudy_hadoop.local.layout import Role
from tests.plugins.hadoop import webhdfs

MIB = 1 << 20


@pytest.fixture
def cluster(hadoop_cluster):
    hadoop_cluster.configured({}, restart=False)
    return hadoop_cluster


def pid(cluster, name):
    return cluster.facts()["daemons"][name]["pid"]


def wait_until(condition, seconds):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def alive(cluster):
    try:
        cluster.require_alive()
    except ClusterError:
        return False
    return True


def block_files(cluster):
    return [path for folder in cluster.data_dirs() for path in folder.rglob("blk_*")]


@contextmanager
def tmpfs(folder: Path, size: str):
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def test_every_daemon_serves_and_is_found_again_by_another_process(cluster):
    cluster.verify()
    assert set(cluster.facts()["daemons"]) == {"datanode0", "datanode1", "namenode"}
    for fact in cluster.facts()["daemons"].values():
        assert fact["resident_bytes"] > 50 * MIB
    other = LocalCluster.attach(cluster.layout.home)
    other.verify()
    assert other.facts()["daemons"].keys() == cluster.facts()["daemons"].keys()
    assert pid(other, "datanode1") == pid(cluster, "datanode1")


def test_a_job_s_property_is_in_its_conf_folder_at_once(cluster):
    before = pid(cluster, "namenode")
    client = cluster.configured({"dfs.blocksize": "1048576"}, restart=False)
    assert pid(cluster, "namenode") == before
    assert (client.conf, client.replication, client.yarn) == (cluster.layout.job_conf, 2, False)
    names = ("dfs.blocksize", "mapreduce.task.io.sort.mb", "no.such.name", "client.heap")
    held = cluster.read_back(names)
    assert held["dfs.blocksize"] == "1048576"
    assert held["mapreduce.task.io.sort.mb"] == "100"
    assert held["client.heap"] == f"{512 + 256 * len(os.sched_getaffinity(0))}m"
    assert "no.such.name" not in held


@pytest.mark.slow
def test_daemon_properties_hold_after_restart_and_a_fatal_one_is_reported(cluster):
    webhdfs.write(cluster, "/kept", b"as it was" * 1000)
    name = "dfs.datanode.handler.count"
    properties = {name: "7", "datanode.heap": "300m"}
    cluster.configured(properties, restart=False)
    assert cluster.read_back(tuple(properties)) == {name: "10", "datanode.heap": "512m"}
    before = block_names(cluster)
    webhdfs.write(cluster, "/deleted", bytes(MIB))
    webhdfs.delete(cluster, "/deleted")
    cluster.configured(properties, restart=True)
    cluster.settle()
    assert block_names(cluster) == before
    assert cluster.read_back(tuple(properties)) == properties
    assert webhdfs.read(cluster, "/kept") == b"as it was" * 1000
    with pytest.raises(ClusterError, match="seven") as caught:
        cluster.configured({name: "seven"}, restart=True)
    assert "datanode" in caught.value.wanted
    assert not processes.find_processes(cluster.layout.identity)
    cluster.configured({}, restart=False)
    assert cluster.read_back(tuple(properties)) == {name: "10", "datanode.heap": "512m"}


def test_cluster_is_settled_without_blocks_on_disk(cluster):
    before = block_names(cluster)
    webhdfs.write(cluster, "/deleted", bytes(3 * MIB))
    wait_until(lambda: len(block_names(cluster) - before) == 2, seconds=60)
    written = block_names(cluster) - before
    webhdfs.delete(cluster, "/deleted")
    assert written <= block_names(cluster)
    cluster.settle()
    assert not written & block_names(cluster)


def block_names(cluster):
    return {path.name for path in block_files(cluster)}


def test_killed_datanode_is_reported_and_restarted(cluster):
    webhdfs.write(cluster, "/read-after", b"here")
    killed = pid(cluster, "datanode1")
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: not alive(cluster), seconds=60)
    with pytest.raises(ClusterError, match="it has ended; its log ends: ") as caught:
        cluster.require_alive()
    assert "datanode1" in caught.value.wanted
    with pytest.raises(ClusterError, match="datanode1"):
        cluster.verify()
    cluster.configured({}, restart=False)
    cluster.verify()
    assert pid(cluster, "datanode1") != killed
    assert webhdfs.read(cluster, "/read-after") == b"here"


@pytest.mark.slow
def test_a_hung_datanode_is_lost_by_its_master(cluster):
    os.kill(pid(cluster, "datanode0"), signal.SIGSTOP)
    try:
        cluster.require_alive()
        wait_until(lambda: _lost(cluster), seconds=300)
    finally:
        os.kill(pid(cluster, "datanode0"), signal.SIGCONT)
    cluster.configured({}, restart=False)
    cluster.verify()


def _lost(cluster):
    try:
        cluster.verify()
    except ClusterError as error:
        return "1 of 2 DataNodes" in error.found
    return False


def test_a_job_ends_when_its_namenode_is_killed(cluster, tmp_path):
    client = cluster.configured({"dfs.blocksize": "1048576"}, restart=False)
    options = ("-write", "-nrFiles", "1", "-size", "20GB", "-resFile", "result")
    with subprocess.Popen(
        client.command("org.apache.hadoop.fs.TestDFSIO", *options),
        cwd=tmp_path,
        env={**os.environ, **client.environment()},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as job:
        try:
            there = len(block_files(cluster))
            wait_until(lambda: len(block_files(cluster)) > there + 8, seconds=300)
            os.kill(pid(cluster, "namenode"), signal.SIGKILL)
            assert job.wait(timeout=300) != 0
        finally:
            job.kill()
    with pytest.raises(ClusterError, match="it has ended"):
        client.require_alive()
    cluster.configured({}, restart=False)
    cluster.verify()
    webhdfs.delete(cluster, "/benchmarks")


def test_reserved_properties_and_wrong_heaps_are_refused(cluster):
    for name, value in (
        ("dfs.datanode.data.dir", "/"),
        ("dfs.namenode.rpc-address", "127.0.0.1:1"),
        ("namenode.heap", "1 GiB"),
        ("dfs.blocksize", "1\n2"),
    ):
        with pytest.raises(UsageError):
            cluster.configured({name: value}, restart=False)


def test_a_home_is_for_one_cluster(cluster, java, distribution, tmp_path):
    other = LocalCluster.prepare(
        cluster.layout.spec,
        home=cluster.layout.home,
        storage=tmp_path,
        java=java,
        distribution=distribution,
    )
    with pytest.raises(ClusterError, match="has not been ended"):
        other.start()
    assert not list(tmp_path.iterdir())


def test_occupied_fixed_port_is_reported_with_its_owner(new_cluster, monkeypatch):
    monkeypatch.setattr(confinement, "confine", lambda layout, _: layout)  # no namespace
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        cluster = new_cluster(properties={"dfs.namenode.rpc-address": f"localhost:{port}"})
        with pytest.raises(ClusterError, match=rf"\(pid {os.getpid()}\) listens there") as caught:
            cluster.start()
    assert f"port {port}" in caught.value.wanted
    assert not processes.find_processes(cluster.layout.identity)


@pytest.mark.slow
def test_a_lost_port_is_replaced_on_retry(new_cluster, monkeypatch):
    """Nothing but daemons of the cluster can take a port of its network namespace."""
    choose = port_assignment.assign_ports
    lines = []

    def unlucky(layout):
        ports = choose(layout)
        if not lines:
            own = ports["namenode"]
            own["dfs.namenode.rpc-address"] = own["dfs.namenode.http-address"]
        return ports

    monkeypatch.setattr(port_assignment, "assign_ports", unlucky)
    cluster = new_cluster()
    cluster.start(lambda line: lines.append(line) if "port" in line else None)
    assert len(lines) == 1
    cluster.verify()
    assert persistence.load(cluster.layout.home) == cluster.layout


def test_early_exit_of_java_is_reported_with_its_output(new_cluster):
    cluster = new_cluster()
    java = dataclasses.replace(cluster.layout.java, options=("-XX:+NoSuchOption",))
    cluster = LocalCluster(dataclasses.replace(cluster.layout, java=java))
    with pytest.raises(ClusterError, match="Unrecognized VM option 'NoSuchOption'"):
        cluster.start()
    assert not processes.find_processes(cluster.layout.identity)
    cluster.stop()


def test_missing_java_is_reported(new_cluster, tmp_path):
    cluster = new_cluster()
    java = dataclasses.replace(cluster.layout.java, path=tmp_path / "bin/java")
    cluster = LocalCluster(dataclasses.replace(cluster.layout, java=java))
    with pytest.raises(ClusterError, match=r"No such file|Permission denied"):
        cluster.start()
    cluster.stop()


def test_unwritable_directory_is_named(new_cluster, tmp_path):
    (tmp_path / "data").touch()
    cluster = new_cluster(data_dirs=(tmp_path / "data",))
    with pytest.raises(TargetError) as caught:
        cluster.start()
    assert caught.value.where == str(tmp_path / "data")
    cluster.stop()
    assert (tmp_path / "data").exists()
    assert not list(cluster.layout.storage.iterdir())


def test_full_disk_is_reported_and_everything_is_removed(new_cluster, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root, for a small file system")
    with tmpfs(tmp_path / "small", "64m") as small:
        (small / "mine").touch()
        cluster = new_cluster(data_dirs=(small,), properties={"dfs.blocksize": "16777216"})
        cluster.start()
        client = cluster.configured({}, restart=False)
        (client.scratch / "large").write_bytes(bytes(100 * MIB))
        put = ("-put", str(client.scratch / "large"), f"{client.folder}-large")
        done = subprocess.run(
            client.command("org.apache.hadoop.fs.FsShell", *put), capture_output=True, check=False
        )
        assert done.returncode != 0
        # The DataNode says so in mid-block, or the NameNode before the next: whichever is first.
        in_mid_block, before_a_block = b"are bad. Aborting", b"written to 0 of the 1 minReplication"
        assert in_mid_block in done.stderr or before_a_block in done.stderr
        assert {each.name for each in small.iterdir()} == {
            "mine",
            f"iostudy-hadoop-{cluster.layout.identity}",
        }
        cluster.stop()
        cluster.stop()
        assert [each.name for each in small.iterdir()] == ["mine"]
        assert not list(cluster.layout.storage.iterdir())
    assert (cluster.layout.logs / "namenode.log").stat().st_size > 0
    assert {each.name for each in cluster.layout.home.iterdir()} == {"conf", "logs"}


def test_namenode_without_space_fails_at_once(new_cluster, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root, for a small file system")
    with tmpfs(tmp_path / "small", "64m") as small:
        cluster = new_cluster(name_dirs=(small,))
        with pytest.raises(ClusterError, match="stays in safe mode") as caught:
            cluster.start()
        assert str(small) in caught.value.where
        assert not processes.find_processes(cluster.layout.identity)
        cluster.stop()
        assert not list(small.iterdir())


SCRIPT = """
import sys
from iostudy_hadoop.local import persistence
from iostudy_hadoop.local.layout import ClusterLayout
from iostudy_hadoop.local.cluster import LocalCluster
from pydantic import TypeAdapter
LocalCluster(TypeAdapter(ClusterLayout).validate_json(sys.stdin.read())).start()
"""


def test_another_process_cleans_up_after_a_killed_start(new_cluster):
    cluster = new_cluster(datanodes=2)
    layout = cluster.layout
    starting = subprocess.Popen([sys.executable, "-c", SCRIPT], stdin=subprocess.PIPE)
    starting.stdin.write(TypeAdapter(type(layout)).dump_json(layout))
    starting.stdin.close()
    wait_until(lambda: len(processes.find_processes(layout.identity)) >= 2, seconds=300)
    starting.kill()
    starting.wait()
    assert len(processes.find_processes(layout.identity)) >= 2
    LocalCluster.attach(layout.home).stop()
    assert not processes.find_processes(layout.identity)
    assert not list(layout.storage.iterdir())
    with pytest.raises(ClusterError, match="there is none"):
        LocalCluster.attach(layout.home)


@pytest.mark.slow
def test_yarn_containers_end_with_the_cluster(new_cluster, tmp_path):
    cluster = new_cluster(yarn=True)
    cluster.start()
    client = cluster.configured({"yarn.nodemanager.vmem-pmem-ratio": "3"}, restart=False)
    cluster.verify()
    assert {each.role for each in cluster.layout.daemons()} == set(Role)
    assert (cluster.layout.hadoop_tmp() / "node-attribute").is_dir()
    name = "yarn.nodemanager.resource.cpu-vcores"
    assert cluster.read_back((name,)) == {name: str(cluster.layout.machine.cores + 1)}
    identity = cluster.layout.identity
    with subprocess.Popen(
        client.command("org.apache.hadoop.mapred.MRBench", "-numRuns", "1000"),
        cwd=tmp_path,
        env={**os.environ, **client.environment()},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as job:
        try:
            wait_until(lambda: any("MRAppMaster" in each for each in containers(identity)), 300)
            cluster.stop()
        finally:
            job.kill()
    assert not processes.find_processes(identity)
    assert not list(cluster.layout.storage.iterdir())


def containers(identity):
    found = [each for each in processes.find_processes(identity) if not each.daemon]
    return [" ".join(each.arguments()) for each in found]
