"""A job that is slower by a known share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.jobs import job

MIB = 1 << 20


@pytest.mark.parametrize("method", ["psync", "io_uring"])
def test_the_slow_down_takes_its_share_of_the_time(tmp_path: Path, method: str) -> None:
    sizes = {"file_bytes": 4 * MIB, "record_bytes": MIB // 8}
    job([tmp_path / "a"], **sizes).run()
    slowed = {"operation": "read", "direct": True, "order": "random", "seconds": 0.2}
    share = 0.0
    for _ in range(5):  # a thread that has no CPU between two records is slower still
        if share <= 0.49:
            run = job([tmp_path / "a"], method=method, slow_down=0.5, **slowed, **sizes).run()
            busy_us = sum(upper * count for upper, count in run.read.latencies.histogram_us())
            share = max(share, busy_us / 1e6 / run.wall_seconds)
    # Upper bounds of buckets that are 4.4 % wide: at most so much too long.
    assert 0.49 < share < 0.54


@pytest.mark.parametrize(
    "options",
    [
        {"direct": False},
        {"slow_down": 1.0},
        {"slow_down": -0.1},
        {"method": "io_uring", "depth": 2},
        {"rate": 100.0},
        {"think_seconds": 0.1},
        {"arrival": "even"},
    ],
    ids=str,
)
def test_an_inexact_slow_down_is_refused(options) -> None:
    with pytest.raises(ValueError, match="slow_down"):
        job([Path("a")], **({"slow_down": 0.05, "direct": True} | options))


def test_several_threads_cannot_be_slowed_down() -> None:
    with pytest.raises(ValueError, match="one thread"):
        job([Path("a"), Path("b")], slow_down=0.05, direct=True)
