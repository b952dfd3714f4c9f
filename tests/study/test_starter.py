"""Tests of the study file that ``init`` writes: factor and comments by host."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from iostudy.study.starter import StarterDevice, StarterHost, render_starter
from iostudy.study.targets.section import DirectoryTarget, LoopbackTarget, ScratchTarget
from iostudy.workloads import catalog

DISK = StarterDevice("sda", "ST4000", True, "mq-deadline", ("none", "mq-deadline"), "128")
HOST = StarterHost("node17", "6.1.0", 32, 128 << 30, None, root=True)
HERE = DirectoryTarget(Path("/data/my folder"))
DISKS = (LoopbackTarget(1 << 30), ScratchTarget(Path("/dev/sdb")))


def written(name: str, target: object, host: StarterHost) -> dict[str, object]:
    text = render_starter(catalog.get(name), target, host)  # type: ignore[arg-type]
    return yaml.safe_load(text)  # type: ignore[no-any-return]


@pytest.mark.parametrize("target", DISKS)
def test_root_varies_the_scheduler_of_a_disk_with_direct_io(target: object) -> None:
    study = written("io", target, replace(HOST, device=DISK))
    assert study["factors"] == {"block.scheduler": "offered"}
    assert study["workloads"] == [{"io": {**catalog.get("io").example, "direct": True}}]


def test_without_root_an_option_of_the_workload_varies() -> None:
    user = replace(HOST, root=False, device=DISK)
    assert written("io", HERE, user)["factors"] == {"workload.direct": [False, True]}


@pytest.mark.all_plugins
def test_a_setting_of_write_back_varies_only_where_a_workload_writes_and_has_no_option() -> None:
    names = [each for each in catalog.names() if not catalog.get(each).only_simulated]
    proposed = {each: written(each, HERE, HOST)["factors"] for each in names}
    memory = {"vm.dirty_ratio": [20, 40]}
    assert {each for each in names if proposed[each] == memory} == {"hadoop.teragen", "mix"}
    assert proposed["nnthroughput"] == {"workload.threads": [1, 4]}
    for reader in ("hadoop.wordcount", "hadoop.teravalidate"):
        assert proposed[reader] == {"workload.reduces": [1, 4]}


def test_a_job_of_fio_varies_a_parameter_and_no_write_back_for_its_reads() -> None:
    factors = {"workload.override": {"4k": {"bs": "4k"}, "64k": {"bs": "64k"}}}
    assert written("fio", HERE, HOST)["factors"] == factors


def test_the_device_and_its_queue_are_described() -> None:
    text = render_starter(catalog.get("io"), HERE, replace(HOST, device=DISK))
    assert "sda (ST4000), rotational; scheduler mq-deadline of none, mq-deadline" in text
    assert "[128, 1024, 4096]   # 128 now" in text


def test_scratch_says_that_data_are_destroyed() -> None:
    text = render_starter(catalog.get("io"), DISKS[1], HOST)
    assert "# ALL DATA ON /dev/sdb ARE DESTROYED" in text


def test_names_cannot_leave_their_comment() -> None:
    hostile = replace(DISK, model="x\nfactors: {}")
    text = render_starter(catalog.get("io"), HERE, replace(HOST, device=hostile))
    assert "\nfactors: {}" not in text
