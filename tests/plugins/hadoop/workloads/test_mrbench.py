"""MRBench with something in Java's place: its own figures, and what is said of a bad result."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.errors import WorkloadError
from iostudy_hadoop.workloads.counter_figures import TASK_FIGURES
from iostudy_hadoop.workloads.mrbench import HADOOP_MRBENCH

pytestmark = pytest.mark.child

SAMPLE = Path(__file__).parents[1] / "tools/samples/mrbench-3.4.2"
JOB = """\
2026-11-21 18:43:45,185 INFO mapreduce.JobSubmitter: number of splits:{maps}
2026-11-21 18:43:45,561 INFO mapreduce.Job: Running job: job_local1_0001
2026-11-21 18:43:46,569 INFO mapreduce.Job: Job job_local1_0001 completed successfully
2026-11-21 18:43:46,576 INFO mapreduce.Job: Counters: 0
"""


def run(place, **options):
    definition = HADOOP_MRBENCH
    given = definition.options.model_validate({"jobs": 3, "input_lines": 20, **options})
    return definition.make(given).run(place)


def test_the_mean_is_that_of_mrbench_and_of_the_single_jobs(make, calls):
    measured = run(make(f"cat {SAMPLE}"))
    assert measured.figures == {
        "job_time": 1.538,
        "job_time_median": 1.397,
        "job_time_min": 1.233,
        "job_time_max": 1.984,
    }
    assert sum(count for _, count in measured.latencies["job"]) == 3
    assert measured.latencies["job"][0][0] == pytest.approx(1.233e6, rel=0.05)
    assert measured.notes == ()
    assert calls()[0].endswith(
        "-baseDir hdfs://127.0.0.1:1/study/mrbench -numRuns 3 -maps 2 -reduces 1 -inputLines 20 "
        "-inputType ascending -verbose"
    )


def test_the_figures_are_those_of_the_definition(make):
    defined = HADOOP_MRBENCH.figures(HADOOP_MRBENCH.options())
    figures = run(make(f"cat {SAMPLE}")).figures
    assert list(figures) == [each.name for each in defined if each not in TASK_FIGURES]


@pytest.mark.parametrize(("maps", "notes"), [(1, 1), (2, 0)])
def test_fewer_map_tasks_than_requested_are_noted(make, maps, notes):
    measured = run(make(f"cat {SAMPLE}; cat >&2 <<'END'\n{JOB.format(maps=maps)}END"))
    assert len(measured.notes) == notes
    assert all("1 map tasks instead of the requested 2" in note for note in measured.notes)


def test_fewer_jobs_than_requested_are_an_error(make):
    with pytest.raises(WorkloadError, match="the times of 3 jobs instead of 4"):
        run(make(f"cat {SAMPLE}"), jobs=4)


def test_the_room_grows_with_the_jobs():
    def space(**options):
        definition = HADOOP_MRBENCH
        return definition.make(definition.options.model_validate(options)).space_bytes()

    assert space(jobs=20) - space(jobs=10) == 10 * (2 + 21 * 4096)
    assert space(jobs=1, input_lines=1000) - space(jobs=1) == 2 * (5000 - 2)
