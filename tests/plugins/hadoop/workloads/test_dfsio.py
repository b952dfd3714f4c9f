"""TestDFSIO on a cluster, and what is refused without one."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from pydantic import ValidationError

from iostudy.errors import ClusterError, WorkloadError
from iostudy.units import MIB
from iostudy.workloads.workload import Place
from tests.plugins.hadoop import webhdfs
from tests.plugins.hadoop.workloads.helpers import require_declared, workload

SMALL = {"files": 2, "size": "3MiB"}
SAMPLES = Path(__file__).parents[1] / "tools/samples"


def dfsio(name, **options):
    return workload(f"hadoop.dfsio-{name}", **{**SMALL, **options})


def test_written_files_can_be_read_in_other_orders(on_cluster, in_hdfs):
    dfsio("read").prepare(on_cluster)
    for order in ("read", "random-read"):
        measured = dfsio(order).run(on_cluster)
        require_declared(f"hadoop.dfsio-{order}", measured, **SMALL)
        assert measured.figures["throughput"] > 0
        assert measured.figures["hdfs_read"] >= 6 * MIB
    skipping = dfsio("skip-read", skip_size="2MB").run(on_cluster)
    # Of each file the records at 0 and at 3 MB.
    assert 2 * 1_100_000 < skipping.figures["hdfs_read"] < 2 * 1_200_000
    dfsio("read").clean(on_cluster)
    assert "dfsio" not in in_hdfs()
    assert not list(on_cluster.directory.iterdir())


def test_every_write_makes_new_files_through_the_requested_codec(on_cluster, in_hdfs):
    codec = "org.apache.hadoop.io.compress.DefaultCodec"
    writing = dfsio("write", compression=codec, storage_policy="HOT")
    for _ in range(2):
        writing.reset(on_cluster)
        assert "dfsio" not in in_hdfs()
        figures = writing.run(on_cluster).figures
    assert figures["aggregate"] == pytest.approx(6 / figures["exec_time"], rel=0.01)
    assert figures["hdfs_written"] < MIB
    assert figures["map_tasks"] == 2
    writing.clean(on_cluster)


@pytest.mark.slow
def test_every_trial_starts_with_the_same_files(hadoop_cluster, on_cluster):
    for name, size in (("append", 6 * MIB), ("truncate", 1_000_000)):
        changing = dfsio(name, **({"new_size": 1_000_000} if name == "truncate" else {}))
        changing.reset(on_cluster)
        figures = changing.run(on_cluster).figures
        assert figures["throughput"] > 0
        file = webhdfs.read(hadoop_cluster, "/iostudy/dfsio/io_data/test_io_1")
        assert len(file) == size
    changing.clean(on_cluster)


def test_missing_files_are_reported(on_cluster):
    with pytest.raises(WorkloadError, match=r"FileNotFoundException: .*io_data/test_io_"):
        dfsio("read").run(on_cluster)
    dfsio("read").clean(on_cluster)


def test_a_datanode_that_is_killed_ends_the_run_in_seconds(new_cluster, tmp_path):
    cluster = new_cluster(datanodes=1)
    cluster.start()
    place = Place(tmp_path, seed=7, service=cluster.configured({}, restart=False))
    pid = cluster.facts()["daemons"]["datanode0"]["pid"]
    data = cluster.data_dirs()[0]

    def tick(_):
        if any(path.stat().st_size > MIB for path in data.rglob("blk_*")):
            os.kill(pid, signal.SIGKILL)
        return True

    place = Place(tmp_path, seed=7, service=place.service, tick=tick)
    with pytest.raises(ClusterError, match="datanode0"):
        dfsio("write", files=1, size="100GiB").run(place)


@pytest.mark.child
def test_a_result_of_other_files_is_an_error(make):
    text = SAMPLES / "dfsio-3.4.2"
    does = f'for results; do :; done; cat {text} > "$results"'
    with pytest.raises(WorkloadError, match="it is of truncate with 2 files"):
        dfsio("write").run(make(does))


@pytest.mark.child
def test_a_run_without_a_result_is_an_error(make, tmp_path):
    (tmp_path / "dfsio-results.log").write_text((SAMPLES / "dfsio-3.4.2").read_text())
    with pytest.raises(WorkloadError, match="there is no result"):
        dfsio("truncate", size="6MiB", new_size="1MiB").run(make("true"))


def test_reads_share_what_was_written_whatever_their_records():
    made = dfsio("read").preparation()
    assert dfsio("random-read", record_size="4KiB").preparation() == made
    assert dfsio("skip-read", skip_size="1MiB").preparation() == made
    assert dfsio("read", size="4MiB").preparation() != made
    assert dfsio("read", compression="a.B").preparation() != made
    assert dfsio("read", storage_policy="HOT").preparation() != made


def test_room_is_that_of_all_files():
    assert dfsio("write").space_bytes() == 6 * MIB
    assert dfsio("append").space_bytes() == 12 * MIB
    assert dfsio("truncate").space_bytes() == 6 * MIB


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("truncate", {"new_size": "3MiB"}),
        ("random-read", {"compression": "a.B"}),
        ("write", {"record_size": "2GiB"}),
        ("write", {"limit": "0s"}),
        ("write", {"compression": ""}),
    ],
)
def test_invalid_options_are_refused_without_a_cluster(name, options):
    with pytest.raises(ValidationError):
        dfsio(name, **options)
