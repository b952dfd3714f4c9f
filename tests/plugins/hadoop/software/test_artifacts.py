"""Tests of the choice and integrity of Hadoop distributions, from Maven and installed."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from iostudy.errors import UsageError
from iostudy_hadoop.software import artifacts
from iostudy_hadoop.spec import DEFAULT_VERSION

PROGRAMS = (
    "org.apache.hadoop.hdfs.server.namenode.NameNode",
    "org.apache.hadoop.hdfs.server.datanode.DataNode",
    "org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark",
    "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
    "org.apache.hadoop.yarn.server.timelineservice.collector.TimelineCollectorManager",
    "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
    "org.apache.hadoop.mapreduce.v2.app.MRAppMaster",
    "org.apache.hadoop.mapred.ShuffleHandler",
    "org.apache.hadoop.fs.FsShell",
    "org.apache.hadoop.fs.TestDFSIO",
    "org.apache.hadoop.hdfs.NNBench",
    "org.apache.hadoop.mapred.MRBench",
    "org.apache.hadoop.examples.terasort.TeraSort",
    "org.apache.hadoop.examples.WordCount",
)
"""What a cluster and the benchmarks start, or load by name."""

FOLDERS = (
    ("hadoop-common-", "common"),
    ("hadoop-hdfs-", "hdfs"),
    ("hadoop-mapreduce-", "mapreduce"),
    ("hadoop-yarn-", "yarn"),
    ("", "common/lib"),
)


@pytest.fixture
def installed(distribution, tmp_path):
    """HADOOP_HOME as a release has it, of the jars that Maven has fetched."""
    for jar in Path(distribution.classpath).parent.glob("*.jar"):
        below = next(folder for prefix, folder in FOLDERS if jar.name.startswith(prefix))
        link = tmp_path / "home/share/hadoop" / below / jar.name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(jar)
    return str(tmp_path / "home")


@pytest.fixture
def alone(tmp_path):
    """An environment with nothing to fetch by, and an empty cache."""
    return {"PATH": str(tmp_path), "IOSTUDY_CACHE_DIR": str(tmp_path / "cache")}


def classes(classpath):
    """All that are in the jars of a class path of folders."""
    jars = (jar for each in classpath.split(":") for jar in Path(each).parent.glob("*.jar"))
    return {name for jar in jars for name in zipfile.ZipFile(jar).namelist()}


def version_by(java, classpath):
    command = [java.path, *java.options, "-cp", classpath, "org.apache.hadoop.util.VersionInfo"]
    return subprocess.check_output(command, text=True).splitlines()[0]


def test_second_use_needs_no_maven(distribution, tmp_path):
    assert distribution.version == DEFAULT_VERSION
    without = {**os.environ, "PATH": str(tmp_path), "HADOOP_HOME": ""}
    assert artifacts.distribution(environ=without) == distribution


def test_required_classes_are_present(distribution):
    wanted = {f"{name.replace('.', '/')}.class" for name in PROGRAMS}
    assert not wanted - classes(distribution.classpath)


def test_java_runs_what_maven_has_fetched_as_what_is_installed(
    java, distribution, installed, alone
):
    theirs = artifacts.distribution(environ={**alone, "HADOOP_HOME": installed})
    for each in (distribution, theirs):
        assert version_by(java, each.classpath) == f"Hadoop {DEFAULT_VERSION}"


def test_installation_of_the_requested_version_is_used(installed, alone):
    environ = {**alone, "HADOOP_HOME": installed}
    found = artifacts.distribution(environ=environ)
    assert found.version == DEFAULT_VERSION
    assert found.source == f"HADOOP_HOME={installed}"
    assert artifacts.distribution(DEFAULT_VERSION, environ=environ) == found


def test_another_version_than_the_installed_is_fetched(installed, alone):
    with pytest.raises(UsageError) as raised:
        artifacts.distribution("3.3.6", environ={**alone, "HADOOP_HOME": installed})
    assert raised.value.wanted == "the jars of Hadoop 3.3.6"
    assert raised.value.found == "no mvn in the PATH"


@pytest.mark.parametrize(
    "version", ["", "3", "3.4", "../3.4.2", "3.4.2/x", "3.4.2 ", "-3.4.2", "٣.4.2"]
)
def test_invalid_version_is_refused(alone, version):
    with pytest.raises(UsageError, match="wanted: a version of Hadoop") as raised:
        artifacts.distribution(version, environ=alone)
    assert raised.value.found == version
