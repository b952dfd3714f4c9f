"""An unpacked Hadoop is taken if it is whole; what it lacks is named."""

from __future__ import annotations

import pytest

from iostudy.errors import UsageError
from iostudy_hadoop.software import installation

VERSION = "3.3.6"
JARS = (
    "common/hadoop-common-{}.jar",
    "common/hadoop-common-{}-tests.jar",
    "common/lib/guava.jar",
    "hdfs/hadoop-hdfs-{}.jar",
    "hdfs/hadoop-hdfs-{}-tests.jar",
    "mapreduce/hadoop-mapreduce-client-jobclient-{}.jar",
    "mapreduce/hadoop-mapreduce-client-jobclient-{}-tests.jar",
    "mapreduce/hadoop-mapreduce-examples-{}.jar",
    "yarn/hadoop-yarn-server-resourcemanager-{}.jar",
    "yarn/timelineservice/lib/junit-4.11.jar",
)


@pytest.fixture
def home(tmp_path):
    for jar in JARS:
        path = tmp_path / "share/hadoop" / jar.format(VERSION)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def test_the_version_and_folders_of_an_installation(home):
    found = installation.read(str(home))
    assert found.version == VERSION
    folders = ("common", "common/lib", "hdfs", "mapreduce", "yarn", "yarn/timelineservice")
    share = home / "share/hadoop"
    expected = [f"{share / folder}/*" for folder in (*folders, "yarn/timelineservice/lib")]
    assert found.classpath().split(":") == expected


@pytest.mark.parametrize("jar", [jar for jar in JARS if "-tests" in jar or "examples" in jar][1:])
def test_missing_parts_are_named(home, jar):
    path = home / "share/hadoop" / jar.format(VERSION)
    path.unlink()
    with pytest.raises(UsageError) as raised:
        installation.read(str(home)).classpath()
    assert raised.value.found == f"it has no {path.name}"
    assert "unset HADOOP_HOME" in raised.value.remedy


def test_folder_without_hadoop_is_refused(tmp_path):
    with pytest.raises(UsageError) as raised:
        installation.read(str(tmp_path))
    assert raised.value.found == "0 files common/hadoop-common-VERSION.jar"
    assert raised.value.where == str(tmp_path / "share/hadoop")


def test_two_versions_in_one_folder_are_refused(home):
    (home / "share/hadoop/common/hadoop-common-3.4.2.jar").touch()
    with pytest.raises(UsageError, match="2 files"):
        installation.read(str(home))
