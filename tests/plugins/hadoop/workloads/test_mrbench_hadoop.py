"""MRBench itself, on a cluster that runs."""

from __future__ import annotations

import pytest

from iostudy.workloads.workload import Place
from iostudy_hadoop.shell import Shell
from iostudy_hadoop.workloads.mrbench import HADOOP_MRBENCH


@pytest.fixture
def place(hadoop_cluster, tmp_path):
    client = hadoop_cluster.configured({}, restart=False)
    return Place(tmp_path, seed=1, service=client)


def test_jobs_run_one_after_another_and_nothing_is_left(place):
    options = HADOOP_MRBENCH.options.model_validate({"jobs": 2, "input_lines": 5})
    workload = HADOOP_MRBENCH.make(options)
    measured = workload.run(place)
    workload.clean(place)
    figures = measured.figures
    assert figures["job_time_min"] <= figures["job_time_median"] <= figures["job_time_max"]
    assert figures["job_time"] == pytest.approx(figures["job_time_median"], abs=0.001)
    assert sum(count for _, count in measured.latencies["job"]) == 2
    assert (figures["map_tasks"], figures["reduce_tasks"]) == (2, 2)
    assert "1 map tasks instead of the requested 2" in measured.notes[0]
    assert any((place.service.scratch.parent / "staging").iterdir()), "it is in /tmp/hadoop"
    Shell.for_client(place.service).make_folder(f"{place.service.folder}/mrbench")
    workload.clean(place)
