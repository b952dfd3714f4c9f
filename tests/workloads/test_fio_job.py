"""Tests of fio's own account of a job file: parameters of each job, phases, and paths."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.workloads.external import fio_job
from iostudy.workloads.external.fio_job import JobFile, parse
from iostudy.workloads.external.fio_text import count_parameters
from iostudy.workloads.workload import NO_TARGET

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
TEXT = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=20)


def job(*lines):
    """A job file, from what fio prints: a section's name without =, or a parameter."""
    shown = (
        f"parse    123 Parsing section {line}"
        if line.startswith("[")
        else "parse    123 handle_option={}, ptr={}".format(*line.split("=", 1))
        for line in lines
    )
    counts = count_parameters(lines)
    return JobFile(Path("x"), parse("\n".join(shown), counts))


@pytest.fixture
def read(tmp_path):
    def read_text(text, **override):
        path = tmp_path / "test.fio"
        path.write_text(text)
        return fio_job.read(str(path), override)

    return read_text


def shown(found):
    return [(job.section, dict(job.parameters)) for job in found.jobs]


def test_jobs_have_the_parameters_of_the_global_sections_before_them():
    found = job("[global]", "rw=read", "name=all", "[a]", "[global]", "rw=write", "bs=4k", "[b]")
    assert shown(found) == [("a", {"rw": "read"}), ("b", {"rw": "write", "bs": "4k"})]


@pytest.mark.child
@needs_fio
def test_fio_separates_sections_names_and_values_with_blanks(read, monkeypatch):
    monkeypatch.setenv("WHERE", "some folder")
    found = read(
        "[global]\nreadwrite=randread:8 ; comment\nname=all\n"
        "[a]\nname=lookups\nfilename=b c --rw=write\n"
        "[globals]\nbs=64k\n[a]\ndirectory=${WHERE}\nkb_base=1000\nstonewall\n"
    )
    assert shown(found) == [
        ("a", {"rw": "randread:8", "name": "lookups", "filename": "b c --rw=write"}),
        (
            "a",
            {
                "rw": "randread:8",
                "bs": "64k",
                "kb_base": "1000",
                "directory": "some folder",
                "stonewall": None,
            },
        ),
    ]


@pytest.mark.child
@needs_fio
def test_an_override_is_the_last_of_each_job_under_all_its_names(read):
    found = read(
        "[global]\nblocksize=4k\nbuffered=1\n[a]\nbs=8k\n[b]\nruntime=3\n",
        bs="1m",
        direct="1",
        timeout="5",
    )
    assert shown(found) == [
        (name, {"bs": "1m", "direct": "1", "runtime": "5"}) for name in ("a", "b")
    ]


