import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from iostudy.cli import stale_changes
from iostudy.errors import RestoreError
from iostudy.host.processes import LockHolder, find_users
from iostudy.settings import kinds, places
from iostudy.settings.change import WHOLE_HOST, Change, ConflictPolicy
from iostudy.settings.transaction.journal import Journal, JournalMode, journal_paths
from iostudy.settings.transaction.locks import lock_devices, lock_host
from iostudy.settings.transaction.recovery import (
    PATIENCE_SECONDS,
    Recovery,
    restore_all,
    restore_stale,
)
from iostudy.settings.transaction.transaction import UndoResult
from tests.fixtures_loop import loop_disk, queue_state
from tests.settings.note import FileNote


@pytest.fixture(autouse=True)
def _notes_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kinds._CHANGES, FileNote.kind, FileNote.from_record)


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note"
    path.write_text("original")
    return path


def leave(
    directory: Path, *changes: Change, mode: JournalMode = JournalMode.STUDY, commit: bool = False
) -> Path:
    """A journal as an owner leaves it who is killed after the changes."""
    journal = Journal.create(directory, mode, "iostudy run old")
    journal.log_changes(changes)
    for change in changes:
        change.apply()
    if commit:
        journal.commit()
    journal.close()
    return journal.path


def test_nothing_to_do(state_dir: Path) -> None:
    assert restore_stale() == restore_all() == Recovery()
    assert not state_dir.exists()


def test_changes_of_a_killed_owner_are_restored(note: Path, state_dir: Path) -> None:
    leave(state_dir, FileNote.prepare(note, "new"))
    recovery = restore_stale()
    assert recovery.undo_result.restored_values == ("note: new -> original",)
    assert note.read_text() == "original"
    assert restore_stale() == Recovery()
    assert journal_paths(state_dir) == ()


def test_killed_before_the_change_nothing_is_restored(note: Path, state_dir: Path) -> None:
    journal = Journal.create(state_dir, JournalMode.STUDY, "iostudy run old")
    journal.log_changes([FileNote.prepare(note, "new")])
    journal.close()
    assert restore_stale() == Recovery()
    assert journal_paths(state_dir) == ()


def test_a_live_owner_is_left_alone_and_named(note: Path, state_dir: Path) -> None:
    journal = Journal.create(state_dir, JournalMode.STUDY, "iostudy run now")
    change = FileNote.prepare(note, "new")
    journal.log_changes([change])
    change.apply()
    for recovery in (restore_stale(), restore_all(policy=ConflictPolicy.OVERWRITE)):
        assert recovery.skip_reasons == (f"process {os.getpid()} (iostudy run now) is at work",)
    assert note.read_text() == "new"
    journal.remove()


def test_held_changes_wait_for_restore(note: Path, state_dir: Path) -> None:
    leave(state_dir, FileNote.prepare(note, "one"), mode=JournalMode.SET, commit=True)
    leave(state_dir, FileNote.prepare(note, "two"), mode=JournalMode.SET, commit=True)
    assert restore_stale() == Recovery()
    assert note.read_text() == "two"
    assert restore_all().undo_result.restored_values == (
        "note: two -> one",
        "note: one -> original",
    )
    assert journal_paths(state_dir) == ()


def test_a_set_that_was_killed_before_it_committed_is_stale(note: Path, state_dir: Path) -> None:
    leave(state_dir, FileNote.prepare(note, "new"), mode=JournalMode.SET)
    assert restore_stale().undo_result.restored_values == ("note: new -> original",)


def test_a_foreign_change_is_reported_until_force_decides(note: Path, state_dir: Path) -> None:
    leave(state_dir, FileNote.prepare(note, "new"))
    note.write_text("theirs")
    for _ in range(2):
        (failure,) = restore_stale().undo_result.failures
        assert failure.found == "theirs"
    assert restore_all(policy=ConflictPolicy.OVERWRITE).undo_result.restored_values == (
        "note: theirs -> original",
    )
    assert journal_paths(state_dir) == ()


