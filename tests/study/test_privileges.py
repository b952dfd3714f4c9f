"""Tests of the root privileges that a study needs, checked before its start."""

from __future__ import annotations

import pytest

from iostudy.errors import UsageError
from iostudy.study.privileges import adapt_to_user, list_root_requirements
from tests.study.files import GOOD, read

OPTIONS = GOOD.replace("block.scheduler: [none, bfq]", "workload.direct: [true, false]")
LOOPBACK = "{loopback: {size: 2GiB}}"


def test_options_in_a_directory_need_no_root():
    study = read(OPTIONS)
    assert adapt_to_user(study, root=False) is study


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD, "to change block.scheduler"),
        (OPTIONS.replace("/data/scratch", LOOPBACK), "to make a loop-back disk of 2GiB with ext4"),
    ],
)
def test_settings_and_disks_need_root(text, words):
    study = read(text)
    assert adapt_to_user(study, root=True) is study
    with pytest.raises(UsageError, match=words):
        adapt_to_user(study, root=False)


def test_the_section_for_those_without_root_needs_none():
    text = GOOD.replace("/data/scratch", LOOPBACK)
    study = read(text + "without_root: {factors: {workload.direct: [true, false]}}\n")
    assert {f.name for f in adapt_to_user(study, root=False).factors} == {"workload.direct"}


def test_tracing_of_requests_needs_root():
    text = "telemetry: {block_latency: true}\n"
    study = read(OPTIONS + text)
    assert adapt_to_user(study, root=True) is study
    with pytest.raises(UsageError, match="to trace block requests") as refused:
        adapt_to_user(study, root=False)
    assert refused.value.remedy == "run it as root, or leave out block_latency in telemetry"
    with pytest.raises(UsageError, match="scheduler, and to trace") as refused:
        adapt_to_user(read(GOOD + text), root=False)
    assert "without block_latency" in refused.value.remedy


@pytest.mark.parametrize(
    "levels", ["limit.nofile_soft: [512, 1024]", "block.scheduler: [as-found]"]
)
def test_soft_limits_and_what_is_only_read_need_no_root(levels):
    study = read(OPTIONS.replace("workload.direct:", f"{levels}\n  workload.direct:"))
    assert list_root_requirements(study) == ()
    assert adapt_to_user(study, root=False) is study


def test_restoring_a_hard_limit_needs_root():
    text = GOOD.replace("block.scheduler: [none, bfq]", "limit.nofile_hard: [512, 1024]")
    assert list_root_requirements(read(text)) == ("change limit.nofile_hard",)


def test_all_that_needs_root_is_listed_in_one_sentence():
    text = GOOD.replace("none, bfq]", "none, bfq]\n  block.nomerges: [0, 1]")
    study = read(text.replace("/data/scratch", LOOPBACK))
    words = "to change block.scheduler, block.nomerges, and to make a loop-back disk"
    with pytest.raises(UsageError, match=words):
        adapt_to_user(study, root=False)