@pytest.mark.root
@pytest.mark.child
@needs_fio
def test_fio_parses_as_nobody_where_nobody_can_start_it(read, monkeypatch):
    with tempfile.TemporaryDirectory() as name:
        folder, trace, program = Path(name), Path(name, "trace"), Path(name, "fio")
        trace.touch()
        trace.chmod(0o666)
        real = shutil.which("fio")
        program.write_text(f'#!/bin/sh\n(id -u; id -G; pwd; env) > {trace}\nexec {real} "$@"\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("SECRET", "of root")
        for mode, expected in ((0o755, "65534"), (0o700, "0")):
            folder.chmod(mode)
            assert read("[a]\nrw=read\n").jobs
            user, groups, place, *variables = trace.read_text().splitlines()
            assert (user, groups.split()[0], place) == (expected, expected, "/")
            assert "SECRET=of root" not in variables


@pytest.mark.child
@needs_fio
def test_only_an_engine_s_jobs_have_its_parameters_and_no_defaults(read):
    found = read(
        "[global]\nioengine=io_uring\nfixedbufs\nsize=1m\n[a]\nsqthread_poll=0\n"
        "[b]\nioengine=libaio\nuserspace_reap\n[c]\nioengine=io_uring\n"
    )
    uring = {"ioengine": "io_uring", "size": "1m", "fixedbufs": None}
    assert [parameters for _, parameters in shown(found)] == [
        uring | {"sqthread_poll": "0"},
        {"ioengine": "libaio", "size": "1m", "userspace_reap": None},
        uring,
    ]


@pytest.mark.child
@needs_fio
def test_a_description_like_a_line_of_fio_s_log_is_none(read):
    text = "parse 1 Parsing section [x]"
    assert shown(read(f"[a]\ndescription={text}\n")) == [("a", {"description": text})]


# As O_DIRECT stood in /proc/PID/fdinfo of fio 3.33's files.
@pytest.mark.child
@needs_fio
def test_the_last_of_direct_and_buffered_counts(read):
    expected = {
        "buffered=0": True,
        "buffered=1": False,
        "direct=1\nbuffered=1": False,
        "buffered=1\ndirect=1": True,
        "direct=0\nbuffered=0": True,
        "buffered=0\ndirect=0": False,
        "direct=00": False,
        "buffered=00": True,
        "direct=0x1": True,
        "direct=1\nioengine=mmap": False,
    }
    jobs = read("".join(f"[x]\nrw=read\nsize=1m\n{lines}\n" for lines in expected)).jobs
    found = {lines: job.is_direct for lines, job in zip(expected, jobs, strict=True)}
    assert found == expected


UNSTEADY = {
    "wait_for=a": "wait_for",
    "startdelay=1": "startdelay",
    "latency_target=1ms": "latency_target",
    "ss=iops:10%": "steadystate",
    "flow=1": "flow",
    "wait_for_previous": "stonewall",
    "stonewall": "stonewall",
    "fill_device=1": "fill_device",
    "create_only=1": "create_only",
    "unlink=1": "removes files",
    "buffered=1": "direct=1",
    "ioengine=mmap": "obeys it",
    "rw=write": "overwrite=1",
    "rw=randrw\noverwrite=1\nverify=crc32c": "verify",
    "stonewall=0\nstartdelay=0\nlatency_target=0": "",
    "rw=write\noverwrite=1": "",
    "exitall\nloops=3\nnumjobs=2\nthinktime=1ms\nsize=50%\nfilename=a:b": "",
    "verify=crc32c": "",
}


@pytest.mark.child
@needs_fio
def test_jobs_without_a_lasting_state_are_not_steady(read):
    """fio reads one file with all of them, which takes it as long as one."""
    others = "".join(f"[b]\n{lines}\n" for lines in UNSTEADY)
    whole = read(f"[global]\ndirect=1\nsize=1m\n[a]\n{others}")
    first, *jobs = whole.jobs
    for (lines, reason), job in zip(UNSTEADY.items(), jobs, strict=True):
        found = JobFile(whole.path, (first, job)).unsteady_reason()
        assert reason in found, lines
        assert bool(reason) == bool(found), lines


def test_groups_and_phases():
    jobs = ["[a]", "[b]", "[c]", "stonewall=(null)", "[d]", "new_group=1"]
    found = job(*jobs, "[e]", "stonewall=0", "[f]", "stonewall=1")
    assert found.groups() == (0, 0, 1, 2, 2, 3)
    assert found.phases() == (0, 1, 1, 2)
    assert job("[global]", "stonewall=1", "[a]", "[b]").phases() == (0, 1)
    assert job("[a]", "stonewall=1", "[b]").phases() == (0,)


@given(TEXT, st.sampled_from(["filename", "directory"]))
def test_absolute_path_is_found_anywhere(before, name):
    listed = f"{before.rstrip(chr(92))}:/dev/sdz"
    assert any(job("[global]", f"{name}={listed}", "[a]").refusals())


@given(st.lists(st.sampled_from(["..", ".", "a", "b c"]), min_size=1))
def test_a_path_is_refused_just_if_it_leaves_the_folder_on_its_way(parts):
    here, lowest = 0, 0
    for part in parts:
        here += {"..": -1, ".": 0}.get(part, 1)
        lowest = min(lowest, here)
    assert bool(list(job("[a]", f"filename={'/'.join(parts)}").refusals())) == (lowest < 0)


@pytest.mark.parametrize("command", ["rm x", "x", "0x0", "(null)"])
def test_shell_commands_are_refused(command):
    (refusal,) = job("[a]", f"exec_postrun={command}").refusals()
    assert "shell" in refusal


@given(TEXT, TEXT)
def test_any_value_of_any_section_is_kept(section, value):
    found = job(f"[a{section}]", f"description={value}")
    assert shown(found) == [(f"a{section}", {"description": value})]
    list(found.refusals())
    assert found.text(NO_TARGET).splitlines()[0] == f"[a{section}]"
