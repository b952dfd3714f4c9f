from pathlib import Path

import pytest

from iostudy.errors import OutOfReachError, RestoreError, SettingError
from iostudy.settings.change import ConflictPolicy
from iostudy.settings.transaction.journal import JournalMode, journal_paths, parse_journal
from iostudy.settings.transaction.transaction import Transaction
from tests.settings.note import FileNote


@pytest.fixture
def notes(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path in paths:
        path.write_text("original")
    return paths


def texts(notes: list[Path]) -> list[str]:
    return [path.read_text() for path in notes]


def test_everything_is_back_and_the_journal_gone(notes: list[Path], state_dir: Path) -> None:
    with Transaction() as transaction:
        transaction.apply(FileNote.prepare(notes[0], "one"), FileNote.prepare(notes[1], "two"))
        assert texts(notes) == ["one", "two", "original"]
        assert len(journal_paths(state_dir)) == 1
    assert texts(notes) == ["original"] * 3
    assert journal_paths(state_dir) == ()


def test_without_a_change_nothing_is_written(state_dir: Path) -> None:
    with Transaction() as transaction:
        transaction.apply()
    assert not state_dir.exists()


def test_a_change_is_announced_before_it_is_applied(notes: list[Path], state_dir: Path) -> None:
    class AnnouncedNote(FileNote):
        def apply(self) -> None:
            (path,) = journal_paths(state_dir)
            announced.append(
                [entry.record["path"] for entry in parse_journal(path.read_bytes()).pending]
            )
            super().apply()

    announced: list[list[str]] = []
    both = [AnnouncedNote(str(path), "original", "new") for path in notes[:2]]
    with Transaction() as transaction:
        transaction.apply(*both)
    assert announced == [[str(path) for path in notes[:2]]] * 2


def test_undone_in_reverse_so_that_one_change_may_build_on_another(notes: list[Path]) -> None:
    with Transaction() as transaction:
        transaction.apply(FileNote.prepare(notes[0], "one"))
        transaction.apply(FileNote.prepare(notes[0], "two"))
        restored = transaction.restore()
    assert restored == ("a: two -> one", "a: one -> original")
    assert texts(notes[:1]) == ["original"]


def test_a_trial_inside_a_study(notes: list[Path], state_dir: Path) -> None:
    with Transaction() as transaction:
        transaction.apply(FileNote.prepare(notes[0], "scratch"))
        for level in ("one", "two"):
            with transaction.apply_temporarily(FileNote.prepare(notes[1], level)):
                assert texts(notes) == ["scratch", level, "original"]
            assert texts(notes) == ["scratch", "original", "original"]
        (path,) = journal_paths(state_dir)
        assert len(parse_journal(path.read_bytes()).pending) == 1


def test_a_refused_change_undoes_those_before_it(notes: list[Path], state_dir: Path) -> None:
    changes = [FileNote.prepare(notes[0], "one"), FileNote.prepare(notes[1], "never")]
    with Transaction() as transaction:
        with pytest.raises(SettingError), transaction.apply_temporarily(*changes):
            pytest.fail("the body must not run")
        assert texts(notes) == ["original"] * 3
    assert journal_paths(state_dir) == ()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_inside_restores(notes: list[Path], error: type[BaseException]) -> None:
    with pytest.raises(error), Transaction() as transaction:
        transaction.apply(FileNote.prepare(notes[0], "one"))
        raise error
    assert texts(notes) == ["original"] * 3


def test_a_foreign_change_is_reported_and_the_rest_restored(
    notes: list[Path], state_dir: Path
) -> None:
    with pytest.raises(RestoreError) as caught, Transaction() as transaction:
        transaction.apply(*(FileNote.prepare(path, "new") for path in notes))
        notes[1].write_text("theirs")
    assert caught.value.exit_code == 4
    assert texts(notes) == ["original", "theirs", "original"]
    (path,) = journal_paths(state_dir)
    assert [entry.record["path"] for entry in parse_journal(path.read_bytes()).pending] == [
        str(notes[1])
    ]


def test_several_failures_are_one_error(notes: list[Path]) -> None:
    with pytest.raises(RestoreError, match="2 changes") as caught, Transaction() as transaction:
        transaction.apply(*(FileNote.prepare(path, "new") for path in notes[:2]))
        for path in notes[:2]:
            path.write_text("theirs")
    assert all(str(path) in str(caught.value) for path in notes[:2])


def test_a_failed_restore_is_retried_after_the_others(notes: list[Path], state_dir: Path) -> None:
    """As a folder on a read-only file system, which the undo of the disk destroys."""

    class DependentNote(FileNote):
        def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
            if notes[0].read_text() != "original":
                raise RestoreError("to restore", found="too early", where="here", remedy="wait")
            return super().undo(policy)

    with Transaction() as transaction:
        transaction.apply(FileNote.prepare(notes[0], "one"), DependentNote.prepare(notes[1], "two"))
    assert texts(notes) == ["original"] * 3
    assert journal_paths(state_dir) == ()


def test_a_change_that_fails_alone_is_tried_once_and_again_at_the_end(notes: list[Path]) -> None:
    tries: list[str] = []

    class FailingNote(FileNote):
        def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
            tries.append(self.path)
            if len(tries) == 1:
                raise RestoreError("to restore", found="busy", where="here", remedy="wait")
            return super().undo(policy)

    with Transaction() as transaction:
        temporary = transaction.apply_temporarily(FailingNote.prepare(notes[0], "one"))
        with pytest.raises(RestoreError, match="busy"), temporary:
            pass
        assert len(tries) == 1
    assert len(tries) == 2
    assert texts(notes) == ["original"] * 3


def test_an_unreachable_change_waits_until_it_is_accepted(
    notes: list[Path], state_dir: Path
) -> None:
    class UnreachableNote(FileNote):
        def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
            raise OutOfReachError("to restore", found="unmounted", where="here", remedy="mount it")

    for policy in (ConflictPolicy.REPORT, ConflictPolicy.OVERWRITE, ConflictPolicy.ACCEPT):
        transaction = Transaction()
        transaction.apply(
            UnreachableNote.prepare(notes[0], "one"), FileNote.prepare(notes[1], "two")
        )
        if policy is ConflictPolicy.ACCEPT:
            assert "accepted unchanged (unmounted)" in str(transaction.restore(policy)[-1])
        else:
            with pytest.raises(OutOfReachError):
                transaction.restore(policy)
        assert texts(notes)[1] == "original", "the rest is restored"
    assert len(journal_paths(state_dir)) == 2


def test_an_error_that_nobody_thought_of_keeps_no_other_change(notes: list[Path]) -> None:
    with pytest.raises(RestoreError, match="FileNotFoundError") as caught, Transaction() as open_:
        open_.apply(*(FileNote.prepare(path, "new") for path in notes))
        notes[2].unlink()
    assert isinstance(caught.value.__cause__, FileNotFoundError)
    assert texts(notes[:2]) == ["original"] * 2


def test_accept_decides(notes: list[Path], state_dir: Path) -> None:
    with Transaction() as transaction:
        transaction.apply(*(FileNote.prepare(path, "new") for path in notes[:2]))
        notes[0].write_text("theirs")
        restored = transaction.restore(ConflictPolicy.ACCEPT)
    assert restored == ("b: new -> original", "a: left at theirs")
    assert journal_paths(state_dir) == ()


def test_force_decides(notes: list[Path], state_dir: Path) -> None:
    with Transaction() as transaction:
        transaction.apply(FileNote.prepare(notes[0], "new"))
        notes[0].write_text("theirs")
        assert transaction.restore(ConflictPolicy.OVERWRITE) == ("a: theirs -> original",)
    assert journal_paths(state_dir) == ()


def test_committed_changes_stay(notes: list[Path], state_dir: Path) -> None:
    with Transaction(mode=JournalMode.SET) as transaction:
        transaction.apply(FileNote.prepare(notes[0], "kept"))
        transaction.commit()
    assert texts(notes[:1]) == ["kept"]
    (path,) = journal_paths(state_dir)
    assert parse_journal(path.read_bytes()).committed
