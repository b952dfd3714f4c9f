"""WordCount on a cluster."""

from __future__ import annotations

import pytest

from iostudy.errors import WorkloadError
from iostudy.units import MIB
from tests.plugins.hadoop import webhdfs
from tests.plugins.hadoop.workloads.helpers import require_declared, workload

TEXT = {"size": "1MiB", "files": 2, "vocabulary": "1k"}


def wordcount(**options):
    return workload("hadoop.wordcount", **{**TEXT, **options})


@pytest.mark.slow
def test_all_words_are_counted(on_cluster, in_hdfs, hadoop_cluster):
    counting = wordcount()
    counting.prepare(on_cluster)
    for _ in range(2):
        counting.reset(on_cluster)
        measured = counting.run(on_cluster)
    require_declared("hadoop.wordcount", measured, **TEXT)
    figures = measured.figures
    assert figures["hdfs_read"] == MIB
    assert (figures["map_tasks"], figures["reduce_tasks"]) == (2, 2)
    output = b"".join(
        webhdfs.read(hadoop_cluster, f"/iostudy/words/out/part-r-0000{part}") for part in (0, 1)
    )
    counts = [int(line.split(b"\t")[1]) for line in output.splitlines()]
    assert len(counts) == figures["distinct"] >= 900
    words = int((on_cluster.directory / "hadoop-words-made").read_text())
    assert sum(counts) == words
    assert figures["words_per_second"] == pytest.approx(words / figures["job_time"])

    webhdfs.delete(hadoop_cluster, "/iostudy/words/in/part-m-00001")
    counting.reset(on_cluster)
    with pytest.raises(WorkloadError, match=f"the {words} words that were written"):
        counting.run(on_cluster)

    counting.clean(on_cluster)
    assert "words" not in in_hdfs()
    assert not list(on_cluster.directory.iterdir())


def test_trials_share_the_text():
    assert wordcount(reduces=5).preparation() == wordcount().preparation()
    assert wordcount(exponent=0.5).preparation() != wordcount().preparation()
    assert wordcount().space_bytes() == 3 * MIB
    assert wordcount().expected_seconds(1e8) is None
