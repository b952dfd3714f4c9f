from __future__ import annotations

from pathlib import Path

from iostudy.persist import tmpfiles
from iostudy.persist.kept import Kept
from tests.persist.trees import write

THP = Kept("thp.enabled", "madvise")
FILE = "/sys/kernel/mm/transparent_hugepage/enabled"


def test_one_line_a_file(tmp_path):
    cpu = "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor"
    write(tmp_path, {cpu: "powersave\n", "sys/devices/system/cpu/cpufreq/x": ""})
    kept = (THP, Kept("cpu.governor", "performance"))
    (file,) = tmpfiles.plan(kept, "x", tmp_path).artifacts
    assert file.after.splitlines()[1:] == [
        f"w {FILE} - - - - madvise",
        "w /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor - - - - performance",
    ]
    (expected,) = file.expected
    assert expected.path == Path("/", cpu)


def test_other_lines_about_the_file(tmp_path):
    other = {"etc/tmpfiles.d/thp.conf": f"w! {FILE} - - - - always\n"}
    (clash,) = tmpfiles.plan([THP], "x", write(tmp_path, other)).clashes
    assert clash.where == "/etc/tmpfiles.d/thp.conf:1"
    same = {"etc/tmpfiles.d/thp.conf": f"w {FILE}  -  - - - madvise\n"}
    planned = tmpfiles.plan([THP], "x", write(tmp_path, same))
    assert (planned.clashes, planned.artifacts) == ((), ())
