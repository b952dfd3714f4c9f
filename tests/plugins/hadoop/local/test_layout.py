"""Tests of a local cluster's layout: folders, addresses and commands of its daemons."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import TypeAdapter

from iostudy_hadoop.local.layout import NAMENODE, ClusterDaemon, ClusterLayout, Role
from tests.plugins.hadoop.clusters import layout

OWN = "iostudy-hadoop-0123456789abcdef"


def paths(*names: str) -> tuple[Path, ...]:
    return tuple(map(Path, names))


def test_default_layout_is_one_folder():
    cluster = layout(datanodes=2)
    assert cluster.folders() == paths(f"/storage/{OWN}")
    assert cluster.name_dirs() == paths(f"/storage/{OWN}/name")
    assert [cluster.data_dirs(node) for node in (0, 1)] == [
        paths(f"/storage/{OWN}/data0"),
        paths(f"/storage/{OWN}/data1"),
    ]
    assert cluster.local_dirs() == paths(f"/storage/{OWN}/local")
    assert cluster.hadoop_tmp() == Path(f"/storage/{OWN}/tmp")


def test_directories_are_dealt_out_and_each_has_one_folder_of_the_cluster_s():
    cluster = layout(datanodes=2, data_dirs=paths("/a", "/b", "/c"), name_dirs=paths("/c", "/d"))
    assert cluster.folders() == paths(*(f"/{name}/{OWN}" for name in ("storage", *"abcd")))
    assert cluster.data_dirs(0) == paths(f"/a/{OWN}/data0", f"/c/{OWN}/data0")
    assert cluster.data_dirs(1) == paths(f"/b/{OWN}/data1")
    assert cluster.name_dirs() == paths(f"/c/{OWN}/name", f"/d/{OWN}/name")
    assert cluster.local_dirs() == paths(f"/a/{OWN}/local", f"/b/{OWN}/local", f"/c/{OWN}/local")
    assert cluster.local_dirs(1) == paths(f"/b/{OWN}/local1")


def test_datanodes_that_share_a_directory_do_not_share_a_folder():
    cluster = layout(datanodes=2, data_dirs=paths("/a"))
    assert cluster.data_dirs(0) == paths(f"/a/{OWN}/data0")
    assert cluster.data_dirs(1) == paths(f"/a/{OWN}/data1")


def test_a_directory_that_is_named_twice_is_used_once():
    assert layout(data_dirs=paths("/a", "/a")).data_dirs(0) == paths(f"/a/{OWN}/data0")


def test_the_namenode_comes_last_as_it_waits_for_its_format():
    assert [daemon.name for daemon in layout(datanodes=2).daemons()] == [
        "datanode0",
        "datanode1",
        "namenode",
    ]
    assert [daemon.name for daemon in layout(yarn=True).daemons()] == [
        "datanode0",
        "resourcemanager",
        "nodemanager0",
        "namenode",
    ]


def test_every_daemon_has_addresses_of_its_own():
    cluster = layout(datanodes=2, yarn=True)
    addresses = {
        cluster.address(daemon, name)
        for daemon in cluster.daemons()
        for name in cluster.ports[daemon.name]
    }
    assert len(addresses) == 2 + 2 * 3 + 5 + 2 * 4
    assert {address.partition(":")[0] for address in addresses} == {"127.0.0.1"}
    assert cluster.default_fs == f"hdfs://{cluster.address(NAMENODE, 'dfs.namenode.rpc-address')}"


@pytest.mark.parametrize("role", list(Role))
def test_a_daemon_s_command(role):
    command = layout(yarn=True).command(ClusterDaemon(role), "300m")
    assert command[:4] == ("/jdk/bin/java", "--add-opens", "java.base/java.lang=X", "-Xmx300m")
    name = ClusterDaemon(role).name
    assert command[command.index("-cp") + 1] == f"/home/conf/{name}:/jars/*:/more/*"
    assert command[-1].lower().endswith(f".{role}")
    assert "-Dyarn.log.dir=/home/logs" in command


def test_an_hdfs_that_is_there_is_not_formatted_again():
    command = layout().format_command("300m")
    assert command[-2:] == ("-format", "-nonInteractive")
    assert "-force" not in command


def test_saved_layout_is_loaded_unchanged():
    cluster = layout(datanodes=2, data_dirs=paths("/a"), properties={"dfs.blocksize": "1m"})
    adapter = TypeAdapter(ClusterLayout)
    assert adapter.validate_json(adapter.dump_json(cluster)) == cluster
