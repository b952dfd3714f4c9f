from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.persist import sysctl
from iostudy.persist.request import PersistedSetting, PersistRequest
from tests.persist.trees import write

SWAPPINESS = PersistedSetting("sysctl.vm.swappiness", "10")
RMEM = PersistedSetting("sysctl.net.ipv4.tcp_rmem", "4096 87380 16777216")
REQUESTED = PersistRequest("what iostudy set held", ())


def plan(root: Path, files: dict[str, str], *kept: PersistedSetting):
    return sysctl.plan(kept or (SWAPPINESS,), REQUESTED, write(root, files))


def test_each_key_has_one_line(tmp_path):
    (file,) = plan(tmp_path, {}, SWAPPINESS, RMEM).artifacts
    assert file.path == Path("/etc/sysctl.d/90-iostudy.conf")
    assert file.before is None
    assert file.after == (
        "# Written by `iostudy persist`: what iostudy set held.\n"
        "vm.swappiness = 10\n"
        "net.ipv4.tcp_rmem = 4096 87380 16777216\n"
    )
    assert [str(e.path) for e in file.expected] == [
        "/proc/sys/vm/swappiness",
        "/proc/sys/net/ipv4/tcp_rmem",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "etc/sysctl.d/99-late.conf",
        "etc/sysctl.d/10-early.conf",
        "run/sysctl.d/50-x.conf",
        "usr/lib/sysctl.d/95-late.conf",
        "etc/sysctl.conf",
    ],
)
def test_other_values_that_take_precedence_or_are_local_are_conflicts(tmp_path, name):
    planned = plan(tmp_path, {name: "# tuned by hand\n-vm/swappiness=60\n"})
    (clash,) = planned.conflicts
    assert clash.where == f"/{name}:2"
    assert clash.found == "-vm/swappiness=60"


def test_an_early_line_of_a_package_is_overridden_and_named(tmp_path):
    planned = plan(tmp_path, {"usr/lib/sysctl.d/50-x.conf": "vm.swappiness = 60\n"})
    assert planned.conflicts == ()
    assert "overrides /usr/lib/sysctl.d/50-x.conf:1 (60)" in planned.notes[0]
    assert "vm.swappiness = 10" in planned.artifacts[0].after


def test_masked_file_is_ignored(tmp_path):
    files = {"usr/lib/sysctl.d/99-x.conf": "vm.swappiness=60\n", "etc/sysctl.d/99-x.conf": ""}
    assert plan(tmp_path, files).conflicts == ()


def test_existing_line_is_not_written_again(tmp_path):
    files = {"etc/sysctl.d/50-x.conf": "net.ipv4.tcp_rmem=4096\t87380\t16777216\n"}
    planned = plan(tmp_path, files, SWAPPINESS, RMEM)
    assert "already so in /etc/sysctl.d/50-x.conf:1" in planned.notes[0]
    assert "tcp_rmem" not in planned.artifacts[0].after
    assert plan(tmp_path, files, RMEM).artifacts == ()


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("etc/sysctl.conf", "vm.swappiness=10\n", "nothing reads this file at boot"),
        ("etc/sysctl.d/50-x.conf", "\ufeffvm.swappiness=10\n", "byte order mark"),
    ],
)
def test_a_line_that_may_have_no_effect_is_written_again(tmp_path, name, text, why):
    """Debian 13 has no link to sysctl.conf; systemd 252 was observed not to skip the mark."""
    planned = plan(tmp_path, {name: text})
    assert "vm.swappiness = 10" in planned.artifacts[0].after
    assert f"written, although /{name}:1 has it" in planned.notes[0]
    assert why in planned.notes[0]


@pytest.mark.parametrize(
    ("lines", "effective"),
    [
        ("vm.*=60\nvm.swappiness=10\n", True),
        ("vm.swappiness=10\nvm.*=60\n", True),
        ("vm.*=10\n", True),
        ("vm.*=10\n-vm.swappiness\n", False),
        ("vm.swappiness=10\n-vm/swappiness\n", False),
        ("vm.*=60\nvm.sw*=10\n", True),
        ("vm.sw*=10\nvm.*=60\n", False),
    ],
)
def test_a_key_counts_more_than_patterns_and_can_be_exempt_from_them(tmp_path, lines, effective):
    """As systemd-sysctl 252 was observed to do it."""
    planned = plan(tmp_path, {"usr/lib/sysctl.d/50-x.conf": lines})
    assert planned.conflicts == ()
    assert (planned.artifacts == ()) == effective


def test_a_later_line_that_takes_the_key_back_is_a_conflict(tmp_path):
    planned = plan(tmp_path, {"usr/lib/sysctl.d/95-x.conf": "-vm.swappiness\n"})
    (clash,) = planned.conflicts
    assert (clash.found, clash.where) == ("-vm.swappiness", "/usr/lib/sysctl.d/95-x.conf:1")
    assert clash.remedy == "mask it with an empty /etc/sysctl.d/95-x.conf"
    assert plan(tmp_path, {"usr/lib/sysctl.d/95-x.conf": "vm.*=1\n"}).conflicts == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("etc/tmpfiles.d/x.conf", "w /proc/sys/vm/swappiness - - - - 60\n"),
        ("usr/lib/tmpfiles.d/x.conf", "f+ /proc/sys/vm/swappiness - - - - 60\n"),
        ("etc/udev/rules.d/10-x.rules", 'KERNEL=="sda", SYSCTL{vm/swappiness}="60"\n'),
        ("etc/rc.local", "#!/bin/sh\nsysctl -w vm.swappiness=60\n"),
        ("etc/cron.d/x", "@reboot root echo 60 > /proc/sys/vm/swappiness\n"),
    ],
)
def test_what_writes_the_sysctl_later_is_a_conflict(tmp_path, name, text):
    (clash,) = plan(tmp_path, {name: text}).conflicts
    assert clash.where.startswith(f"/{name}:")


def test_sysctl_conf_counts_in_its_place_where_it_is_linked(tmp_path):
    write(tmp_path, {"etc/sysctl.conf": "vm.swappiness=60\n", "etc/sysctl.d/README": ""})
    (tmp_path / "etc/sysctl.d/99-sysctl.conf").symlink_to("../sysctl.conf")
    (clash,) = plan(tmp_path, {}).conflicts
    assert clash.where == "/etc/sysctl.conf:1"


def test_value_that_clears_its_counterpart_is_a_conflict(tmp_path):
    files = {"etc/sysctl.d/99-x.conf": "vm.dirty_bytes=1\n"}
    (clash,) = plan(tmp_path, files, PersistedSetting("sysctl.vm.dirty_ratio", "10")).conflicts
    assert clash.found == "vm.dirty_bytes=1"


def test_glob_applies_to_matching_keys(tmp_path):
    files = {"etc/sysctl.d/99-x.conf": "net.ipv4.tcp_*mem = 1 2 3\n"}
    assert len(plan(tmp_path, files, RMEM).conflicts) == 1


def test_own_file_is_no_conflict(tmp_path):
    files = {"etc/sysctl.d/90-iostudy.conf": "vm.swappiness = 60\n"}
    planned = plan(tmp_path, files)
    assert planned.conflicts == ()
    assert planned.artifacts[0].before == "vm.swappiness = 60\n"


def test_the_name_of_a_study_stays_in_its_comment():
    written = sysctl.text(
        [PersistedSetting("sysctl.vm.swappiness", "10")], "a\nvm.swappiness = 100\x85\u2028x"
    )
    assert written.splitlines()[1:] == ["vm.swappiness = 10"]
