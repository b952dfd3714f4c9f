"""Tests of the arguments and recorded output of MRBench of several versions."""

import pytest

from iostudy_hadoop.tools.mrbench import MRBenchResult, MRBenchRun, parse
from iostudy_hadoop.tools.results import NoResultError
from tests.plugins.hadoop.tools.samples import sample


def test_every_option_is_given_by_its_name() -> None:
    line = " ".join(MRBenchRun(50, 2, 1, 10, "random").arguments("/base"))
    assert line == (
        "-baseDir /base -numRuns 50 -maps 2 -reduces 1 -inputLines 10 -inputType random -verbose"
    )


def test_the_time_of_every_job() -> None:
    assert parse(sample("mrbench-3.4.2"), 3) == MRBenchResult(1538, (1984, 1233, 1397))


def _published(job_milliseconds: int) -> str:
    """The published run, with a time for the jobs that it leaves out."""
    head, splits, rest = sample("mrbench-2.5.0").partition("Total milliseconds")
    jobs = (f"Total milliseconds for task: {n} = {job_milliseconds}\n" for n in range(1, 494))
    return "".join([head, *jobs, splits, rest])


def test_blanks_for_tabs_and_lines_of_a_log_between() -> None:
    result = parse(_published(31_320), 500)
    assert result.mean_milliseconds == 31_298
    assert result.job_milliseconds[492:] == (
        31_320, 29_859, 29_878, 29_908, 29_943, 29_897, 29_919, 28_881,
    )  # fmt: skip


def test_jobs_that_are_not_those_of_the_mean() -> None:
    with pytest.raises(NoResultError, match="jobs whose mean is 31298 ms"):
        parse(_published(31_298), 500)


@pytest.mark.parametrize("jobs", [2, 4])
def test_another_number_of_jobs(jobs: int) -> None:
    with pytest.raises(NoResultError, match=f"3 jobs instead of {jobs}"):
        parse(sample("mrbench-3.4.2"), jobs)


def test_without_its_table() -> None:
    with pytest.raises(NoResultError, match="no table"):
        parse(sample("mrbench-3.4.2").partition("DataLines")[0], 3)
