from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.persist import fstab
from iostudy.persist.request import PersistedSetting
from tests.persist.trees import write

TEXT = """\
# /etc/fstab: static file system information.
UUID=0a1b-2c  /          ext4\terrors=remount-ro 0 1   # the root
/dev/sdb1\t/data\text4\trelatime,commit=5\t0\t2

LABEL=my\\040disk /mnt/my\\040disk xfs defaults
proc /proc proc
# /dev/sdc1 /old ext4 defaults 0 0
/swapfile none swap sw 0 0
"""
DATA = Path("/data")
NOATIME = PersistedSetting("mount.atime", "noatime", mount_point=DATA)
MOUNTED = "36 1 8:17 / /data rw,relatime - ext4 /dev/sdb1 rw\n"


def plan(root: Path, *kept: PersistedSetting, text: str = TEXT, **files: str):
    return fstab.plan(kept or (NOATIME,), write(root, {"etc/fstab": text, **files}))


def test_every_line_about_a_file_system():
    assert [(e.number, e.point, e.options) for e in fstab.parse(TEXT)] == [
        (1, "/", "errors=remount-ro"),
        (2, "/data", "relatime,commit=5"),
        (4, "/mnt/my disk", "defaults"),
        (5, "/proc", ""),
        (7, "none", "sw"),
    ]


def test_only_the_options_of_that_line_change(tmp_path):
    (file,) = plan(
        tmp_path, NOATIME, PersistedSetting("mount.commit", "30", mount_point=DATA)
    ).artifacts
    assert file.before == TEXT
    assert file.after == TEXT.replace("relatime,commit=5", "noatime,commit=30")


def test_a_point_with_a_blank_and_a_line_without_options(tmp_path):
    points = [Path("/mnt/my disk"), Path("/proc")]
    (file,) = plan(
        tmp_path,
        *(PersistedSetting("mount.atime", "noatime", mount_point=point) for point in points),
    ).artifacts
    assert "/mnt/my\\040disk xfs defaults,noatime\n" in file.after
    assert "\nproc /proc proc\tnoatime\n" in file.after


def test_matching_line_is_not_changed(tmp_path):
    planned = plan(tmp_path, text=TEXT.replace("relatime", "noatime"))
    assert planned.artifacts == ()
    assert planned.notes == ("mount.atime@/data = noatime: already so in /etc/fstab",)


def test_active_mount_is_remounted_and_an_absent_one_is_not(tmp_path):
    planned = plan(tmp_path, **{"proc/self/mountinfo": MOUNTED})
    assert planned.artifacts[0].activations[0].command == ("mount", "-o", "remount", "/data")
    planned = plan(tmp_path)
    assert planned.artifacts[0].activations == ()
    assert "hold from the next mount" in planned.notes[0]


def test_data_mode_applies_at_the_next_mount(tmp_path):
    data = PersistedSetting("mount.data", "writeback", mount_point=DATA)
    planned = plan(tmp_path, NOATIME, data, **{"proc/self/mountinfo": MOUNTED})
    assert planned.artifacts[0].activations == ()
    assert planned.notes[0].startswith("mount.data of /data cannot be changed while it is mounted")


UNIT = "[Mount]\nWhat=/dev/sdb1\nWhere = /data/\n"


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({}, "/etc/fstab has no line for /data"),
        ({"etc/systemd/system/data.mount": UNIT}, "/etc/systemd/system/data.mount mounts it"),
        ({"proc/self/mountinfo": MOUNTED.replace("ext4", "autofs")}, "the automounter mounts it"),
    ],
)
def test_a_mount_without_a_line_is_refused_with_the_reason(tmp_path, files, why):
    planned = plan(tmp_path, text="# empty\n", **files)
    assert planned.artifacts == ()
    assert planned.unsupported[0].reason == why


UNITS = "etc/systemd/system"
OPTIONS = "[Unit]\nOptions=x\n[Mount]\nOptions=noatime\nOptions={}\n"


@pytest.mark.parametrize(
    "name",
    [
        "etc/systemd/system/data.mount",
        "run/systemd/system/data.mount",
        "etc/systemd/system/data.mount.d/o.conf",
        "usr/lib/systemd/system/data.mount.d/o.conf",
        "etc/systemd/system/mount.d/o.conf",
    ],
)
def test_options_of_a_unit_that_take_precedence_are_a_conflict(tmp_path, name):
    planned = plan(tmp_path, **{name: OPTIONS.format("relatime")})
    (clash,) = planned.conflicts
    assert (clash.where, clash.found) == (f"/{name}:5", "Options=relatime")
    same = plan(tmp_path, **{name: OPTIONS.format("rw,noatime")})
    assert (same.conflicts, same.artifacts) == ((), ())
    assert same.notes == (f"mount.atime@/data = noatime: already so in /{name}:5",)


