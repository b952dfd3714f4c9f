from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.persist import limits
from iostudy.persist.request import PersistedSetting, PersistRequest
from tests.persist.trees import write

SOFT = PersistedSetting("limit.nofile_soft", "10000")
HARD = PersistedSetting("limit.nofile_hard", "64000")


def plan(root: Path, files: dict[str, str], *kept: PersistedSetting):
    return limits.plan(kept or (SOFT, HARD), PersistRequest("x", ()), write(root, files))


def test_wildcard_lines_name_the_users_they_exclude(tmp_path):
    (file,) = plan(tmp_path, {}).artifacts
    assert file.path == Path("/etc/security/limits.d/90-iostudy.conf")
    assert file.after.endswith("\n* soft nofile 10000\n* hard nofile 64000\n")
    assert "does not concern root" in file.after
    assert "LimitNOFILE=" in file.after


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("limit.memlock_soft", "65536", "* soft memlock 64"),
        ("limit.memlock_hard", "unlimited", "* hard memlock unlimited"),
        ("limit.cpu_hard", "120", "* hard cpu 2"),
        ("limit.nice_hard", "30", "* hard nice -10"),
        ("limit.nproc_soft", "7", "* soft nproc 7"),
        ("limit.nofile_hard", "1048576", "* hard nofile 1048576"),
    ],
)
def test_units_of_limits_conf(name, value, line):
    assert limits.line_of(PersistedSetting(name, value)) == line


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("limit.memlock_soft", "1000", "KiB"),
        ("limit.rttime_soft", "1", "no such item"),
        ("limit.nofile_hard", "1048577", "no session could be opened"),
        ("limit.nofile_soft", "unlimited", "no session could be opened"),
    ],
)
def test_unsupported_limits_are_named(tmp_path, name, value, why):
    planned = plan(tmp_path, {}, PersistedSetting(name, value))
    assert why in planned.unsupported[0].reason
    assert planned.artifacts == ()


@pytest.mark.parametrize("type_", ["soft", "-"])
def test_other_wildcard_value_is_a_conflict(tmp_path, type_):
    text = f"# x\n*\t{type_}\tnofile 4096 # by hand\n"
    (clash, *_) = plan(tmp_path, {"etc/security/limits.conf": text}).conflicts
    assert clash.what == "limit.nofile_soft = 10000"
    assert clash.where == "/etc/security/limits.conf:2"


def test_the_line_of_a_user_is_named(tmp_path):
    planned = plan(tmp_path, {"etc/security/limits.d/hdfs.conf": "hdfs hard nofile 32768\n"})
    assert planned.conflicts == ()
    assert "not for hdfs, whose own line is /etc/security/limits.d/hdfs.conf:1" in planned.notes[0]


def test_existing_line_is_not_written_again(tmp_path):
    planned = plan(tmp_path, {"etc/security/limits.conf": "* soft nofile 10000\n"})
    assert "already so in /etc/security/limits.conf:1" in planned.notes[0]
    assert "soft" not in planned.artifacts[0].after.splitlines()[-1]
    memlock = plan(
        tmp_path,
        {"etc/security/limits.conf": "* - memlock 64\n"},
        PersistedSetting("limit.memlock_soft", "65536"),
    )
    assert memlock.artifacts == ()


@pytest.mark.parametrize(
    "line",
    [
        "* hard nofile 4096",
        "* - nofile 4096",
        "* Soft NOFILE 4096",
        "* soft nofile 4096 per app team",
        "* soft nofile 4096# a comment",
    ],
)
def test_lines_that_pam_limits_obeys_are_conflicts(tmp_path, line):
    """Each gave 4096 with pam_limits 1.5.2, also before a later ``* soft nofile 10000``."""
    (clash,) = plan(tmp_path, {"etc/security/limits.d/50-site.conf": f"{line}\n"}, SOFT).conflicts
    assert clash.found == line


@pytest.mark.parametrize(
    "line",
    [
        *("* hard nofile 10000", "* hard nofile unlimited", "* hard nproc 5", "* -", "% -"),
        *("%staff soft nofile 4096", "staff soft nofile", "staff - per team", "* soft nofile"),
    ],
)
def test_lines_that_do_not_concern_the_limit(tmp_path, line):
    planned = plan(tmp_path, {"etc/security/limits.d/50-site.conf": f"{line}\n"}, SOFT)
    assert (planned.conflicts, planned.notes, len(planned.artifacts)) == ((), (), 1)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("nobody -", "no limits"),
        ("@hdfs -", "no limits"),
        ("65534: soft nofile 4096", "4096"),
        ("nobody hard nofile 4096", "4096"),
    ],
)
def test_exceptions_are_named_with_their_line(tmp_path, line, value):
    planned = plan(tmp_path, {"etc/security/limits.d/50-site.conf": f"{line}\n"}, SOFT)
    (note,) = planned.notes
    assert note.endswith(f"own line is /etc/security/limits.d/50-site.conf:1 ({value})")


def test_a_hard_limit_on_nice_caps_from_the_other_side(tmp_path):
    nice = PersistedSetting("limit.nice_soft", "30")
    text = "* hard nice {}\n"
    capped = plan(tmp_path, {"etc/security/limits.conf": text.format(-5)}, nice)
    assert len(capped.conflicts) == 1
    assert plan(tmp_path, {"etc/security/limits.conf": text.format(-15)}, nice).conflicts == ()
