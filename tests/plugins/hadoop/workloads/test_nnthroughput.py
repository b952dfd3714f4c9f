"""Tests of hadoop.nnthroughput: refused options and the program's arguments."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from iostudy.account import Account
from iostudy.errors import TargetError, UsageError
from iostudy.workloads.option_text import format_options
from iostudy.workloads.workload import Place
from iostudy_hadoop.workloads.nnthroughput import HADOOP_NNTHROUGHPUT, _NameNode


def make(**options):
    return HADOOP_NNTHROUGHPUT.make(HADOOP_NNTHROUGHPUT.options.model_validate(options))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"logs": "none"}, "does not start without an edit log"),
        ({"logs": "a, a"}, "occurs twice"),
        ({"operations": "create, create"}, "each once"),
        ({"operations": ""}, "one operation or several"),
        ({"version": "new"}, "pattern"),
    ],
)
def test_impossible_options_are_refused_with_the_reason(options, why):
    with pytest.raises(ValidationError, match=why):
        make(**options)


def test_missing_directory_fails_before_any_work(tmp_path):
    with pytest.raises(TargetError, match="does not exist"):
        make(logs=str(tmp_path / "no")).check()


def test_root_starts_no_name_node_in_a_folder_of_another_user(tmp_path):
    account = Account.of_owner(12345)
    with pytest.raises(UsageError, match="belongs to user 12345"):
        make().prepare(Place(tmp_path, seed=1, account=account))
    assert not list(tmp_path.iterdir())


def test_name_node_configuration_has_log_directories_and_sync_mode():
    options = make(sync="dsync", asynchronous=False).options
    logs = [Path("/a,b"), Path("/c d")]
    properties = (
        _NameNode(options, Path("/home"), logs)._configuration(Path("/image"), logs).effective()
    )
    assert properties["dfs.namenode.name.dir"] == "file:///image"
    assert properties["dfs.namenode.edits.dir"] == "file:///a%2Cb,file:///c%20d"
    assert properties["dfs.namenode.edits.noeditlogchannelflush"] == "true"
    assert properties["dfs.namenode.edits.asynclogging"] == "false"


def test_the_benchmark_needs_no_cluster_and_has_the_options_of_the_native_model():
    assert not HADOOP_NNTHROUGHPUT.service
    options = make(logs=["log", "/disk2/journal"], operations="create").options
    assert format_options(options)["logs"] == "log, /disk2/journal"


def test_trials_with_other_logs_are_cleaned_apart():
    assert make(logs="a").preparation() != make(logs="/disk2").preparation()
    assert make(logs="a", threads=1).preparation() == make(logs="a", threads=2).preparation()


def test_logs_elsewhere_take_no_room_in_the_target():
    assert make(logs="/disk2").space_bytes() == 0
    assert make(logs="a, b").space_bytes() == 2 * make(logs="a, /disk2").space_bytes() > 0
    assert make(logs="a, disk2:a").space_bytes() == make(logs="a").space_bytes()


def test_further_directories_are_reported():
    workload = make(logs="a, disk2:a, /disk3")
    assert workload.disks() == {"disk2"}
    assert workload.directories() == (Path("/disk3"),)
