"""Tests of ``check`` for studies on a Hadoop cluster."""

from __future__ import annotations

import re

import pytest

from iostudy.cli.check import check
from iostudy.errors import TargetError
from tests.study.files import JOB, ON_HADOOP, add_job

STUDY = ON_HADOOP.replace("/data/scratch", ".").replace(JOB, f"{JOB}: {{files: 2, size: 32MiB}}")
HANDLERS = "hadoop.dfs.datanode.handler.count: [10, 64]"


@pytest.fixture
def checked(monkeypatch, tmp_path, capsys):
    """What check says of a study file, its blanks as one."""
    add_job(monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("os.geteuid", lambda: 1000)

    def check_text(text: str) -> str:
        (tmp_path / "study.yaml").write_text(text)
        check("study.yaml", full=True)
        return re.sub(r"\s+", " ", capsys.readouterr().out)

    return check_text


def test_the_cluster_that_is_started(checked):
    text = checked(STUDY)
    assert (
        "cluster Hadoop 3.4.2 or that of HADOOP_HOME, 1 DataNode, local runner all of it in" in text
    )
    assert "all of it in the work folder on the target" in text
    assert "changes the service hadoop on 127.0.0.1, ended and removed at the end" in text
    assert "changes hadoop.dfs.blocksize, given to the jobs of each trial" in text
    assert "written 320 MiB to 1.88 GiB in all" in text
    assert "restarts" not in text
    assert "needs root" not in text


def test_check_prints_the_requested_cluster(checked, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    requested = f"data_dirs: {disk}, yarn: true, version: 3.3.6, properties: {{dfs.replication: 2}}"
    text = checked(f"{STUDY}hadoop: {{datanodes: 3, {requested}}}\n")
    assert "cluster Hadoop 3.3.6, 3 DataNodes, YARN" in text
    assert f"data in {disk}; the NameNode's journal in the work folder on the target" in text
    assert "with dfs.replication=2" in text
    assert "written 640 MiB to 3.75 GiB in all" in text


def test_a_data_directory_that_is_not_there(checked):
    with pytest.raises(TargetError, match="/no/such/disk"):
        checked(STUDY + "hadoop: {data_dirs: /no/such/disk}\n")


def test_restarts_are_counted(checked):
    text = checked(STUDY.replace("hadoop.dfs.blocksize: [128MiB, 64MiB]", HANDLERS))
    assert "count of the Hadoop cluster that the study works with, by a restart of its dae" in text
    assert "restarts 10 to 60: all daemons before each trial on the cluster" in text


def test_trials_without_the_cluster_need_no_restart(checked):
    text = STUDY.replace("hadoop.dfs.blocksize: [128MiB, 64MiB]", HANDLERS)
    others = "\n  - dfsio-write: {files: 2, size: 32MiB}\ndecide: {blocks: [3, 3]}\n"
    assert "restarts 6: all" in checked(text.rstrip() + others)


def test_a_cluster_that_is_there(checked):
    text = checked(STUDY.replace("target: .", "target: hdfs:///bench"))
    assert "target a folder in hdfs:///bench" in text
    assert "changes a folder in hdfs:///bench, removed at the end" in text
    assert "cluster on 127.0.0.1" not in text


def test_undescribed_property_has_a_warning(checked):
    text = checked(STUDY.replace("dfs.blocksize: [128MiB, 64MiB]", "dfs.client.x: [1, 2]"))
    assert "caution hadoop.dfs.client.x: Hadoop ignores unknown names: check the spelling" in text


def test_an_append_needs_what_it_appends_to_in_every_trial(checked):
    text = checked(
        "question: How large should records be?\ntarget: .\n"
        "factors: {workload.record_size: [1MiB, 64KiB]}\n"
        "workloads: [{dfsio-append: {files: 2, size: 1MiB}}]\n"
        "decide: {blocks: [5, 5]}\n"
    )
    assert "space 4.00 MiB of files at most written 30.0 MiB in all" in text
