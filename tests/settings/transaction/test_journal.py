import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.errors import RestoreError, SettingError, UnsafePathError, UsageError
from iostudy.settings.transaction.journal import (
    MAX_BYTES,
    Journal,
    JournalContents,
    JournalEntry,
    JournalMode,
    encode,
    journal_paths,
    parse_journal,
    read_journal,
    unfinished_paths,
)
from tests.settings.note import FileNote

NOTES = [FileNote(f"/n{index}", "before", "after") for index in range(4)]


def create(directory: Path) -> Journal:
    return Journal.create(directory, JournalMode.STUDY, "iostudy run quickstart")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Four announced changes, the third undone."""
    journal = create(tmp_path_factory.mktemp("journal"))
    journal.log_changes(NOTES[:2])
    numbers = journal.log_changes(NOTES[2:])
    journal.log_undo(numbers[0])
    journal.close()
    return journal.path.read_bytes()


def test_an_announced_change_is_pending_until_undone(written: bytes) -> None:
    contents = parse_journal(written)
    assert [entry.record["path"] for entry in contents.pending] == ["/n0", "/n1", "/n3"]
    assert contents.pending[0] == JournalEntry(1, "note", NOTES[0].record())
    assert contents.owner is not None
    assert (contents.owner.pid, contents.owner.mode) == (os.getpid(), JournalMode.STUDY)
    assert str(contents.owner) == f"process {os.getpid()} (iostudy run quickstart)"
    assert not contents.committed
    assert not contents.damaged


def test_a_cut_before_the_seal_is_a_loss_and_a_cut_after_it_is_none(written: bytes) -> None:
    sealed = written[:-1].rfind(b"\n") + 1  # the last line notes what is undone, without a sync
    for length in range(len(written)):
        whole = written[: written[:length].rfind(b"\n") + 1]
        contents = parse_journal(written[:length])
        assert contents == parse_journal(whole)
        assert bool(contents.lost_lines) == (length < sealed)


def test_a_cut_is_still_a_loss_after_other_changes_are_undone(tmp_path: Path) -> None:
    journal = create(tmp_path)
    journal.log_changes(NOTES)
    journal.close()
    whole = journal.path.read_bytes()
    for length in range(len(whole) - 1):
        journal.path.write_bytes(whole[:length])
        taken = Journal.acquire(journal.path)
        assert taken is not None
        lost = taken.contents()
        for entry in lost.pending:
            taken.log_undo(entry.number)
        taken.close()
        after = read_journal(journal.path)
        assert after.lost_lines == lost.lost_lines != ""
        assert after.pending == ()


def test_a_lost_newline_at_the_end_loses_nothing(tmp_path: Path) -> None:
    journal = create(tmp_path)
    journal.log_changes(NOTES)
    journal.close()
    journal.path.write_bytes(journal.path.read_bytes()[:-1])
    taken = Journal.acquire(journal.path)
    assert taken is not None
    assert len(taken.contents().pending) == len(NOTES)
    assert not taken.contents().lost_lines
    taken.remove()


def test_a_journal_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    """Its lines have no numbers, and no seal comes first."""
    owner = {"mode": "study", "pid": 1, "command": "iostudy run", "started_at": 1.5}
    change = {"number": 1, "kind": "note", "record": {"path": "/n0"}}
    path = tmp_path / "1-1.journal"
    path.write_bytes(b"".join(map(old_line, ({"owner": owner}, {"change": change}))) + b"00 {cut")
    taken = Journal.acquire(path)
    assert taken is not None
    assert taken.contents().pending == (JournalEntry(1, "note", {"path": "/n0"}),)
    assert not taken.contents().lost_lines
    taken.log_undo(1)
    assert taken.contents().pending == ()
    assert not taken.contents().lost_lines
    taken.remove()


def test_a_journal_has_its_name_once_it_has_its_first_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents: list[bytes] = []
    rename = Path.rename

    def noting(path: Path, target: Path) -> Path:
        assert journal_paths(tmp_path) == ()
        contents.append(path.read_bytes())
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", noting)
    journal = create(tmp_path)
    assert not parse_journal(contents[0]).lost_lines
    assert parse_journal(contents[0]).owner is not None
    assert unfinished_paths(tmp_path) == ()
    journal.remove()


def test_an_announcement_costs_one_sync_and_is_sealed_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = create(tmp_path)
    synced: list[bytes] = []
    real = os.fdatasync

    def noting(descriptor: int) -> None:
        synced.append(journal.path.read_bytes())
        real(descriptor)

    monkeypatch.setattr("os.fdatasync", noting)
    journal.log_changes(NOTES)
    (then,) = synced
    assert len(parse_journal(then).pending) == len(NOTES)
    assert b'"sealed":2,' in then.splitlines()[0]
    assert b'"sealed":6,' in journal.path.read_bytes().splitlines()[0]
    journal.remove()


def old_line(event: object) -> bytes:
    text = json.dumps(event).encode()
    return b"%08x %b\n" % (zlib.crc32(text), text)


@given(st.data())
def test_a_flipped_bit_costs_its_line_and_no_other(written: bytes, data: st.DataObject) -> None:
    lines = written.splitlines(keepends=True)
    hit = data.draw(st.integers(0, len(lines) - 1))
    place = data.draw(st.integers(0, len(lines[hit]) - 2))
    flipped = bytearray(lines[hit])
    flipped[place] ^= data.draw(st.sampled_from([1, 2, 4, 16, 32, 64]))
    damaged = parse_journal(b"".join([*lines[:hit], bytes(flipped), *lines[hit + 1 :]]))
    without = parse_journal(b"".join([*lines[:hit], *lines[hit + 1 :]]))
    assert damaged.pending == without.pending
    assert damaged.damaged[0] == hit + 1


@given(st.binary())
def test_no_bytes_break_it(data: bytes) -> None:
    assert parse_journal(data).pending == ()


def test_an_empty_file_has_lost_its_lines() -> None:
    assert parse_journal(b"") == JournalContents(missing=1)


def test_one_owner_at_a_time(tmp_path: Path) -> None:
    journal = create(tmp_path)
    assert Journal.acquire(journal.path) is None
    journal.close()
    taken = Journal.acquire(journal.path)
    assert taken is not None
    taken.remove()
    assert Journal.acquire(journal.path) is None
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


@pytest.mark.child
def test_a_command_of_the_owner_keeps_the_lock(tmp_path: Path) -> None:
    journal = create(tmp_path)
    child = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False
    )
    journal.close()
    try:
        assert Journal.acquire(journal.path) is None
    finally:
        child.communicate(b"\n")
    taken = Journal.acquire(journal.path)
    assert taken is not None
    taken.close()


def test_a_line_that_was_cut_short_before_its_sync_goes(tmp_path: Path) -> None:
    journal = create(tmp_path)
    journal.log_changes(NOTES[:1])
    journal.close()
    with journal.path.open("ab") as file:
        file.write(encode(4, {"change": {"number": 2}})[:-9])
    taken = Journal.acquire(journal.path)
    assert taken is not None
    taken.log_undo(1)
    assert taken.contents().pending == ()
    assert not taken.contents().lost_lines
    taken.remove()


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    journal = create(tmp_path)
    name = os.fsdecode(b"/out/\xff")
    journal.log_changes([FileNote(name, "a", "b")])
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
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,mode=755", "none", tmp_path], check=True)
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
        journal.log_changes(NOTES)
    with pytest.raises(RestoreError, match="No space left"):
        journal.log_undo(1)
    journal.remove()


@pytest.mark.parametrize("text", [b"5", b"{", b'{"change":5}', b'{"undone":[]}', b'{"owner":{}}'])
def test_a_line_of_another_version_is_an_error_that_names_the_file(
    tmp_path: Path, text: bytes
) -> None:
    path = tmp_path / "1.journal"
    path.write_bytes(b"%08x %b\n" % (zlib.crc32(text), text))
    with pytest.raises(RestoreError, match="of the version") as caught:
        read_journal(path)
    assert caught.value.where == str(path)


def test_a_journal_that_is_removed_meanwhile_says_nothing(tmp_path: Path) -> None:
    assert read_journal(tmp_path / "gone.journal") == JournalContents()


@pytest.mark.root
def test_the_journal_of_somebody_else_is_not_carried_out(tmp_path: Path) -> None:
    path = create(tmp_path).path
    os.chown(path, 65534, 65534)
    with pytest.raises(PermissionError, match="belongs to user"):
        Journal.acquire(path)


def test_a_journal_must_be_a_regular_file(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("whole\nwithout an end")
    (tmp_path / "1.journal").symlink_to(target)
    os.mkfifo(tmp_path / "2.journal")
    for path in journal_paths(tmp_path):
        with pytest.raises(OSError, match=r"symbolic links|not a regular file"):
            Journal.acquire(path)
    assert target.read_text() == "whole\nwithout an end"


def test_a_fifo_or_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "1.journal").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "2.journal")
    for path in journal_paths(tmp_path):
        with pytest.raises(RestoreError, match=r"symbolic links|not a regular file"):
            read_journal(path)


def test_a_journal_beyond_all_bounds_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "1.journal"
    path.touch(mode=0o600)
    os.truncate(path, 60 << 30)
    with pytest.raises(RestoreError, match=f"limit of {MAX_BYTES}"):
        read_journal(path)
    with pytest.raises(OSError, match="limit"):
        Journal.acquire(path)


def test_no_more_is_announced_than_can_be_read(tmp_path: Path) -> None:
    journal = create(tmp_path)
    os.truncate(journal.path, MAX_BYTES // 2)
    with pytest.raises(SettingError, match="would exceed"):
        journal.log_changes(NOTES)
    journal.log_undo(1)
    journal.remove()


def test_journals_that_another_user_could_place_are_not_read(tmp_path: Path) -> None:
    directory = tmp_path / "state"
    create(directory).close()
    directory.chmod(0o777)
    for look in (journal_paths, unfinished_paths, create):
        with pytest.raises(UnsafePathError, match="writable by every user"):
            look(directory)


def test_no_half_made_journal_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fdatasync", lambda _: os.open("/no/such/file", os.O_RDONLY))
    descriptors = set(Path("/proc/self/fd").iterdir())
    with pytest.raises(SettingError):
        create(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert set(Path("/proc/self/fd").iterdir()) == descriptors
