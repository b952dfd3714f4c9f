"""The section ``hadoop``, targets in HDFS, and what of both does not fit the rest of a study."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.errors import StudyError
from iostudy.study.privileges import list_root_requirements
from iostudy_hadoop.spec import ClusterSpec
from iostudy_hadoop.study.target import HdfsTarget
from tests.study.files import JOB, ON_HADOOP, add_job, problems, read

STUDY = ON_HADOOP
IN_HDFS = STUDY.replace("/data/scratch", "hdfs://nn.example:8020/bench")


@pytest.fixture(autouse=True)
def some_job(monkeypatch):
    add_job(monkeypatch)


def located_problems(text: str) -> list[tuple[int, str, str]]:
    return [(each.line, each.path, each.message) for each in problems(text)]


def only(text: str) -> tuple[int, str]:
    ((line, _, message),) = located_problems(text)
    return line, message


def test_a_study_without_the_section_starts_a_cluster_as_it_is_by_default():
    study = read(STUDY)
    assert study.services["hadoop"] == ClusterSpec()
    assert study.service
    assert [c.settings for c in study.configurations()] == [
        {"hadoop.dfs.blocksize": str(128 << 20)},
        {"hadoop.dfs.blocksize": str(64 << 20)},
    ]


def test_a_whole_section():
    study = read(
        STUDY
        + """\
hadoop:
  datanodes: 3
  data_dirs: [/disk1/hdfs, /disk2/hdfs/]
  name_dirs: /disk3
  yarn: on
  version: 3.4.1
  properties:
    dfs.replication: 2
    io.file.buffer.size: 64KiB
    dfs.datanode.synconclose: true
    dfs.image.compress: false
"""
    )
    assert study.services["hadoop"] == ClusterSpec(
        datanodes=3,
        data_dirs=(Path("/disk1/hdfs"), Path("/disk2/hdfs")),
        name_dirs=(Path("/disk3"),),
        yarn=True,
        version="3.4.1",
        properties={
            "dfs.replication": "2",
            "io.file.buffer.size": "65536",
            "dfs.datanode.synconclose": "true",
            "dfs.image.compress": "false",
        },
    )
    assert read(study.text).services == study.services


def test_a_section_that_is_empty():
    assert read(STUDY + "hadoop: {}\n").services["hadoop"] == ClusterSpec()


def test_every_error_of_the_section_is_reported_at_its_line():
    found = located_problems(
        STUDY
        + """\
hadoop:
  datanodes: 65
  data_dirs: [disk1]
  name_dirs: ["/a,b"]
  yarn: perhaps
  version: 3.4
  datanode: 3
  properties:
    fs.defaultFS: hdfs://other
    dfs.blocksize: as-found
    dfs.replication: many
    hadoop.dfs.blocksize: 64MiB
    blocksize: 64MiB
    dfs.image.compress:
