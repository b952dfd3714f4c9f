"""Figures from the counters of jobs, as samples have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.errors import WorkloadError
from iostudy_hadoop.workloads import counter_figures, job

pytestmark = pytest.mark.child

SAMPLES = Path(__file__).parents[1] / "tools/samples"


@pytest.fixture
def ran(make):
    def ran(*samples):
        texts = " ".join(f"{SAMPLES}/log-{name}" for name in samples)
        return job.run_program(make(f"cat {texts} >&2"), "a.Main", limit_seconds=20.0)

    return ran


def test_a_job_on_yarn_has_the_sums_of_its_tasks(ran):
    figures = counter_figures.read_figures(ran("wordcount-2.2-yarn"), replication=3)
    assert figures["hdfs_read"] == 260407668
    assert figures["hdfs_written"] == 17681802
    assert figures["local_read"] == 655771325
    assert figures["local_written"] == 984244425
    assert figures["bytes"] == 260407668 + 3 * 17681802 + 655771325 + 984244425
    assert figures["spilled_records"] == 67418820
    assert (figures["map_tasks"], figures["reduce_tasks"]) == (4, 5)
    assert (figures["gc_time"], figures["cpu_time"]) == (2.826, 69.67)


def test_bytes_of_the_local_runner_are_those_of_the_process_once(ran):
    """12 MiB were written; the job's own counter adds up the counts of each task so far."""
    figures = counter_figures.read_figures(ran("dfsio-3.4.2-local"), replication=1)
    assert figures["hdfs_written"] == 12583322
    assert figures["hdfs_read"] == 336
    assert figures["bytes"] == 336 + 12583322 + 1665467 + 2355069
    assert 0 < figures["cpu_time"] < 10


def test_missing_counters_are_omitted(make):
    ran = job.run_program(make("true"), "a.Main", limit_seconds=20.0)
    assert counter_figures.read_figures(ran, replication=1) == {}


def test_all_figures_are_declared(ran):
    declared = {figure.name for figure in counter_figures.FIGURES}
    for sample in ("wordcount-2.2-yarn", "teragen-3.4.2-yarn", "terasort-2.7.7-local"):
        assert counter_figures.read_figures(ran(sample), replication=1).keys() == declared


def test_records_are_those_of_all_jobs(ran):
    both = ran("teragen-3.4.2-yarn", "teragen-3.4.2-local")
    assert counter_figures.count_records(both, "Map output records") == 40_000
    with pytest.raises(WorkloadError, match="the counter Reduce output records"):
        counter_figures.count_records(both, "Reduce output records")
