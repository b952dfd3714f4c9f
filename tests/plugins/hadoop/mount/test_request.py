"""Tests of mounts of HDFS, as a study file has them."""

from __future__ import annotations

import pytest

from iostudy.study.targets.section import DirectoriesTarget
from tests.study.files import problems, read
from tests.study.test_mount_request import study


def test_hdfs_has_options_of_its_own() -> None:
    found = read(study("{mount: 'hdfs://nn:8020/bench', at: /mnt/h, options: 'rdbuffer=64KiB'}"))
    assert isinstance(found.target, DirectoriesTarget)
    assert found.target.mounts["other"].kind is not None


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("{mount: 'hdfs://nn:8020/b', at: /mnt/x, type: fuse}", "has no type"),
        ("{mount: local-hdfs, type: fuse}", "has no type"),
        ("{mount: local-hdfs, options: buffer=1}", "is no option"),
        ("{mount: 'hdfs://nn:8020/b', at: /mnt/x, options: buffer=1}", "is no option"),
        ("{mount: 'hdfs://nn:8020/b', at: /mnt/x, options: rdbuffer=many}", "rdbuffer=many"),
        ("{mount: 'hdfs://nn:8020/b', at: /mnt/x, options: 'rdbuffer=1,rdbuffer=2'}", "twice"),
        ("{mount: 'hdfs://nn:8020/b', at: /mnt/x, options: block_size=1000}", "multiple of 512"),
        ("{mount: 'hdfs://nn:8020/../b', at: /mnt/x}", "neither . nor .."),
    ],
)
def test_problems(other: str, message: str) -> None:
    assert any(message in each for each in map(str, problems(study(other))))
