"""What ``bench --target`` means to a workload that needs a cluster, and to one that does not."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.cli.bench import place
from iostudy.cli.bench.place import find_place
from iostudy.errors import UsageError
from iostudy.hadoop.spec import ClusterSpec
from iostudy.study.targets import DirectoryTarget, HdfsTarget
from iostudy.workloads.native import dfsio

ON_HADOOP = replace(dfsio.READ, name="hadoop.it", needs_hadoop=True)
ONE = ClusterSpec()


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The clusters that were asked for, none of which is looked for."""
    asked: list[tuple[object, ...]] = []

    def ordered(*arguments: object, **_: object) -> None:
        asked.append(arguments)

    monkeypatch.setattr(place, "build_cluster_request", ordered)
    return asked


def test_a_workload_on_files_takes_a_directory_and_no_cluster(asked: list[object]) -> None:
    place = find_place(dfsio.READ, "some/where", ONE)
    assert (place.target, place.folder) == (DirectoryTarget(Path("some/where")), Path("some/where"))
    assert asked == []


def test_one_of_hadoops_has_a_cluster_of_its_own_in_the_directory(asked: list[object]) -> None:
    spec = ClusterSpec(datanodes=3, yarn=True)
    place = find_place(ON_HADOOP, ".", spec)
    assert asked == [(place.target, spec)]
    assert place.folder == Path()


def test_in_hdfs_it_works_beside_it_in_the_folder_for_temporary_files(asked: list[object]) -> None:
    place = find_place(ON_HADOOP, "hdfs://namenode:8020/bench", ONE)
    assert place.target == HdfsTarget("hdfs://namenode:8020/bench")
    assert place.folder == Path(tempfile.gettempdir())
    assert asked == [(place.target, ONE)]


@pytest.mark.parametrize(
    ("definition", "target", "spec", "told"),
    [
        (dfsio.READ, "hdfs://namenode/bench", ONE, "it works on files of this host"),
        (dfsio.READ, ".", ClusterSpec(datanodes=2), "dfsio-read runs on none"),
        (ON_HADOOP, "hdfs:///bench", ClusterSpec(yarn=True), "the target is one already"),
        (ON_HADOOP, "hdfs://namenode", ONE, "name a folder in which the study may work"),
        (ON_HADOOP, "s3://bucket/bench", ONE, "write hdfs://HOST:PORT/FOLDER"),
    ],
)
def test_what_does_not_go_together_is_refused(definition, target, spec, told) -> None:
    with pytest.raises(UsageError, match=told):
        find_place(definition, target, spec)
