import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.errors import RestoreError, SettingError, UsageError
from iostudy.settings.journal import (
    Contents,
    Entry,
    Journal,
    Mode,
    journal_paths,
    parse,
    read,
)
from tests.settings.note import Note

NOTES = [Note(f"/n{index}", "before", "after") for index in range(4)]


def create(directory: Path) -> Journal:
    return Journal.create(directory, Mode.STUDY, "iostudy run quickstart")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Four announced changes, the third undone."""
    journal = create(tmp_path_factory.mktemp("journal"))
    journal.announce(NOTES[:2])
    numbers = journal.announce(NOTES[2:])
    journal.undone(numbers[0])
    journal.close()
    return journal.path.read_bytes()


def test_what_was_announced_and_not_undone_is_pending(written: bytes) -> None:
    contents = parse(written)
    assert [entry.record["path"] for entry in contents.pending] == ["/n0", "/n1", "/n3"]
    assert contents.pending[0] == Entry(1, "note", NOTES[0].record())
    assert contents.owner is not None
    assert (contents.owner.pid, contents.owner.mode) == (os.getpid(), Mode.STUDY)
    assert str(contents.owner) == f"process {os.getpid()} (iostudy run quickstart)"
    assert not contents.committed
    assert not contents.damaged


def test_cut_anywhere_it_says_what_whole_lines_say(written: bytes) -> None:
    for length in range(len(written)):
        whole = written[: written[:length].rfind(b"\n") + 1]
        assert parse(written[:length]) == parse(whole)
        assert not parse(written[:length]).damaged


@given(st.data())
def test_a_flipped_bit_costs_its_line_and_no_other(written: bytes, data: st.DataObject) -> None:
    lines = written.splitlines(keepends=True)
    hit = data.draw(st.integers(0, len(lines) - 1))
    place = data.draw(st.integers(0, len(lines[hit]) - 2))
    flipped = bytearray(lines[hit])
    flipped[place] ^= data.draw(st.sampled_from([1, 2, 4, 16, 32, 64]))
    damaged = parse(b"".join([*lines[:hit], bytes(flipped), *lines[hit + 1 :]]))
    without = parse(b"".join([*lines[:hit], *lines[hit + 1 :]]))
    assert damaged.pending == without.pending
    assert damaged.damaged[0] == hit + 1


@given(st.binary())
def test_no_bytes_break_it(data: bytes) -> None:
    assert parse(data).pending == ()


def test_an_empty_file_says_nothing() -> None:
    assert parse(b"") == Contents()


def test_one_owner_at_a_time(tmp_path: Path) -> None:
    journal = create(tmp_path)
    assert Journal.take(journal.path) is None
    journal.close()
    taken = Journal.take(journal.path)
    assert taken is not None
    taken.remove()
    assert Journal.take(journal.path) is None
    assert journal_paths(tmp_path) == ()


def test_the_newest_is_the_first_also_where_the_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = create(tmp_path)
    monkeypatch.setattr("time.time_ns", lambda: 1)
    newer = create(tmp_path)
    assert journal_paths(tmp_path) == (newer.path, older.path)
    older.close()
    newer.close()


def test_a_command_of_the_owner_keeps_the_lock(tmp_path: Path) -> None:
    journal = create(tmp_path)
    child = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False
    )
    journal.close()
    try:
        assert Journal.take(journal.path) is None
    finally:
        child.communicate(b"\n")
    taken = Journal.take(journal.path)
    assert taken is not None
    taken.close()


def test_a_taken_journal_goes_on_after_a_line_that_was_cut_short(tmp_path: Path) -> None:
    journal = create(tmp_path)
    journal.announce(NOTES[:2])
    journal.close()
    journal.path.write_bytes(journal.path.read_bytes()[:-9])
    taken = Journal.take(journal.path)
    assert taken is not None
    taken.undone(1)
    assert taken.contents().pending == ()
    assert not taken.contents().damaged
    taken.remove()


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    journal = create(tmp_path)
    name = os.fsdecode(b"/out/\xff")
    journal.announce([Note(name, "a", "b")])
    assert journal.contents().pending[0].record["path"] == name
    journal.remove()


@pytest.mark.parametrize("kind", ["a file", "below a file"])
def test_a_state_directory_that_cannot_be(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").touch()
    directory = tmp_path / "file" / ("" if kind == "a file" else "below")
    with pytest.raises(UsageError, match="IOSTUDY_STATE_DIR"):
        create(directory)


@pytest.mark.root
def test_a_state_directory_on_a_read_only_file_system(tmp_path: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", tmp_path], check=True)
    try:
        for directory in (tmp_path, tmp_path / "below"):
            with pytest.raises(UsageError, match="Read-only file system"):
                create(directory)
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_no_room_for_the_journal(tmp_path: Path) -> None:
    """A descriptor of /dev/full refuses every write as a full disk does."""
    journal = create(tmp_path)
    os.dup2(os.open("/dev/full", os.O_RDWR), journal.descriptor)
    with pytest.raises(SettingError, match="No space left"):
        journal.announce(NOTES)
    with pytest.raises(RestoreError, match="No space left"):
        journal.undone(1)
    journal.remove()


@pytest.mark.parametrize("text", [b"5", b"{", b'{"change":5}', b'{"undone":[]}', b'{"owner":{}}'])
def test_a_line_of_another_version_is_an_error_that_names_the_file(
    tmp_path: Path, text: bytes
) -> None:
    path = tmp_path / "1.journal"
    path.write_bytes(b"%08x %b\n" % (zlib.crc32(text), text))
    with pytest.raises(RestoreError, match="of the version") as caught:
        read(path)
    assert caught.value.where == str(path)


def test_a_journal_that_is_removed_meanwhile_says_nothing(tmp_path: Path) -> None:
    assert read(tmp_path / "gone.journal") == Contents()


@pytest.mark.root
def test_the_journal_of_somebody_else_is_not_carried_out(tmp_path: Path) -> None:
    path = create(tmp_path).path
    os.chown(path, 65534, 65534)
    with pytest.raises(PermissionError, match="of user 65534"):
        Journal.take(path)


def test_what_is_no_file_is_no_journal(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("whole\nwithout an end")
    (tmp_path / "1.journal").symlink_to(target)
    os.mkfifo(tmp_path / "2.journal")
    for path in journal_paths(tmp_path):
        with pytest.raises(OSError, match=r"symbolic links|no ordinary file"):
            Journal.take(path)
    assert target.read_text() == "whole\nwithout an end"
