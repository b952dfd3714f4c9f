"""Every attack on a cluster of root that takes no JVM."""

from __future__ import annotations

import os

import pytest

from iostudy_hadoop.local.cluster import LocalCluster
from tests.plugins.hadoop.attack import QUICK, Attack, count

pytestmark = pytest.mark.root


@pytest.mark.parametrize("attack", QUICK, ids=lambda attack: attack.name)
def test_another_user_achieves_nothing(hadoop_cluster: LocalCluster, attack: Attack) -> None:
    assert hadoop_cluster.layout.uid != os.geteuid()
    counted = count(attack, hadoop_cluster)
    assert counted.tries > 0
    assert counted.failures == []