def test_damaged_lines_are_named_and_all_others_restored(tmp_path: Path, state_dir: Path) -> None:
    notes = [tmp_path / name for name in ("a", "b", "c")]
    for note in notes:
        note.write_text("original")
    path = leave(state_dir, *(FileNote.prepare(note, "new") for note in notes))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], lines[3].replace(b"original", b"0riginal"), lines[4]]))
    recovery = restore_stale()
    assert [note.read_text() for note in notes] == ["original", "new", "original"]
    (failure,) = recovery.undo_result.failures
    assert "damaged lines (4)" in failure.found
    assert Path(failure.where).read_bytes().count(b"0riginal") == 1
    assert restore_stale() == Recovery()


def test_a_record_and_a_journal_of_another_version(note: Path, state_dir: Path) -> None:
    class ExtendedNote(FileNote):
        def record(self) -> dict[str, Any]:
            return {**super().record(), "news": 1}

    leave(state_dir, FileNote.prepare(note, "new"))
    leave(state_dir, ExtendedNote(str(note), "new", "newer"))
    journal = Journal.create(state_dir, JournalMode.STUDY, "iostudy of tomorrow")
    journal._append({"change": {"of": "another form"}}, sync=False)
    journal.close()
    note.write_text("new")
    failures = restore_stale().undo_result.failures
    assert [type(failure.__cause__) for failure in failures] == [TypeError, TypeError]
    assert note.read_text() == "original"
    assert len(journal_paths(state_dir)) == 2
    journal.remove()


@pytest.mark.root
def test_held_changes_on_a_device_in_use_by_a_study_wait_for_it(
    note: Path, state_dir: Path, loop: str
) -> None:
    class DeviceNote(FileNote):
        def affected_resources(self) -> tuple[str, ...]:
            return (loop, "gone")

    change = DeviceNote.prepare(note, "new")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(kinds._CHANGES, FileNote.kind, DeviceNote.from_record)
        leave(state_dir, change, mode=JournalMode.SET, commit=True)
        with lock_devices(loop):
            recovery = restore_all(policy=ConflictPolicy.OVERWRITE)
        (failure,) = recovery.undo_result.out_of_reach
        assert recovery == Recovery(UndoResult(failures=(failure,)))
        assert failure.wanted == f"to undo: {note}: original -> new"
        assert f"is at work on {loop}" in failure.found
        assert note.read_text() == "new"
        assert restore_all().undo_result.restored_values == ("note: new -> original",)


@pytest.mark.root
def test_two_devices_on_one_disk_do_not_keep_each_other_from_being_restored(
    state_dir: Path, loop: str
) -> None:
    with loop_disk() as other:
        before = [queue_state(name) for name in (loop, other)]
        values = dict.fromkeys(places.bind("block.scheduler", [loop, other]), "bfq")
        leave(state_dir, *kinds.prepare_changes(values))
        assert len(restore_stale().undo_result.restored_values) == 2
        assert [queue_state(name) for name in (loop, other)] == before


