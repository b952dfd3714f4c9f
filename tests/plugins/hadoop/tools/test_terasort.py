"""Tests of the arguments of TeraGen, TeraSort and TeraValidate, and of TeraValidate's report."""

from __future__ import annotations

import pytest

from iostudy_hadoop.tools import counters, terasort
from iostudy_hadoop.tools.results import NoResultError
from tests.plugins.hadoop.tools.samples import sample


def test_checksum_of_sorted_rows_is_returned():
    assert terasort.reported_checksum(sample("teravalidate-2.7.7")) == "9d2a454a26b"


def test_row_errors_are_counted_and_the_first_ones_quoted():
    with pytest.raises(NoResultError, match=r"5 errors in the rows, .* misorder in part-m-00000"):
        terasort.reported_checksum(sample("teravalidate-misorder-3.4.2"))


@pytest.mark.parametrize("report", ["", "checksum\t1\nchecksum\t2\n"])
def test_a_report_without_one_checksum_is_refused(report):
    with pytest.raises(NoResultError, match="checksums"):
        terasort.reported_checksum(report)


def test_teragen_counts_the_checksum_that_teravalidate_reports():
    """5000 rows made by 2.7.7 had this counter, and the checksum of the sample above."""
    text = sample("log-teragen-3.4.2-local").replace("43014550810196", "10800304792171")
    (job,) = counters.parse(text)
    assert terasort.generated_checksum(job) == "9d2a454a26b"


def test_a_job_that_has_not_counted_one_is_refused():
    (job,) = counters.parse(sample("log-dfsio-3.4.2-local"))
    with pytest.raises(NoResultError, match="has not counted"):
        terasort.generated_checksum(job)
