"""Tests of property values read back from daemons and job configurations."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.errors import ClusterError
from iostudy_hadoop.conf import folder
from iostudy_hadoop.conf.configuration import HadoopConfiguration
from iostudy_hadoop.local import read_back
from tests.plugins.hadoop.clusters import layout

BUFFER, HANDLERS = "io.file.buffer.size", "dfs.datanode.handler.count"


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Reads one property of a cluster whose daemons were started with 64 KiB as their buffer."""

    def read(name, jobs, values):
        cluster = layout(datanodes=2, properties={})
        cluster = replace(cluster, home=tmp_path, properties={BUFFER: "65536"})
        webs = {cluster.web(each): each.name for each in cluster.daemons()}
        folder.write(cluster.job_conf, HadoopConfiguration.with_all(jobs))
        monkeypatch.setattr(read_back.jmx, "read_property", lambda web, _: values.get(webs[web]))
        return read_back.read(cluster, {}, "1g", (name,))

    return read


def test_daemon_property_is_read_from_all_daemons_of_its_role(read):
    values = {"namenode": "10", "datanode0": "20", "datanode1": "20"}
    assert read(HANDLERS, {HANDLERS: "7"}, values) == {HANDLERS: "20"}
    with pytest.raises(ClusterError, match="datanode1: 10"):
        read(HANDLERS, {}, {**values, "datanode1": "10"})


def test_shared_property_is_read_from_daemons_and_jobs(read):
    values = dict.fromkeys(("namenode", "datanode0", "datanode1"), "65536")
    assert read(BUFFER, {BUFFER: "65536"}, values) == {BUFFER: "65536"}
    with pytest.raises(ClusterError, match="datanode1: 4096"):
        read(BUFFER, {BUFFER: "65536"}, {**values, "datanode1": "4096"})
    with pytest.raises(ClusterError, match="the jobs: None"):
        read(BUFFER, {}, values)


def test_job_property_is_read_from_its_conf_folder(read):
    values = {"namenode": "134217728"}
    assert read("dfs.blocksize", {"dfs.blocksize": "1048576"}, values) == {
        "dfs.blocksize": "1048576"
    }
    assert read("dfs.blocksize", {}, values) == {"dfs.blocksize": "134217728"}
