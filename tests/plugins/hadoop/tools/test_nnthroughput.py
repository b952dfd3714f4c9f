"""Tests of the arguments and recorded logs of NNThroughputBenchmark."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy_hadoop.tools.nnthroughput import NNThroughputRun, find_errors
from iostudy_hadoop.tools.results import NoResultError
from tests.plugins.hadoop.tools.samples import sample

RENAME = NNThroughputRun("rename", files=2000, threads=16, files_per_directory=100)
CREATE = replace(RENAME, operation="create")


def test_every_option_is_given_by_its_name() -> None:
    assert " ".join(RENAME.arguments()) == (
        "-fs file:/// -op rename -threads 16 -files 2000 -filesPerDir 100"
    )
    assert " ".join(replace(RENAME, operation="mkdirs").arguments()) == (
        "-fs file:/// -op mkdirs -threads 16 -dirs 2000 -dirsPerDir 100"
    )


def test_figures_are_read_from_the_log() -> None:
    result = RENAME.result(sample("log-nnthroughput-rename-3.4.2"))
    assert (result.operations, result.milliseconds, result.mean_milliseconds) == (2000, 1309, 9)
    assert (result.transactions, result.syncs) == (6026, 886)
    result = CREATE.result(sample("log-nnthroughput-create-3.4.2"))
    assert (result.operations, result.milliseconds, result.mean_milliseconds) == (2000, 5681, 41)
    assert (result.transactions, result.syncs) == (2025, 390)


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("--- rename stats", "--- open stats", "no figures of rename"),
        ("# operations: 2000", "# operations: 1999", "1999 of 2000 operations"),
        ("# operations: 2000", "", "no '# operations'"),
        ("transactions: 6026", "transactions: 5999", "5999 transactions in its log, and not 6000"),
        ("Elapsed Time: 1309", "Elapsed Time: 0", "0 ms"),
    ],
)
def test_incomplete_log_is_refused(before: str, after: str, why: str) -> None:
    log = sample("log-nnthroughput-rename-3.4.2")
    assert before in log
    with pytest.raises(NoResultError, match=why):
        RENAME.result(log.replace(before, after))


def test_a_sound_log_has_no_errors() -> None:
    assert find_errors(sample("log-nnthroughput-rename-3.4.2")) == ()
    alone = "2026-11-29 22:00:00,000 ERROR impl.MetricsSystemImpl: Error getting localhost name."
    assert find_errors(alone) == (), "no service of names answers in its network"


def test_threads_that_failed_are_errors() -> None:
    found = find_errors(sample("log-nnthroughput-safe-mode-3.4.2"))
    assert found == ("StatsDaemon 235 failed: ", "StatsDaemon 24 failed: ")


def test_a_dropped_log_directory_is_an_error() -> None:
    flush, disabling = find_errors(sample("log-nnthroughput-full-3.4.2"))
    assert flush.startswith("Error: flush failed for (journal JournalAndStream(mgr=")
    assert disabling.startswith("Disabling journal")
