"""Tests of the arguments and recorded results of NNBench of several versions."""

import math
from dataclasses import replace

import pytest

from iostudy_hadoop.tools.nnbench import (
    LATENCIES,
    TRANSACTIONS,
    NNBenchRun,
    Operation,
    count_waiting_maps,
    parse,
)
from iostudy_hadoop.tools.results import NoResultError
from tests.plugins.hadoop.tools.samples import sample

RUN = NNBenchRun("create_write", 2, 100, 1 << 20, 10_000, 512, 1, read_after_open=False)


def test_every_option_is_given_by_its_name() -> None:
    line = " ".join(replace(RUN, read_after_open=True).arguments("/a b", 1_700_000_000))
    assert line == (
        "-operation create_write -maps 2 -reduces 1 -startTime 1700000000 -blockSize 1048576 "
        "-bytesToWrite 10000 -bytesPerChecksum 512 -numberOfFiles 100 -replicationFactorPerFile 1 "
        "-baseDir /a b -readFileAfterOpen true"
    )
    assert len(replace(RUN).arguments("/a b", 1)) == 22, "a blank separates no arguments"


@pytest.mark.parametrize("operation", ["create_write", "open_read", "rename"])
def test_result_of_a_good_run(operation: Operation) -> None:
    result = parse(sample(f"nnbench-{operation.replace('_', '-')}-3.4.2"))
    assert result.operation == operation
    assert (result.successful, result.late_maps, result.exceptions) == (200, 0, 0)
    assert len(result.latencies_milliseconds) == len(LATENCIES[operation])
    files_per_second = 1000 * result.successful / result.longest_milliseconds
    assert result.transactions_per_second == int(TRANSACTIONS[operation] * files_per_second)
    assert result.mean_milliseconds == result.map_milliseconds / result.successful
    assert sum(result.latencies_milliseconds) <= result.mean_milliseconds
    assert 0.9 < result.overlap(maps=2) <= 1


def test_the_figures_of_nnbench() -> None:
    result = parse(sample("nnbench-open-read-3.4.2"))
    assert result.transactions_per_second == 150
    assert result.mean_milliseconds == 12.645
    assert result.latencies_milliseconds == (5.585, 6.78)
    assert (result.map_milliseconds, result.longest_milliseconds) == (2529, 1332.0)


def test_operations_that_all_failed() -> None:
    result = parse(sample("nnbench-delete-exceptions-3.4.2"))
    assert (result.successful, result.exceptions, result.transactions_per_second) == (0, 2000, 0)
    assert result.mean_milliseconds == math.inf
    assert math.isnan(result.latencies_milliseconds[0])


def test_a_late_map_of_2x() -> None:
    result = parse(sample("nnbench-late-2.7"))
    assert (result.successful, result.late_maps) == (2000, 1)
    assert result.longest_milliseconds > 1e12
    assert result.overlap(maps=3) < 1e-8


def test_several_reduces_give_no_result() -> None:
    result = parse(sample("nnbench-several-reduces-2.5.0"))
    assert (result.successful, result.exceptions, result.late_maps) == (0, 0, 0)
    assert result.overlap(maps=12) == 0


def test_the_last_result_of_a_file_counts() -> None:
    both = sample("nnbench-create-write-3.4.2") + sample("nnbench-rename-3.4.2")
    assert parse(both).operation == "rename"


@pytest.mark.parametrize("line", range(22))
def test_a_result_that_is_cut_off(line: int) -> None:
    text = sample("nnbench-create-write-3.4.2").rstrip().splitlines()
    with pytest.raises(NoResultError, match="no line"):
        parse("\n".join(text[: line + 1]))


def test_maps_that_waited() -> None:
    line = "2026-11-21 18:42:29,023 INFO hdfs.NNBench: Waiting in barrier for: 2978 ms\n"
    assert (
        count_waiting_maps(f"{line}INFO mapred.LocalJobRunner: Waiting for map tasks\n{line}") == 2
    )
