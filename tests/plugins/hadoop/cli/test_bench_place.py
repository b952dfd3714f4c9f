"""Tests of ``bench --target`` for workloads on files and on a Hadoop cluster."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.cli.bench import command
from iostudy.cli.bench.command import find_place
from iostudy.errors import StudyError, UsageError
from iostudy.node.service import ServiceDefinition
from iostudy.study.targets.directories import DirectoryTarget
from iostudy_hadoop.native import dfsio
from iostudy_hadoop.spec import ClusterSpec
from iostudy_hadoop.study.target import HdfsTarget

ON_HADOOP = replace(dfsio.READ, name="hadoop.it", service="hadoop")
ONE = ""


@pytest.fixture(autouse=True)
def requests(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The requested clusters, none of which is looked for."""
    requests: list[tuple[object, ...]] = []

    def ordered(*arguments: object, **_: object) -> None:
        requests.append(arguments)

    service = ServiceDefinition(ordered, lambda *_: False)  # type: ignore[arg-type]
    monkeypatch.setattr(command, "find_service", lambda _: service)
    return requests


def test_a_workload_on_files_takes_a_directory_and_no_cluster(requests: list[object]) -> None:
    place = find_place(dfsio.READ, "some/where", ONE)
    assert (place.target, place.folder) == (
        DirectoryTarget(Path("some/where")),
        Path("some/where"),
    )
    assert requests == []


def test_hadoop_workload_has_its_own_cluster_in_the_directory(requests: list[object]) -> None:
    place = find_place(ON_HADOOP, ".", "hadoop: {datanodes: 3, yarn: true}")
    assert requests == [(place.target, ClusterSpec(datanodes=3, yarn=True), ())]
    assert place.folder == Path()


def test_hdfs_target_works_in_the_temporary_folder(
    requests: list[object],
) -> None:
    place = find_place(ON_HADOOP, "hdfs://namenode:8020/bench", ONE)
    assert place.target == HdfsTarget("hdfs://namenode:8020/bench")
    assert place.folder == Path(tempfile.gettempdir())
    assert requests == [(place.target, ClusterSpec(), ())]


@pytest.mark.parametrize(
    ("definition", "target", "section", "message"),
    [
        (dfsio.READ, "hdfs://namenode/bench", ONE, "it works on files of this host"),
        (dfsio.READ, ".", "hadoop: {datanodes: 2}", "dfsio-read runs on none"),
        (ON_HADOOP, "hdfs:///bench", "hadoop: {yarn: true}", "the target is one already"),
        (ON_HADOOP, "hdfs://namenode", ONE, "name a folder in which the study may work"),
        (ON_HADOOP, "s3://bucket/bench", ONE, "or hdfs://..."),
    ],
)
def test_conflicting_options_are_refused(definition, target, section, message) -> None:
    with pytest.raises(UsageError, match=message):
        find_place(definition, target, section)


@pytest.mark.parametrize(
    ("section", "message"),
    [("hadoop: {datanodes: 0}", "line 1: hadoop.datanodes"), ("hadop: {}", "did you mean hadoop")],
)
def test_a_wrong_section_is_refused(section, message) -> None:
    with pytest.raises(StudyError, match=message):
        find_place(ON_HADOOP, ".", section)
