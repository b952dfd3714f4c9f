"""NNBench itself, on a name-node that runs, or that fails while it is at work."""

from __future__ import annotations

import os
import signal
import subprocess
import threading

import pytest

from iostudy.errors import ClusterError, WorkloadError
from iostudy.workloads.workload import Place
from iostudy_hadoop.workloads.nnbench import HADOOP_NNBENCH

ALONE = {"maps": 1, "files": 100, "start_after": "1ms"}
"""One map needs not wait for another, however busy the machine is."""
ENDLESS = {**ALONE, "files": 1_000_000}


@pytest.fixture
def place(hadoop_cluster, tmp_path):
    client = hadoop_cluster.configured({}, restart=False)
    return Place(tmp_path, seed=1, service=client)


@pytest.fixture
def workload(place):
    made = []

    def make(**options):
        definition = HADOOP_NNBENCH
        made.append(definition.make(definition.options.model_validate({**ALONE, **options})))
        return made[-1]

    yield make
    for each in made:
        each.clean(place)


@pytest.mark.slow
def test_files_are_made_and_renamed(place, workload):
    renaming = workload(operation="rename", bytes_to_write="10KiB", replication=2)
    renaming.reset(place)
    figures = renaming.run(place).figures
    assert figures["tps"] == int(figures["rate"]) > 0
    assert figures["rate"] == pytest.approx(100 / figures["exec_time"])
    assert 0 < figures["rename_latency"] <= figures["file_time"] < 1000 * figures["exec_time"]
    assert figures["overlap"] == 100


@pytest.mark.slow
def test_files_are_made_once_and_read_twice(place, workload):
    reading = workload(operation="open_read", read_after_open=True, bytes_to_write="10KiB")
    reading.prepare(place)
    for _ in range(2):
        reading.reset(place)
        assert reading.run(place).figures["read_latency"] > 0


def test_exceptions_are_an_error(place, workload):
    with pytest.raises(WorkloadError) as caught:
        workload(operation="open_read").run(place)
    assert caught.value.found.startswith("1000 exceptions, 0 of 100 operations succeeded; ")
    assert "java.io.FileNotFoundException: File does not exist" in caught.value.found


def test_late_maps_are_an_error(place, workload):
    with pytest.raises(WorkloadError, match="only 0 of 2 were ready before they were to begin"):
        workload(maps=2).run(place)


@pytest.mark.slow
def test_maps_that_wait_for_each_other_work_at_the_same_time(place, workload):
    figures = workload(maps=2, start_after="45s").run(place).figures
    assert 75 <= figures["overlap"] <= 100
    assert figures["tps"] == int(2 * figures["rate"])


def later(seconds, does):
    """Do that so much later; join it to be sure."""
    timer = threading.Timer(seconds, does)
    timer.start()
    return timer


@pytest.mark.slow
def test_a_name_node_that_goes_into_safe_mode_is_an_error(place, workload):
    working = workload(**ENDLESS)
    entering = later(15, lambda: safe_mode(place.service, "enter"))
    try:
        with pytest.raises(WorkloadError, match="Name node is in safe mode"):
            working.run(place)
    finally:
        entering.join()
        safe_mode(place.service, "leave")


def safe_mode(client, state):
    command = client.command("org.apache.hadoop.hdfs.tools.DFSAdmin", "-safemode", state)
    subprocess.run(command, check=True, capture_output=True)


@pytest.mark.slow
def test_a_killed_name_node_ends_the_run(new_cluster, tmp_path):
    cluster = new_cluster()
    cluster.start()
    client = cluster.configured({}, restart=False)

    def kill():
        os.kill(cluster.facts()["daemons"]["namenode"]["pid"], signal.SIGKILL)

    definition = HADOOP_NNBENCH
    working = definition.make(definition.options.model_validate(ENDLESS))
    killing = later(10, kill)
    with pytest.raises(ClusterError, match="namenode"):
        working.run(Place(tmp_path, seed=1, service=client))
    killing.join()
