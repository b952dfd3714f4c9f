"""Numbers of the benchmarks that are beyond their bounds."""

from __future__ import annotations

import pytest

from tests.study.files import GOOD, READS, problems


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        ("wordcount: {vocabulary: 9G}", ["vocabulary", "at most 100M"]),
        ("wordcount: {memory: 4096TiB}", ["memory", "at most 1TiB"]),
        ("nnthroughput: {files: 2G}", ["files", "at most 1G"]),
        (f"nnthroughput: {{checkpoint_every: {10**30}}}", ["checkpoint_every"]),
    ],
)
def test_a_number_beyond_its_bound_is_refused(workload, words):
    (problem,) = problems(GOOD.replace(READS, workload))
    for word in words:
        assert word in str(problem)