"""
    )
    lines = {line: message for line, _, message in found}
    assert lines.keys() == {8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 19, 20}
    assert "allowed: 64 or less" in lines[8]
    assert "absolute paths" in lines[9]
    assert "absolute paths" in lines[10]
    assert "write true or false" in lines[11]
    assert "such as 3.4.2" in lines[12]
    assert "unknown key" in lines[13]
    assert "which cluster is meant" in lines[15]
    assert "leave it out" in lines[16]
    assert "not a whole number" in lines[17]
    assert "unknown property of Hadoop's" in lines[18]
    assert "unknown property of Hadoop's" in lines[19]
    assert "a single value" in lines[20]


@pytest.mark.parametrize(
    "section", ["[]", "3", "{properties: []}", "{data_dirs: /}", "{data_dirs: [/a, /a/]}"]
)
def test_invalid_sections_are_refused(section):
    line, _ = only(STUDY + f"hadoop: {section}\n")
    assert line == 7


@pytest.mark.parametrize(
    ("written", "uri"),
    [
        ("hdfs://nn.example:8020/bench", "hdfs://nn.example:8020/bench"),
        ("hdfs:///bench", "hdfs:///bench"),
        (" hdfs://service/user/me//bench/ ", "hdfs://service/user/me/bench"),
        ("hdfs://10.0.0.1:9000/tmp/a_b.c=d", "hdfs://10.0.0.1:9000/tmp/a_b.c=d"),
    ],
)
def test_a_target_in_hdfs(written, uri):
    assert HdfsTarget.parse(written) == HdfsTarget(uri)
    assert read(STUDY.replace("/data/scratch", f'"{written}"')).target == HdfsTarget(uri)


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("hdfs:bench", "write hdfs://HOST:PORT/FOLDER"),
        ("hdfs:/bench", "write hdfs://HOST:PORT/FOLDER"),
        ("hdfs://nn:8020", "name a folder"),
        ("hdfs:///", "name a folder"),
        ("hdfs:////", "name a folder"),
        ("hdfs://nn:8020/bench?user=hdfs", "without a query"),
        ("hdfs://nn:8020/bench#top", "without a query or a fragment"),
        ("hdfs://me@nn:8020/bench", "no HOST:PORT"),
        ("hdfs://nn:0/bench", "no HOST:PORT"),
        ("hdfs://nn:65536/bench", "no HOST:PORT"),
        ("hdfs://nn:/bench", "no HOST:PORT"),
        ("hdfs://:8020/bench", "no HOST:PORT"),
        ("hdfs://-nn/bench", "no HOST:PORT"),
        ("hdfs:///../bench", "neither . nor .."),
        ("hdfs:///a/./b", "neither . nor .."),
        ("hdfs:///a/*", "a folder's path has"),
        ("hdfs:///a%2f..", "a folder's path has"),
        ("hdfs:///a b", "a folder's path has"),
    ],
)
def test_invalid_hdfs_folders_are_refused(written, why):
    line, message = only(STUDY.replace("/data/scratch", f'"{written}"'))
    assert line == 2
    assert why in message


@pytest.mark.parametrize("target", ["s3a://bucket/x", "file:///tmp", "HDFS://nn/bench"])
def test_other_targets_by_uri(target):
    _, message = only(STUDY.replace("/data/scratch", target))
    assert "or hdfs://..." in message


@given(st.text(st.sampled_from("ab9.:/@?#%-_ \n*"), max_size=30))
def test_a_target_in_hdfs_never_leaves_its_folder(text):
    try:
        uri = HdfsTarget.parse(f"hdfs://{text}").uri
    except ValueError:
        return
    assert HdfsTarget.parse(uri).uri == uri
    path = uri.removeprefix("hdfs://").partition("/")[2]
    assert path
    assert not {"", ".", ".."} & set(path.split("/"))
    assert not set(path) & set("@?#%: \n*") - {"@"}


@pytest.mark.parametrize("target", ["/data/scratch", "{loopback: {size: 2GiB}}"])
def test_hadoop_without_a_workload_of_its_own(target):
    text = STUDY.replace("/data/scratch", target).replace(JOB, "dfsio-write")
    assert located_problems(text + "hadoop: {yarn: true}\n") == [
        (4, "factors.hadoop.dfs.blocksize", IDLE),
        (7, "hadoop", IDLE),
    ]


IDLE = "no workload of this study runs on Hadoop; add one, or leave this out"


def test_a_cluster_that_is_there_is_not_described():
    line, message = only(IN_HDFS + "hadoop: {datanodes: 3}\n")
    assert line == 7
    assert "leave the section out" in message


def test_a_cluster_that_is_there_is_not_restarted():
    daemons = "\n  hadoop.dfs.datanode.handler.count: [10, 20]"
    text = IN_HDFS.replace("[128MiB, 64MiB]", "[128MiB, 64MiB]" + daemons)
    line, message = only(text)
    assert line == 5
    assert "a cluster that is there is not restarted" in message
    assert read(text.replace("hdfs://nn.example:8020/bench", "/data/scratch"))


def test_a_native_workload_does_not_work_in_hdfs():
    line, message = only(IN_HDFS.replace(JOB, f"{JOB}\n  - dfsio-write"))
    assert line == 7
    assert "it would not work in HDFS" in message


def test_a_native_workload_with_one_of_hadoop_on_its_own_cluster():
    assert len(read(STUDY.replace(JOB, f"{JOB}\n  - dfsio-write")).workloads) == 2


@pytest.mark.parametrize("key", ["dfs.blocksize: [1MiB, 2MiB]", "dfs.replication: [1]"])
def test_a_property_that_all_workloads_set_is_no_factor(key):
    text = STUDY.replace("dfs.blocksize: [128MiB, 64MiB]", key)
    line, message = only(text.replace(JOB, "hadoop.nnbench"))
    assert line == 4
    assert "options of their own" in message
    assert read(text.replace(JOB, f"hadoop.nnbench\n  - {JOB}"))


def test_a_property_stands_in_one_place():
    text = STUDY + "hadoop: {properties: {dfs.blocksize: 1GiB}}\n"
    line, message = only(text)
    assert line == 4
    assert "leave it out there" in message


def test_more_replicas_than_datanodes():
    factor = STUDY.replace("dfs.blocksize: [128MiB, 64MiB]", "dfs.replication: [as-found, 1, 3]")
    assert only(factor + "hadoop: {datanodes: 2}\n")[0] == 4
    assert read(factor + "hadoop: {datanodes: 3}\n")
    assert read(factor.replace("/data/scratch", "hdfs:///bench"))
    given = "hadoop:\n  datanodes: 2\n  properties:\n    dfs.replication: 3\n"
    line, message = only(STUDY + given)
    assert line == 10
    assert "more replicas than DataNodes (2)" in message


@pytest.mark.parametrize(
    ("factor", "runs", "idle"),
    [
        ("mapreduce.map.memory.mb: [1024, 2048]", "true", "false"),
        ("mapreduce.local.map.tasks.maximum: [1, 2]", "false", "true"),
        ("yarn.nodemanager.vmem-check-enabled: [true, false]", "true", "false"),
    ],
)
def test_properties_that_the_runner_ignores_are_refused(factor, runs, idle):
    text = STUDY.replace("dfs.blocksize: [128MiB, 64MiB]", factor)
    assert read(text + f"hadoop: {{yarn: {runs}}}\n")
    line, message = only(text + f"hadoop: {{yarn: {idle}}}\n")
    assert line == 4
    assert f"write hadoop: {{yarn: {runs}}}" in message


def test_short_circuit_reads_take_a_socket():
    text = STUDY.replace(
        "dfs.blocksize: [128MiB, 64MiB]", "dfs.client.read.shortcircuit: [false, true]"
    )
    line, message = only(text)
    assert line == 4
    assert "dfs.domain.socket.path" in message
    assert read(text + "hadoop: {properties: {dfs.domain.socket.path: /run/hdfs/_PORT}}\n")


SCHEDULER = "block.scheduler: [none, bfq]"


def test_a_device_that_holds_no_data_is_named():
    text = STUDY.replace("hadoop.dfs.blocksize: [128MiB, 64MiB]", SCHEDULER)
    elsewhere = "hadoop: {data_dirs: [/disk1, /disk2]}\n"
    line, message = only(text + elsewhere)
    assert line == 4
    assert "on: [...]" in message
    on = SCHEDULER.replace("[none, bfq]", "{levels: [none, bfq], on: [/disk1, /disk2]}")
    assert read(text.replace(SCHEDULER, on) + elsewhere)
    assert read(text + "hadoop: {name_dirs: [/disk1]}\n")
    assert only(text.replace("/data/scratch", "hdfs:///bench"))[0] == 4
    assert read(text.replace("/data/scratch", "hdfs:///bench").replace(SCHEDULER, on))


def test_a_file_system_that_holds_no_data():
    text = STUDY.replace("hadoop.dfs.blocksize: [128MiB, 64MiB]", "filesystem.type: [ext4, xfs]")
    text = text.replace("/data/scratch", "{loopback: {size: 2GiB}}")
    assert read(text)
    line, message = only(text + "hadoop: {data_dirs: [/disk1]}\n")
    assert line == 4
    assert "leave data_dirs out" in message
    text = text.replace("{loopback: {size: 2GiB}}", "hdfs:///bench")
    assert "file systems are only made on a disk" in only(text)[1]


def test_limits_do_not_reach_the_daemons_of_a_cluster_that_is_there():
    text = STUDY.replace("hadoop.dfs.blocksize: [128MiB, 64MiB]", "limit.nofile_soft: [1024, 4096]")
    assert read(text)
    line, message = only(text.replace("/data/scratch", "hdfs:///bench"))
    assert line == 4
    assert "not for the daemons" in message


@pytest.mark.parametrize(
    ("factor", "why"),
    [
        ("hadoop.fs.defaultFS: [a, b]", "which cluster is meant"),
        ("hadoop.dfs.datanode.data.dir: [/a, /b]", "a place for files"),
        ("hadoop.blocksize: [1MiB, 2MiB]", "unknown factor"),
        ("hadoop.dfs.checksum.type: offered", "no levels that a host offers"),
        ("hadoop.dfs.blocksize: {levels: [1MiB], on: sda}", "leave on out"),
    ],
)
def test_invalid_factors_are_refused(factor, why):
    assert why in only(STUDY.replace("hadoop.dfs.blocksize: [128MiB, 64MiB]", factor))[1]


def test_hadoop_needs_no_root():
    assert list_root_requirements(read(STUDY)) == ()
    fallback = "without_root: {factors: {hadoop.dfs.blocksize: [128MiB, 64MiB]}}\n"
    text = STUDY.replace("hadoop.dfs.blocksize: [128MiB, 64MiB]", SCHEDULER) + fallback
    assert list_root_requirements(read(text)) == ("change block.scheduler",)
    assert list_root_requirements(read(text).without_root()) == ()


def test_factors_without_root_are_checked_too():
    fallback = "without_root: {factors: {hadoop.dfs.replication: [1, 3]}}\n"
    assert "more replicas than DataNodes (1)" in only(STUDY + fallback)[1]


def test_a_mix_has_no_workloads_of_hadoop():
    mixed = f"mix: {{workloads: {{a: dfsio-read, b: {JOB}}}}}"
    with pytest.raises(StudyError, match="unknown key"):
        read(STUDY.replace(f"- {JOB}", f"- {mixed}"))
