"""Who is not root is told what needs root, before anything begins."""

from __future__ import annotations

import pytest

from iostudy.errors import UsageError
from iostudy.study.user import for_user
from tests.study.files import GOOD, read

OPTIONS = GOOD.replace("block.scheduler: [none, bfq]", "workload.direct: [true, false]")
LOOPBACK = "{loopback: {size: 2GiB}}"


def test_options_in_a_directory_need_no_root():
    study = read(OPTIONS)
    assert for_user(study, root=False) is study


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD, "to change block.scheduler"),
        (OPTIONS.replace("/data/scratch", LOOPBACK), "to make a loop-back disk of 2GiB with ext4"),
    ],
)
def test_settings_and_disks_need_root(text, words):
    study = read(text)
    assert for_user(study, root=True) is study
    with pytest.raises(UsageError, match=words):
        for_user(study, root=False)


def test_the_section_for_those_without_root_needs_none():
    text = GOOD.replace("/data/scratch", LOOPBACK)
    study = read(text + "without_root: {factors: {workload.direct: [true, false]}}\n")
    assert {f.name for f in for_user(study, root=False).factors} == {"workload.direct"}
