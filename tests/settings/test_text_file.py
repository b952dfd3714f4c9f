"""Keys of text files: only the value changes, whatever else the file holds."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iostudy.errors import RestoreError, SettingError, TargetError
from iostudy.settings import kinds
from iostudy.settings.attributes import AttributeSetting
from iostudy.settings.change import Change, ConflictPolicy
from iostudy.settings.declarations import Declaration
from iostudy.settings.definitions.declared import NOT_SET
from iostudy.settings.kinds import text_file

POSTGRES = b"""# a comment: wal_compression = no
shared_buffers = 128MB\t# min 128kB
wal_compression = off   # enables compression
log_line_prefix = '%m [%p] # %q'
"""
INI = b"""top = 1
[mysqld]
innodb_flush_method=fsync
[client]
innodb_flush_method = other
"""


def declared(path: Path, key: str, **more: object) -> AttributeSetting:
    declaration = Declaration.model_validate({"file": str(path), "key": key, **more})
    definition = declaration.define("my.key", undocumented=True)
    (setting,) = text_file.bind(definition, ".")
    return setting


def change(setting: AttributeSetting, value: str) -> Change:
    (found,) = kinds.prepare_changes({setting: value})
    return found


def again(own: Change) -> Change:
    """The change as a recovery rebuilds it from its journal."""
    return kinds.rebuild_change(own.kind, json.loads(json.dumps(own.record())))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "app.conf"


def test_only_the_value_changes_and_comes_back(file: Path) -> None:
    file.write_bytes(POSTGRES)
    own = change(declared(file, "wal_compression"), "lz4")
    assert own.describe() == "my.key of this host: off -> lz4"
    own.apply()
    assert file.read_bytes() == POSTGRES.replace(b"= off ", b"= lz4 ")
    assert [str(each) for each in again(own).undo()] == ["my.key of this host: lz4 -> off"]
    assert file.read_bytes() == POSTGRES
    assert again(own).undo() == ()


@pytest.mark.parametrize(
    ("content", "more", "after"),
    [
        (b"key off\n", {}, b"key on\n"),
        (b"  key=off\r\nx=1\r\n", {}, b"  key=on\r\nx=1\r\n"),
        (b"key: off", {"separator": ": "}, b"key: on"),
        (b"key = 'a # b' # c\n", {}, b"key = on # c\n"),
        (b"x = 1\n", {}, b"key = on\nx = 1\n"),
        (b"x=1\r\n", {"separator": "="}, b"key=on\r\nx=1\r\n"),
        (b"", {}, b"key = on\n"),
        (b"x 1", {"separator": " "}, b"key on\nx 1"),
        (b"\xff\xfe=\n", {}, b"key = on\n\xff\xfe=\n"),
        (b"[s]\n[t]\n", {"section": "s"}, b"[s]\nkey = on\n[t]\n"),
        (b"a=1\n[s]", {"section": "s"}, b"a=1\n[s]\nkey = on"),
        (b"key=1\n[s] # c\nkey=2\n[t]\nkey=3\n", {"section": "s"}, None),
        (
            b"keys = 1\nmy.key = 2\n#key = 3\n;key = 4\n",
            {},
            b"key = on\nkeys = 1\nmy.key = 2\n#key = 3\n;key = 4\n",
        ),
    ],
)
def test_forms_of_files(file: Path, content: bytes, more: dict[str, str], after: bytes) -> None:
    file.write_bytes(content)
    own = change(declared(file, "key", **more), "on")
    own.apply()
    assert file.read_bytes() == (after or content.replace(b"key=2", b"key=on"))
    again(own).undo()
    assert file.read_bytes() == content


@given(
    lines=st.lists(
        st.sampled_from([b"a=1", b"[s]", b"[t]", b"# key = 7", b"", b"  b 2 # c", b"key2=3"])
    ),
    ends=st.sampled_from([b"\n", b"\r\n"]),
    key=st.one_of(st.none(), st.sampled_from([b"key=1", b" key : 1 ;c", b"key   '1 2'  "])),
    place=st.integers(0, 10),
    last=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_whatever_the_file_it_comes_back(tmp_path_factory, lines, ends, key, place, last) -> None:
    if key is not None:
        lines.insert(min(place, len(lines)), key)
    content = ends.join(lines) + (ends if last and lines else b"")
    file = tmp_path_factory.mktemp("any") / "app.conf"
    file.write_bytes(content)
    section = "s" if b"[s]" in lines else ""
    before = content.splitlines()
    try:
        own = change(
            declared(file, "key", section=section) if section else declared(file, "key"), "new"
        )
    except SettingError:
        return
    own.apply()
    assert declared(file, "key", **({"section": section} if section else {})).read() == "new"
    own.undo()
    assert file.read_bytes() == content, before


def test_mode_owner_and_attributes_stay(file: Path) -> None:
    file.write_bytes(POSTGRES)
    file.chmod(0o640)
    os.setxattr(file, "user.note", b"kept")
    if os.geteuid() == 0:
        os.chown(file, 12345, 23456)
    before = file.stat()
    own = change(declared(file, "wal_compression"), "on")
    own.apply()
    after = file.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )
    assert os.getxattr(file, "user.note") == b"kept"
    own.undo()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.mark.child
def test_an_access_control_list_stays(file: Path) -> None:
    file.write_bytes(POSTGRES)
    # Version 2; owner, user 1234, group, mask and others (linux/posix_acl_xattr.h).
    entries = ((1, 6, -1), (2, 6, 1234), (4, 4, -1), (16, 6, -1), (32, 4, -1))
    acl = b"\2\0\0\0" + b"".join(
        tag.to_bytes(2, "little")
        + mode.to_bytes(2, "little")
        + (who & 0xFFFFFFFF).to_bytes(4, "little")
        for tag, mode, who in entries
    )
    try:
        os.setxattr(file, "system.posix_acl_access", acl)
    except OSError as error:
        pytest.skip(f"no access control lists here: {error}")
    own = change(declared(file, "wal_compression"), "on")
    own.apply()
    assert os.getxattr(file, "system.posix_acl_access") == acl


def test_a_link_is_followed_once_and_a_second_name_refused(tmp_path: Path, file: Path) -> None:
    file.write_bytes(POSTGRES)
    link = tmp_path / "link.conf"
    link.symlink_to(file)
    own = change(declared(link, "wal_compression"), "on")
    own.apply()
    assert link.is_symlink()
    assert b"wal_compression = on " in file.read_bytes()
    own.undo()
    os.link(file, tmp_path / "second")
    with pytest.raises(SettingError, match="several names"):
        declared(file, "wal_compression").read()


def test_no_link_in_the_place_of_the_file_leads_elsewhere(tmp_path: Path, file: Path) -> None:
    """Its owner may put a link there after the setting was found."""
    file.write_bytes(POSTGRES)
    own = change(declared(file, "wal_compression"), "on")
    victim = tmp_path / "victim"
    victim.write_bytes(b"wal_compression = secret\n")
    file.unlink()
    file.symlink_to(victim)
    with pytest.raises((SettingError, RestoreError)):
        own.apply()
    assert victim.read_bytes() == b"wal_compression = secret\n"
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.conf").write_bytes(POSTGRES)
    own = change(declared(folder / "a.conf", "wal_compression"), "on")
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    with pytest.raises((SettingError, RestoreError)):
        own.apply()
    assert (tmp_path / "moved/a.conf").read_bytes() == POSTGRES


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"key=1\nkey=2\n", r"several lines \(1, 2\)"),
        (b"key=1 \\\n 2\n", "continued on the line after 1"),
        (b"key=1\0\n", "NUL"),
        (b"key=\xff\n", "no(t a)? line of printable text"),
        (b"key=1\n" + bytes(5 << 20), "larger than"),
    ],
)
def test_files_that_are_refused(file: Path, content: bytes, reason: str) -> None:
    file.write_bytes(content)
    with pytest.raises(SettingError, match=reason):
        declared(file, "key").read()


def test_a_missing_file_and_a_missing_section(file: Path) -> None:
    with pytest.raises(TargetError, match="No such file"):
        declared(file, "key")
    file.write_bytes(b"[a]\n")
    with pytest.raises(SettingError, match=r"without a section \[b\]"):
        change(declared(file, "key", section="b"), "1").apply()


def test_a_level_can_be_no_line(file: Path) -> None:
    file.write_bytes(POSTGRES)
    setting = declared(file, "wal_compression")
    own = change(setting, NOT_SET)
    own.apply()
    assert setting.read() == NOT_SET
    assert b"\nwal_compression" not in file.read_bytes()


@pytest.mark.child
def test_the_command_after_a_change_runs_for_each_value(file: Path, tmp_path: Path) -> None:
    file.write_bytes(b"key = 1\n")
    program = tmp_path / "reload"
    program.write_text(f"#!/bin/sh\ncat {file} >>{tmp_path}/log\n")
    program.chmod(0o755)
    own = change(declared(file, "key", after=str(program)), "2")
    own.apply()
    # As after a crash between the file and the command: the file alone does not tell.
    file.write_bytes(b"key = 1\n")
    again(own).undo()
    log = (tmp_path / "log").read_text().splitlines()
    assert log == ["key = 1", "key = 2", "key = 1"]  # the first proves that the command works


@pytest.mark.child
def test_a_command_that_fails_is_found_before_the_file_changes(file: Path) -> None:
    file.write_bytes(b"key = 1\n")
    own = change(declared(file, "key", after="false"), "2")
    with pytest.raises(SettingError, match="ended with 1"):
        own.apply()
    assert file.read_bytes() == b"key = 1\n"


@pytest.mark.child
def test_a_command_that_fails_at_the_end_names_what_to_type(file: Path, tmp_path: Path) -> None:
    file.write_bytes(b"key = 1\n")
    program = tmp_path / "reload"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    own = change(declared(file, "key", after=str(program)), "2")
    own.apply()
    program.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(RestoreError, match="ended with 3") as caught:
        own.undo()
    assert str(program) in caught.value.remedy
    assert file.read_bytes() == b"key = 1\n"


def test_another_process_has_changed_it(file: Path) -> None:
    file.write_bytes(b"key = 1\n")
    own = change(declared(file, "key"), "2")
    own.apply()
    file.write_bytes(b"key = 3\n")
    with pytest.raises(RestoreError, match="another process"):
        own.undo()
    assert file.read_bytes() == b"key = 3\n"
    again(own).undo(ConflictPolicy.OVERWRITE)
    assert file.read_bytes() == b"key = 1\n"


def test_what_a_crash_left_is_removed(file: Path) -> None:
    file.write_bytes(b"key = 1\n")
    own = change(declared(file, "key"), "2")
    own.apply()
    left = file.with_name(f".{file.name}.iostudy")
    left.write_text("half")
    own.undo()
    assert sorted(file.parent.iterdir()) == [file]
