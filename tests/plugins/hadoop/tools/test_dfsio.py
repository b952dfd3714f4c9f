"""TestDFSIO's arguments and result files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.units import MIB
from iostudy_hadoop.tools.dfsio import DfsioOperation, DfsioRun, parse
from iostudy_hadoop.tools.results import NoResultError
from tests.plugins.hadoop.tools.samples import sample

RUN = DfsioRun(DfsioOperation.WRITE, files=2, file_bytes=3 * MIB, buffer_bytes=1_000_000)
HEAD = "----- TestDFSIO ----- : "
# Where TestDFSIO.java of 2.9 and 3.0 prints its "Total Throughput", with the value that it has.
WITH_TOTAL = f"""\
{HEAD}write
            Date & time: Mon Jan 01 00:00:00 UTC 2018
        Number of files: 2
 Total MBytes processed: 6
      Throughput mb/sec: 120
Total Throughput mb/sec: 0.01
 Average IO rate mb/sec: 148.81
  IO rate std deviation: 65.48
     Test exec time sec: 8.53

"""


def entry(version, operation):
    """The part of a result file that is about one operation."""
    (found,) = (
        HEAD + part
        for part in sample(f"dfsio-{version}").split(HEAD)
        if part.startswith(f"{operation}\n")
    )
    return found


def test_a_result_has_its_own_figures():
    result = RUN.result(entry("3.4.2", DfsioOperation.WRITE))
    assert result.operation == "write"
    assert result.files == 2
    assert result.processed_mib == 6
    assert result.throughput_mib_per_second == 37.5
    assert result.average_mib_per_second == 58.59
    assert result.stddev_mib_per_second == 35.16
    assert result.exec_seconds == 5.47


@pytest.mark.parametrize(
    "operation",
    ["write", "read", "append", "random read", "backward read"],
)
def test_every_operation_matches_the_request(operation):
    replace(RUN, operation=DfsioOperation(operation)).result(entry("3.4.2", operation))


def test_a_truncation_processes_what_it_cuts_off():
    cut = replace(RUN, operation=DfsioOperation.TRUNCATE, file_bytes=6 * MIB, left_bytes=MIB)
    cut.result(entry("3.4.2", DfsioOperation.TRUNCATE))
    with pytest.raises(NoResultError, match=r"10\.0 MiB; requested was .* 4\.00"):
        replace(cut, file_bytes=3 * MIB).result(entry("3.4.2", DfsioOperation.TRUNCATE))


def test_results_of_hadoop_2_have_the_same_form():
    for operation in (DfsioOperation.WRITE, DfsioOperation.READ, DfsioOperation.RANDOM_READ):
        replace(RUN, operation=operation).result(entry("2.10.2", operation))
    # Every second buffer of 3 MiB: 2 whole ones of each file.
    skipping = replace(RUN, operation=DfsioOperation.SKIP_READ)
    assert skipping.result(entry("2.10.2", DfsioOperation.SKIP_READ)).processed_mib == 3.81
    with pytest.raises(NoResultError, match=r"requested was .* 4\.09 MiB"):
        replace(skipping, skip_bytes=500_000).result(
            entry("2.10.2", DfsioOperation.SKIP_READ).replace("3.81", "2.5")
        )


def test_numbers_without_rounding_are_understood():
    text = entry("2.10.2", DfsioOperation.WRITE).replace("120", "120.00000001")
    text = text.replace("processed: 6", "processed: 6.0")
    assert RUN.result(text).throughput_mib_per_second == 120.00000001


def test_the_wrong_total_throughput_is_not_taken_for_the_throughput():
    assert RUN.result(WITH_TOTAL).throughput_mib_per_second == 120


def test_the_last_result_of_a_file_counts():
    assert parse(sample("dfsio-3.4.2")).operation == "truncate"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"files": 3}, "with 2 files"),
        ({"file_bytes": 4 * MIB}, "8.00 MiB"),
        ({"operation": DfsioOperation.READ}, "requested was read"),
    ],
)
def test_a_result_of_another_run_is_refused(changes, message):
    with pytest.raises(NoResultError, match=message):
        replace(RUN, **changes).result(entry("3.4.2", DfsioOperation.WRITE))


@pytest.mark.parametrize("lost", ["Number of files", "Throughput mb/sec", "Test exec time sec"])
def test_a_line_that_is_missing_is_named(lost):
    lines = [line for line in WITH_TOTAL.splitlines() if f" {lost}:" not in f" {line.strip()}"]
    with pytest.raises(NoResultError, match=lost):
        parse("\n".join(lines).replace("Total Throughput mb/sec: 0.01", ""))


@pytest.mark.parametrize("value", ["\u221e", "NaN", "\ufffd", "3,5"])
def test_invalid_numbers_are_refused(value):
    with pytest.raises(NoResultError, match="no number"):
        parse(WITH_TOTAL.replace("120", value))


def test_an_empty_file_has_no_result():
    with pytest.raises(NoResultError, match="no result"):
        parse("")


def test_arguments_are_those_of_the_tool():
    assert RUN.arguments("hdfs://nn/study", Path("/tmp/r")) == (
        *("-Dtest.build.data=hdfs://nn/study", "-write", "-nrFiles", "2", "-size", "3145728B"),
        *("-bufferSize", "1000000", "-resFile", "/tmp/r"),
    )
    every = replace(
        RUN,
        operation=DfsioOperation.SKIP_READ,
        skip_bytes=5,
        compression="a.B",
        storage_policy="HOT",
    ).arguments("/x", Path("r"))
    assert every[1:3] == ("-read", "-skip")
    assert every[7:] == (
        *("-bufferSize", "1000000", "-skipSize", "5B", "-compression", "a.B"),
        *("-storagePolicy", "HOT", "-resFile", "r"),
    )
    cut = replace(RUN, operation=DfsioOperation.TRUNCATE, left_bytes=7).arguments("/x", Path("r"))
    assert cut[cut.index("-size") + 1] == "7B"
