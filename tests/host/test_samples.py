"""Tests of parsers on recorded kernel files, from Linux 2.6.32 to 6.8."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.host.mounts import parse_mountinfo
from iostudy.host.volumes import parse_database, read_properties
from tests.host.recorded import SAMPLES
from tests.host.sysfs import write


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.glob("mountinfo-*")))
def test_every_line_of_mountinfo_is_a_mount(sample: str) -> None:
    data = (SAMPLES / sample).read_bytes()
    mounts = parse_mountinfo(data)
    assert len(mounts) == data.count(b"\n") > 1
    assert all(mount.point.is_absolute() and mount.filesystem for mount in mounts)


def test_names_that_are_escaped() -> None:
    mounts = parse_mountinfo((SAMPLES / "mountinfo-6.8").read_bytes())
    assert os.fspath(mounts[-1].point) == "/srv/a name\\with\tall\nin#it"


def test_options_of_old_nfs() -> None:
    mounts = parse_mountinfo((SAMPLES / "mountinfo-2.6.32").read_bytes())
    assert {"soft", "nolock", "proto=udp"} <= set(mounts[-1].super_options)


def test_the_database_of_udev(tmp_path: Path) -> None:
    text = "S:disk/by-id/x\nW:3\nI:4021\nE:ID_FS_TYPE=ext4\nE:EMPTY=\nE:A=b=c\nE:odd\nG:systemd\n"
    write(tmp_path / "run/udev/data/b8:1", text)
    found = read_properties("8:1", tmp_path)
    assert found == {"ID_FS_TYPE": "ext4", "EMPTY": "", "A": "b=c"}
    assert read_properties("8:2", tmp_path) == {}


names = st.from_regex(r"[A-Z_]+", fullmatch=True)


@given(st.dictionaries(names, st.text().filter(lambda text: "\n" not in text)))
def test_udev_properties_round_trip(properties: dict[str, str]) -> None:
    lines = "".join(f"E:{name}={value}\n" for name, value in properties.items())
    assert parse_database("I:1\n" + lines) == properties


@given(st.text())
def test_arbitrary_udev_database_is_parsed_without_error(text: str) -> None:
    parse_database(text)
