from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.persist import tmpfiles
from iostudy.persist.request import PersistedSetting, PersistRequest
from tests.persist.trees import write

THP = PersistedSetting("thp.enabled", "madvise")
FILE = "/sys/kernel/mm/transparent_hugepage/enabled"
REQUESTED = PersistRequest("x", ())


def test_each_file_has_one_line(tmp_path):
    cpu = "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor"
    write(tmp_path, {cpu: "powersave\n", "sys/devices/system/cpu/cpufreq/x": ""})
    kept = (THP, PersistedSetting("cpu.governor", "performance"))
    (file,) = tmpfiles.plan(kept, REQUESTED, tmp_path).artifacts
    assert file.after.splitlines()[1:] == [
        f"w {FILE} - - - - madvise",
        "w /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor - - - - performance",
    ]
    (expected,) = file.expected
    assert expected.path == Path("/", cpu)


def test_other_lines_about_the_file(tmp_path):
    other = {"etc/tmpfiles.d/thp.conf": f"w! {FILE} - - - - always\n"}
    (clash,) = tmpfiles.plan([THP], REQUESTED, write(tmp_path, other)).conflicts
    assert clash.where == "/etc/tmpfiles.d/thp.conf:1"
    same = {"etc/tmpfiles.d/thp.conf": f"w {FILE}  -  - - - madvise\n"}
    planned = tmpfiles.plan([THP], REQUESTED, write(tmp_path, same))
    assert (planned.conflicts, planned.artifacts) == ((), ())


@pytest.mark.parametrize("cpus", ["cpu*", "cpu0", "cpu[0-9]*"])
def test_line_for_some_of_the_files_is_considered(tmp_path, cpus):
    line = f"w /sys/devices/system/cpu/{cpus}/cpufreq/scaling_governor - - - - powersave\n"
    tree = write(tmp_path, {"etc/tmpfiles.d/cpu.conf": line})
    planned = tmpfiles.plan([PersistedSetting("cpu.governor", "performance")], REQUESTED, tree)
    assert [clash.where for clash in planned.conflicts] == ["/etc/tmpfiles.d/cpu.conf:1"]


def test_a_value_for_one_of_several_files_is_written_for_all(tmp_path):
    line = "w /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor - - - - performance\n"
    tree = write(tmp_path, {"etc/tmpfiles.d/cpu.conf": line})
    planned = tmpfiles.plan([PersistedSetting("cpu.governor", "performance")], REQUESTED, tree)
    assert (planned.conflicts, len(planned.artifacts)) == ((), 1)


@pytest.mark.parametrize(("governor", "conflicts"), [("a|performance", 0), ("powersave", 1)])
def test_governors_of_tuned_are_alternatives(tmp_path, governor, conflicts):
    files = {
        "etc/tuned/active_profile": "balanced\n",
        "usr/lib/tuned/balanced/tuned.conf": f"[cpu]\ngovernor={governor}\n",
    }
    planned = tmpfiles.plan(
        [PersistedSetting("cpu.governor", "performance")], REQUESTED, write(tmp_path, files)
    )
    assert len(planned.conflicts) == conflicts


@pytest.mark.parametrize(("link", "conflicts"), [(True, 1), (False, 0)])
def test_a_unit_counts_if_another_one_wants_it(tmp_path, link, conflicts):
    unit = f"[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo never > {FILE}'\n"
    tree = write(tmp_path, {"etc/systemd/system/thp.service": unit})
    if link:
        wants = tree / "etc/systemd/system/multi-user.target.wants"
        wants.mkdir()
        (wants / "thp.service").symlink_to("/etc/systemd/system/thp.service")
    planned = tmpfiles.plan([THP], REQUESTED, tree)
    assert (len(planned.conflicts), len(planned.artifacts)) == (conflicts, 1)
    assert ("thp.service" in "".join(planned.notes)) == (not link)