def test_settings_of_the_whole_host_wait_for_whoever_varies_them(
    note: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class HostNote(FileNote):
        def affected_resources(self) -> tuple[str, ...]:
            return (WHOLE_HOST,)

    monkeypatch.setitem(kinds._CHANGES, FileNote.kind, HostNote.from_record)
    leave(state_dir, HostNote.prepare(note, "new"), mode=JournalMode.SET, commit=True)
    with lock_host():
        (failure,) = restore_all().undo_result.failures
    assert "is at work on the settings of the whole host" in failure.found
    assert restore_all().undo_result.restored_values == ("note: new -> original",)


def test_a_change_of_a_killed_command_that_waits_is_printed_and_stops_nothing_else(
    note: Path,
    state_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    class HostNote(FileNote):
        def affected_resources(self) -> tuple[str, ...]:
            return (WHOLE_HOST,)

    monkeypatch.setitem(kinds._CHANGES, FileNote.kind, HostNote.from_record)
    leave(state_dir, HostNote.prepare(note, "new"))
    with lock_host():
        stale_changes.recover_stale_changes(must_succeed=True)
    printed = capsys.readouterr().err
    assert printed.startswith("not restored yet: ")
    assert f"to undo: {note}: original -> new" in printed
    assert note.read_text() == "new"


def test_a_kind_of_another_version(note: Path, state_dir: Path) -> None:
    class Future(FileNote):
        kind = "from-the-future"

    leave(state_dir, FileNote.prepare(note, "new"), Future(str(note), "new", "newer"))
    note.write_text("new")
    (failure,) = restore_stale().undo_result.failures
    assert "from-the-future" in failure.wanted
    assert note.read_text() == "original"
    assert len(journal_paths(state_dir)) == 1


@pytest.mark.root
def test_later_changes_are_undone_before_earlier_ones(
    state_dir: Path, loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A set that ends just after the journals were listed, of the value that is held already."""
    (setting,) = kinds.bind("block.nomerges", loop)
    before = setting.read()
    leave(state_dir, *kinds.prepare_changes({setting: "1"}), mode=JournalMode.SET, commit=True)
    older = journal_paths(state_dir)
    leave(state_dir, *kinds.prepare_changes({setting: "1"}), mode=JournalMode.SET, commit=True)
    listings = iter([older])
    monkeypatch.setattr(
        "iostudy.settings.transaction.recovery.journal_paths",
        lambda directory: next(listings, journal_paths(directory)),
    )
    (failure,) = restore_all().undo_result.failures
    assert "changed again since" in failure.found
    assert setting.read() == "1"
    restore_all().undo_result.check()
    assert setting.read() == before
    assert journal_paths(state_dir) == ()


@pytest.mark.root
def test_a_later_change_of_another_attribute_is_no_obstacle(
    state_dir: Path, loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = queue_state(loop)
    for name, value in (("nomerges", "1"), ("read_ahead_kb", "64")):
        changes = kinds.prepare_changes(dict.fromkeys(kinds.bind(f"block.{name}", loop), value))
        older = journal_paths(state_dir)
        leave(state_dir, *changes, mode=JournalMode.SET, commit=True)
    listings = iter([older])
    monkeypatch.setattr(
        "iostudy.settings.transaction.recovery.journal_paths",
        lambda directory: next(listings, journal_paths(directory)),
    )
    restore_all().undo_result.check()
    restore_all().undo_result.check()
    assert queue_state(loop) == before


def test_lost_lines_are_named_and_all_others_restored(tmp_path: Path, state_dir: Path) -> None:
    notes = [tmp_path / name for name in ("a", "b", "c")]
    for note in notes:
        note.write_text("original")
    path = leave(state_dir, *(FileNote.prepare(note, "new") for note in notes))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]))
    (failure,) = restore_stale().undo_result.failures
    assert "missing lines (2)" in failure.found
    assert [note.read_text() for note in notes] == ["original", "new", "new"]
    assert restore_stale() == Recovery()


def test_a_loss_is_named_also_where_a_change_cannot_be_undone(note: Path, state_dir: Path) -> None:
    path = leave(state_dir, FileNote.prepare(note, "new"), FileNote.prepare(note, "newer"))
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    note.write_text("theirs")
    found = [failure.found for failure in restore_stale().undo_result.failures]
    assert found[0] == "theirs"
    assert "missing lines (1)" in found[1]
    assert journal_paths(state_dir) == (path,)
    restore_all(policy=ConflictPolicy.OVERWRITE)
    assert note.read_text() == "original"
    assert path.with_suffix(".damaged").exists()


def test_a_journal_of_an_owner_killed_at_its_first_line_is_removed(state_dir: Path) -> None:
    state_dir.mkdir(mode=0o700)
    for text in (b"", b"0000"):
        (state_dir / "1-1.new").write_bytes(text)
        assert restore_stale() == Recovery()
        assert list(state_dir.iterdir()) == []


def test_an_unfinished_journal_goes_also_where_there_is_no_other(state_dir: Path) -> None:
    state_dir.mkdir(mode=0o700)
    (state_dir / "1-1.new").touch()
    stale_changes.recover_stale_changes(must_succeed=False)
    assert list(state_dir.iterdir()) == []


class Clock:
    """A clock that only sleeping advances."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("iostudy.settings.transaction.recovery.time", clock)
    return clock


def test_journals_of_another_pid_namespace_are_waited_for_once(
    note: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    """Their locks are held, and no process is visible that holds them."""
    monkeypatch.setattr("iostudy.settings.transaction.recovery.find_users", lambda _: ())
    stale = leave(state_dir, FileNote.prepare(note, "new"))
    held = [Journal.create(state_dir, JournalMode.STUDY, f"iostudy run {n}") for n in range(4)]
    recovery = restore_stale()
    assert len(recovery.skip_reasons) == len(held)
    assert PATIENCE_SECONDS <= clock.seconds < 1.1 * PATIENCE_SECONDS
    assert recovery.undo_result.restored_values == ("note: new -> original",)
    assert not stale.exists()
    for journal in held:
        journal.close()


def test_a_journal_that_its_owner_removes_meanwhile_is_not_waited_for(
    note: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    path = leave(state_dir, FileNote.prepare(note, "new"))
    monkeypatch.setattr(
        "iostudy.settings.transaction.recovery.journal_paths", lambda _: (path, state_dir / "gone")
    )
    assert restore_stale().undo_result.restored_values == ("note: new -> original",)
    assert clock.seconds == 0


def leave_owner_dead(state_dir: Path, change: Change, seconds: float) -> subprocess.Popen[bytes]:
    """A command that outlives the owner of a journal, which names a process that is not there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.getpid", lambda: 1 << 30)
        journal = Journal.create(state_dir, JournalMode.STUDY, "iostudy run old")
    journal.log_changes([change])
    change.apply()
    command = subprocess.Popen(["sleep", str(seconds)], close_fds=False)
    journal.close()
    return command


@pytest.mark.child
def test_a_command_that_outlives_its_owner_is_waited_for(note: Path, state_dir: Path) -> None:
    command = leave_owner_dead(state_dir, FileNote.prepare(note, "new"), 0.5)
    assert restore_stale().undo_result.restored_values == ("note: new -> original",)
    assert command.wait() == 0


@pytest.mark.child
def test_a_lock_that_is_given_up_meanwhile_keeps_nothing_changed(
    note: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command ends after the lock was tried, and before its users are listed."""
    command = leave_owner_dead(state_dir, FileNote.prepare(note, "new"), 60)

    def ended(path: Path) -> tuple[LockHolder, ...]:
        command.kill()
        command.wait()
        return find_users(path)

    monkeypatch.setattr("iostudy.settings.transaction.recovery.find_users", ended)
    assert restore_stale().undo_result.restored_values == ("note: new -> original",)


@pytest.mark.child
def test_a_command_that_goes_on_is_named_and_nothing_begins_before_its_end(
    note: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iostudy.settings.transaction.recovery.PATIENCE_SECONDS", 0.2)
    command = leave_owner_dead(state_dir, FileNote.prepare(note, "new"), 60)
    try:
        with pytest.raises(RestoreError) as caught:
            stale_changes.recover_stale_changes(must_succeed=True)
        assert f"process {command.pid} (sleep 60)" in caught.value.found
        assert f"process {1 << 30} (iostudy run old)" in caught.value.wanted
        assert note.read_text() == "new"
    finally:
        command.kill()
        command.wait()
    assert restore_stale().undo_result.restored_values == ("note: new -> original",)
