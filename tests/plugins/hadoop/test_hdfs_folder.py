"""The study's folder in the HDFS of a cluster that is there, with a Java that only notes."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.errors import ClusterError, RestoreError
from iostudy.settings import kinds
from iostudy.settings.change import ConflictPolicy
from iostudy.settings.transaction.journal import Journal, JournalMode
from iostudy.settings.transaction.recovery import restore_all, restore_stale
from iostudy.settings.transaction.transaction import Transaction
from iostudy_hadoop.conf.configuration import HadoopConfiguration
from iostudy_hadoop.existing.cluster import Access, ExistingCluster
from iostudy_hadoop.existing.namenodes import Hdfs, NameNode
from iostudy_hadoop.hdfs_folder import HdfsFolder
from iostudy_hadoop.shell import Shell
from iostudy_hadoop.software.artifacts import Distribution
from iostudy_hadoop.software.java import Java

URI = "hdfs://nn:8020/bench/iostudy-work-0123456789abcdef"


@pytest.fixture
def java(tmp_path: Path) -> Path:
    """A Java that records its arguments, and prints what ``says`` does."""
    program = tmp_path / "java"
    program.write_text(f'#!/bin/sh\ncd {tmp_path}\necho "$*" >>asked\n. ./says\n')
    program.chmod(0o755)
    (tmp_path / "says").write_text("case \"$*\" in *-rm*) echo 'Deleted hdfs:///it';; esac\n")
    return program


@pytest.fixture
def namenode() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def folder(java: Path, namenode: str, tmp_path: Path) -> HdfsFolder:
    shell = Shell(java, ("-Da=b",), "/conf:/lib/*", tmp_path)
    return HdfsFolder(URI, "iostudy-7", yarn=False, rpc=(namenode,), shell=shell)


@pytest.fixture
def cluster(java: Path, namenode: str, tmp_path: Path) -> ExistingCluster:
    access = Access(
        conf=tmp_path / "conf",
        configuration=HadoopConfiguration.with_all({"mapreduce.framework.name": "yarn"}),
        hdfs=Hdfs("hdfs://nn:8020/bench", (NameNode(namenode, ()),)),
        web=None,
        java=Java(java, "17", ()),
        java_options=("-Da=b",),
        distribution=Distribution("3.4.2", "/lib/*", "a test"),
    )
    return ExistingCluster(access, tmp_path / "home")


def requests(java: Path) -> list[str]:
    """The last words of each call."""
    return [line.split(" ")[-1] for line in (java.parent / "asked").read_text().splitlines()]


def test_the_folder_is_created_and_removed_with_the_transaction(
    folder: HdfsFolder, java: Path
) -> None:
    with Transaction() as transaction:
        transaction.apply(folder)
        assert requests(java) == [URI]
        restored = transaction.restore()
    assert restored == (f"work folder {URI}: removed",)
    assert len(requests(java)) == 2


def test_another_process_removes_it(folder: HdfsFolder, java: Path, state_dir: Path) -> None:
    journal = Journal.create(state_dir, JournalMode.STUDY, "iostudy run old")
    journal.log_changes([folder])
    journal.close()
    undoing = restore_stale().undo_result
    assert not undoing.failures
    assert undoing.restored_values == (f"work folder {URI}: removed",)
    assert "-skipTrash" in (java.parent / "asked").read_text()
    assert not list(state_dir.glob("*.journal"))


def test_the_folder_is_prepared_for_a_cluster(
    cluster: ExistingCluster, java: Path, namenode: str, tmp_path: Path
) -> None:
    prepared = HdfsFolder.prepare(cluster)
    assert prepared.uri.startswith("hdfs://nn:8020/bench/iostudy-work-")
    assert (prepared.yarn, prepared.rpc, prepared.cluster) == (True, (namenode,), cluster)
    assert prepared.shell.classpath == f"{tmp_path / 'conf'}:/lib/*"
    assert (prepared.shell.conf / "core-site.xml").exists()
    assert kinds.rebuild_change(prepared.kind, prepared.record()) == prepared
    assert requests(java) == ["hdfs://nn:8020/bench"]


def test_missing_authentication_is_an_error_before_anything_is_announced(
    cluster: ExistingCluster, java: Path, state_dir: Path
) -> None:
    """What was announced would have to be undone, which needs the same ticket."""
    (java.parent / "says").write_text(
        "echo 'ls: Client cannot authenticate via:[TOKEN, KERBEROS]'; exit 1\n"
    )
    with pytest.raises(ClusterError, match="kinit"), Transaction() as transaction:
        transaction.apply(HdfsFolder.prepare(cluster))
    assert not list(state_dir.glob("*.journal"))


def test_the_record_restores_the_change(folder: HdfsFolder) -> None:
    record = json.loads(json.dumps(folder.record()))
    assert kinds.rebuild_change(folder.kind, record) == folder


@pytest.mark.parametrize("uri", ["hdfs://nn/", "hdfs://nn/bench", "/", f"{URI}/../..", f"x{URI}y"])
def test_no_other_folder_is_removed(folder: HdfsFolder, uri: str) -> None:
    with pytest.raises(RestoreError):
        kinds.rebuild_change(folder.kind, {**folder.record(), "uri": uri})


def test_a_folder_that_was_never_made_is_not_reported(folder: HdfsFolder, java: Path) -> None:
    (java.parent / "says").write_text("")
    assert folder.undo() == ()


def test_the_studys_jobs_are_killed_before(folder: HdfsFolder, java: Path) -> None:
    (java.parent / "says").write_text(
        "case \"$*\" in *-list*) echo 'application_17_0001  TeraGen';;\n"
        "*-rm*) echo 'Deleted x'; esac\n"
    )
    restored = replace(folder, yarn=True).undo()
    assert restored == ("job application_17_0001 in YARN: killed", f"work folder {URI}: removed")
    assert "-appTags iostudy-7" in (java.parent / "asked").read_text()
    assert requests(java)[1:] == ["application_17_0001", URI]


def test_the_folder_goes_also_where_yarn_does_not_answer(folder: HdfsFolder, java: Path) -> None:
    (java.parent / "says").write_text(
        'case "$*" in *-list*) echo "ConnectException: Connection refused"; exit 1; esac\n'
    )
    with pytest.raises(RestoreError, match="no server listens"):
        replace(folder, yarn=True).undo()
    assert requests(java)[-1] == URI


def gone(folder: HdfsFolder) -> HdfsFolder:
    """The same where no NameNode listens any more."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return replace(folder, rpc=(f"127.0.0.1:{free.getsockname()[1]}",))


def test_a_cluster_that_does_not_answer_is_reported_and_tried_again(
    folder: HdfsFolder, java: Path, state_dir: Path
) -> None:
    journal = Journal.create(state_dir, JournalMode.STUDY, "iostudy run old")
    journal.log_changes([gone(folder)])
    journal.close()
    (failure,) = restore_stale().undo_result.failures
    assert "Connection refused" in failure.found
    assert "iostudy restore --accept" in failure.remedy
    assert not (java.parent / "asked").exists()
    assert list(state_dir.glob("*.journal"))
    undoing = restore_all(policy=ConflictPolicy.ACCEPT).undo_result
    assert not undoing.failures
    assert "left there" in str(undoing.restored_values[0])
    assert not list(state_dir.glob("*.journal"))


def test_a_folder_that_cannot_be_created_is_an_error_with_the_reason(
    folder: HdfsFolder, java: Path
) -> None:
    (java.parent / "says").write_text(
        "case \"$*\" in *-mkdir*) echo 'mkdir: Permission denied: user=me'; exit 1; esac\n"
    )
    with pytest.raises(ClusterError, match="does not permit"), Transaction() as transaction:
        transaction.apply(folder)