def test_the_line_takes_precedence_over_a_unit_of_a_package(tmp_path):
    planned = plan(tmp_path, **{"usr/lib/systemd/system/data.mount": OPTIONS.format("relatime")})
    assert (planned.conflicts, len(planned.artifacts)) == ((), 1)


def test_a_unit_without_options_takes_precedence_too(tmp_path):
    (clash,) = plan(tmp_path, **{f"{UNITS}/data.mount": UNIT}).conflicts
    assert clash.found == "no Options="


def test_the_last_drop_in_counts_and_the_more_specific_of_two_with_one_name(tmp_path):
    point = Path("/data/a-b")
    files = {
        rf"{UNITS}/data-a\x2db.mount.d/20.conf": OPTIONS.format("noatime"),
        f"{UNITS}/data-.mount.d/20.conf": OPTIONS.format("strictatime"),
        f"{UNITS}/data-.mount.d/10.conf": OPTIONS.format("relatime"),
    }
    kept = PersistedSetting("mount.atime", "noatime", mount_point=point)
    planned = plan(tmp_path, kept, text="/dev/sdb1 /data/a-b ext4\n", **files)
    assert "20.conf:5" in planned.notes[0]


@pytest.mark.child
@pytest.mark.skipif(shutil.which("systemd-escape") is None, reason="needs systemd-escape")
@pytest.mark.parametrize("point", ["/", "/home", "/mnt/a-b", "/mnt/.x y", "/data/ä.b_c:d"])
def test_names_of_units_are_those_of_systemd(point):
    command = ("systemd-escape", "--path", "--suffix=mount", point)
    assert fstab.unit_name(Path(point)) == subprocess.check_output(command, text=True).strip()


def test_a_mount_point_is_found_through_links(tmp_path):
    """As findmnt(8) does: /home is a link to var/home on some distributions."""
    kept = PersistedSetting("mount.atime", "noatime", mount_point=Path("/var/home"))
    tree = write(tmp_path, {"etc/fstab": "/dev/sdb1 /home ext4 defaults 0 2\n", "var/home/x": ""})
    (tree / "home").symlink_to("var/home")
    (file,) = fstab.plan([kept], tree).artifacts
    assert file.after == "/dev/sdb1 /home ext4 defaults,noatime 0 2\n"


def test_two_lines_for_one_mount_point_are_refused(tmp_path):
    planned = plan(tmp_path, text="/dev/sdb1 /data ext4\n/dev/sdc1 /data/ ext4 rw 0 0\n")
    assert "2 lines for /data" in planned.unsupported[0].reason


def test_a_setting_without_a_mount_is_named(tmp_path):
    assert (
        "for which mount"
        in plan(tmp_path, PersistedSetting("mount.atime", "noatime")).unsupported[0].reason
    )


FIELD = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1)


@given(FIELD)
def test_escaped_fields_round_trip(text):
    field = fstab.escape(text)
    assert not set(field) & set(" \t\n")
    assert fstab.unescape(field) == text


def test_a_field_may_be_in_bytes():
    assert fstab.unescape(r"/mnt/\303\244") == "/mnt/ä"


LINES = st.lists(st.text(st.sampled_from("a/#\\ \t,=é\r\f")))


@given(LINES, st.text(st.sampled_from("ab,= \\"), min_size=1))
def test_editing_leaves_every_other_byte(lines, options):
    text = "\n".join(lines)
    for entry in fstab.parse(text):
        edited = fstab.with_options(text, entry, options)
        (again,) = (e for e in fstab.parse(edited) if e.number == entry.number)
        assert (again.point, again.options) == (entry.point, options)
        if entry.options:
            assert fstab.parse(fstab.with_options(edited, again, entry.options)) == fstab.parse(
                text
            )
        others = list(zip(text.split("\n"), edited.split("\n"), strict=True))
        assert all(a == b for n, (a, b) in enumerate(others) if n != entry.number)


def test_dangling_link_to_a_unit_is_ignored(tmp_path):
    tree = write(tmp_path, {"etc/systemd/system/data.mount": "[Mount]\nWhere=/data\n"})
    (tree / "etc/systemd/system/a.mount").symlink_to("gone")
    setting = PersistedSetting("mount.atime", "noatime", mount_point=Path("/data"))
    (unkept,) = fstab.plan([setting], tree).unsupported
    assert unkept.reason == "/etc/systemd/system/data.mount mounts it"
