"""TeraGen, TeraSort and TeraValidate on a cluster."""

from __future__ import annotations

import pytest

from iostudy.errors import WorkloadError, WorkloadStoppedError
from iostudy.workloads.workload import Place
from iostudy_hadoop import jmx
from iostudy_hadoop.local.layout import RESOURCEMANAGER
from iostudy_hadoop.shell import Shell
from tests.plugins.hadoop import webhdfs
from tests.plugins.hadoop.workloads.helpers import require_declared, workload

ROWS = {"rows": "20k"}


def tera(name, **options):
    return workload(f"hadoop.tera{name}", **{**ROWS, **options})


def test_rows_are_made_sorted_and_validated(on_cluster, in_hdfs, hadoop_cluster):
    generating, sorting, validating = tera("gen"), tera("sort"), tera("validate")
    generating.reset(on_cluster)
    made = generating.run(on_cluster)
    require_declared("hadoop.teragen", made, **ROWS)
    assert made.figures["hdfs_written"] == 2_000_000
    assert made.figures["rows_per_second"] == pytest.approx(20_000 / made.figures["job_time"])
    assert made.notes == (
        "1 map tasks made the rows instead of the requested 2: to Hadoop it is a hint",
    )
    sorting.reset(on_cluster)
    sorted_ = sorting.run(on_cluster)
    require_declared("hadoop.terasort", sorted_, **ROWS)
    assert sorted_.figures["reduce_tasks"] == 2
    assert sorted_.figures["spilled_records"] >= 40_000
    validated = validating.run(on_cluster)
    require_declared("hadoop.teravalidate", validated, **ROWS)
    assert validated.figures["hdfs_read"] == 2_000_000
    (note,) = validated.notes
    assert note.endswith((on_cluster.directory / "hadoop-tera-checksum").read_text())

    _swap_the_sorted_files(hadoop_cluster)
    validating.reset(on_cluster)
    with pytest.raises(WorkloadError, match=r"errors in the rows, the first: bad key partition"):
        validating.run(on_cluster)
    webhdfs.delete(hadoop_cluster, "/iostudy/tera/out/part-r-00000")
    validating.reset(on_cluster)
    with pytest.raises(WorkloadError, match=r"20000 rows\n.*rows \(Map input records\)"):
        validating.run(on_cluster)

    validating.clean(on_cluster)
    assert "tera" not in in_hdfs()
    assert not list(on_cluster.directory.iterdir())


def _swap_the_sorted_files(cluster):
    folder = "/iostudy/tera/out/part-r-0000"
    first, second = (webhdfs.read(cluster, f"{folder}{index}") for index in (0, 1))
    for index, content in ((0, second), (1, first)):
        webhdfs.delete(cluster, f"{folder}{index}")
        webhdfs.write(cluster, f"{folder}{index}", content)


def test_missing_rows_are_reported(on_cluster):
    with pytest.raises(WorkloadError, match=r"Input path does not exist: .*/iostudy/tera/in"):
        tera("sort").run(on_cluster)
    tera("sort").clean(on_cluster)


@pytest.mark.slow
def test_a_stopped_job_is_killed_in_yarn(new_cluster, tmp_path):
    cluster = new_cluster(yarn=True)
    cluster.start()
    client = cluster.configured({}, restart=False)
    running = []

    def tick(_):
        running.extend(_applications(cluster, "RUNNING"))
        return not running

    with pytest.raises(WorkloadStoppedError):
        tera("gen", rows="2G").run(Place(tmp_path, seed=7, service=client, tick=tick))
    assert Shell.for_client(client).kill_jobs(client.tag) == ()
    assert _applications(cluster, "KILLED") == running[:1]


def _applications(cluster, state):
    """The applications in a state, as the ResourceManager lists them over HTTP."""
    answer = jmx.fetch(cluster.layout.web(RESOURCEMANAGER), f"/ws/v1/cluster/apps?states={state}")
    listed = answer["apps"] or {"app": []}
    return [each["id"] for each in listed["app"]]


def test_trials_share_what_they_can():
    made = tera("sort").preparation()
    assert tera("sort", reduces=7, output_replication=3).preparation() == made
    assert tera("sort", maps=7).preparation() != made
    assert tera("validate").preparation() != made
    assert tera("validate", reduces=7).preparation() != tera("validate").preparation()


def test_sorting_needs_room_for_what_is_spilled():
    assert tera("gen").space_bytes() == 2_000_000
    assert tera("sort").space_bytes() == tera("validate").space_bytes() == 8_000_000
    assert tera("sort").reads()
    assert not tera("gen").reads()
