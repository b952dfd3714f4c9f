"""NNBench with something in Java's place: which runs count, and what is said of the others."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pydantic import ValidationError

from iostudy.errors import UsageError, WorkloadError
from iostudy.workloads.option_text import format_options
from iostudy_hadoop.conf.configuration import HadoopConfiguration
from iostudy_hadoop.workloads.counter_figures import TASK_FIGURES
from iostudy_hadoop.workloads.nnbench import HADOOP_NNBENCH

pytestmark = pytest.mark.child

SAMPLES = Path(__file__).parents[1] / "tools/samples"
TASKS = [figure.name for figure in TASK_FIGURES]
"""Read from the counters of a job, which does not exist here."""

AT_ONCE = "mapreduce.local.map.tasks.maximum"
WAITING = "echo 'INFO hdfs.NNBench: Waiting in barrier for: 5790 ms' >&2"


@pytest.fixture
def run(make, tmp_path):
    """A run of two maps with 100 files each that reports a sample, ``waited`` for in its log."""

    def run(sample, *, waited=2, status=0, properties=None, yarn=False, **options):
        HadoopConfiguration.with_all({AT_ONCE: "12"} if properties is None else properties).write(
            tmp_path
        )
        does = [f"cat {SAMPLES / sample} >> NNBench_results.log", *[WAITING] * waited]
        place = make("\n".join([*does, f"exit {status}"]), yarn=yarn)
        return workload(**options).run(place)

    return run


def workload(**options):
    definition = HADOOP_NNBENCH
    return definition.make(definition.options.model_validate({"files": 100, **options}))


def test_the_figures_are_those_of_nnbench(run):
    figures = run("nnbench-create-write-3.4.2").figures
    assert (figures["tps"], figures["exec_time"]) == (13, 29.116)
    assert figures["rate"] == pytest.approx(200 / 29.116)
    assert figures["tps"] == int(2 * figures["rate"])
    assert (figures["create_latency"], figures["close_latency"]) == (7.765, 267.12)
    assert figures["file_time"] == 275.12
    assert figures["overlap"] == pytest.approx(100 * 55_024 / (2 * 29_116))


@pytest.mark.parametrize(
    ("sample", "options", "latencies"),
    [
        ("create-write", {}, ["create_latency", "close_latency"]),
        ("open-read", {"read_after_open": True}, ["open_latency", "read_latency"]),
        ("rename", {}, ["rename_latency"]),
    ],
)
def test_the_figures_are_those_of_the_definition(run, sample, options, latencies):
    options |= {"operation": sample.replace("-", "_")}
    figures = run(f"nnbench-{sample}-3.4.2", **options).figures
    defined = HADOOP_NNBENCH.figures(workload(**options).options)
    assert [*figures, *TASKS] == [figure.name for figure in defined]
    assert [name for name in figures if name.endswith("_latency")] == latencies


@pytest.mark.parametrize("status", [0, 255])
def test_exceptions_are_an_error_whatever_the_exit_code_says(run, status):
    with pytest.raises(WorkloadError, match="2000 exceptions, 0 of 100 operations succeeded"):
        run("nnbench-delete-exceptions-3.4.2", status=status, files=50, operation="delete")


def test_failure_without_a_result_is_reported(make, tmp_path):
    HadoopConfiguration.with_all({AT_ONCE: "2"}).write(tmp_path)
    (tmp_path / "NNBench_results.log").write_text("of a run before\n")
    with pytest.raises(WorkloadError, match="exit code 1; it printed: no such host"):
        workload().run(make("echo no such host >&2; exit 1"))


def test_late_maps_of_2x_are_an_error(run):
    with pytest.raises(WorkloadError, match="1 of 3 maps that missed the barrier, 2000 of 3000"):
        run("nnbench-late-2.7", maps=3, files=1000, operation="open_read")


def test_late_maps_of_3x_are_an_error_though_it_does_not_count_them(run):
    with pytest.raises(WorkloadError, match="only 1 of 2 were ready before"):
        run("nnbench-create-write-3.4.2", waited=1)


def test_one_map_alone_cannot_be_late(run):
    run("nnbench-create-write-3.4.2", waited=0, maps=1, files=200)


def test_files_are_made_by_maps_that_are_late(make, tmp_path):
    HadoopConfiguration.with_all({AT_ONCE: "2"}).write(tmp_path)
    made = SAMPLES / "nnbench-create-write-3.4.2"
    place = make(f"cat {made} >> NNBench_results.log")
    workload(operation="open_read").prepare(place)
    workload(operation="delete").reset(place)


def test_maps_that_did_not_work_together_are_an_error(run):
    with pytest.raises(WorkloadError, match="found:  on average 49% of them were at work"):
        run("nnbench-rename-3.4.2", yarn=True, waited=0, maps=4, files=50, operation="rename")


def test_unreported_operations_are_an_error(run):
    with pytest.raises(WorkloadError, match="found:  0 of 12000 operations succeeded"):
        run("nnbench-several-reduces-2.5.0", waited=12, maps=12, files=1000)


def test_invalid_result_is_an_error(run, tmp_path):
    (tmp_path / "empty").touch()
    with pytest.raises(WorkloadError, match="the result of NNBench"):
        run(tmp_path / "empty")


@pytest.mark.parametrize("properties", [{}, {AT_ONCE: "1"}, {AT_ONCE: "${some.other}"}])
def test_a_local_runner_that_may_not_run_all_maps_at_once_is_refused(run, calls, properties):
    with pytest.raises(UsageError, match="the others would be late"):
        run("nnbench-rename-3.4.2", properties=properties)
    assert calls() == []
    run("nnbench-create-write-3.4.2", properties=properties, yarn=True)


@pytest.mark.parametrize(("block_size", "least"), [("512KiB", None), ("1MiB", "2m")])
def test_blocks_that_no_name_node_takes_are_refused(run, calls, block_size, least):
    properties = {"dfs.namenode.fs-limits.min-block-size": least} if least else {}
    with pytest.raises(UsageError, match="min-block-size"):
        run("nnbench-rename-3.4.2", properties=properties, block_size=block_size)
    assert calls() == []


@pytest.mark.parametrize(("yarn", "start_after", "least"), [(False, None, 20), (True, None, 60)])
def test_all_maps_begin_at_a_time_to_come(run, calls, yarn, start_after, least):
    before = time.time()
    run("nnbench-create-write-3.4.2", yarn=yarn, start_after=start_after)
    start = int(calls()[0].partition("-startTime ")[2].partition(" ")[0])
    assert before + least <= start <= time.time() + least + 1


def test_files_are_there_once_for_reading_and_every_time_for_what_uses_them_up():
    kept = {
        operation: workload(operation=operation).preparation()
        for operation in ("create_write", "open_read", "rename", "delete")
    }
    assert [operation for operation, key in kept.items() if key] == ["open_read"]
    assert workload(operation="open_read", files=7).preparation() != kept["open_read"]
    read = workload(operation="open_read", read_after_open=True)
    assert read.preparation() == kept["open_read"]
    assert read.reads() and not workload(operation="open_read").reads()


def test_the_room_grows_with_blocks_and_checksums():
    assert workload(files=1000, maps=2).space_bytes() == 2000 * 1024
    one = workload(files=1, maps=1, bytes_to_write="4KiB", bytes_per_checksum=512)
    assert one.space_bytes() == 4096 + 4096 + 1024
    assert (
        workload(files=1, maps=1, bytes_to_write=1, replication=3).space_bytes() == 3 * 8192 + 1024
    )


def test_a_block_of_whole_checksums():
    with pytest.raises(ValidationError, match="multiple of bytes_per_checksum"):
        workload(block_size="1MiB", bytes_per_checksum=1000)


def test_options_of_a_study_become_options_of_nnbench():
    written = format_options(workload(start_after="20s", bytes_to_write="1MiB").options)
    assert written["start_after"] == "20s"
    assert written["bytes_to_write"] == "1MiB"
