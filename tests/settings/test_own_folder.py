"""Nothing is removed because a journal says so, unless iostudy has given it its name."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from iostudy import own_folder
from iostudy.errors import RestoreError, TargetError
from iostudy.settings import kinds
from iostudy.settings.transaction.journal import Journal, JournalMode
from iostudy.settings.transaction.recovery import restore_all
from iostudy.settings.work_folder import PREFIX, WorkFolder

DEVICE = {"name": "loop9", "number": "7:9", "diskseq": 1, "unique": "", "boot": "", "node": 1}


def records(path: str) -> list[tuple[str, dict[str, Any]]]:
    """All kinds that remove what a record names."""
    point = {"path": "/dev/loop9", "point": f"{path}/mount", "filesystem": {"type": "ext4"}}
    return [
        ("work-folder", {"path": path}),
        ("loopback-disk", {"folder": path, "size_bytes": 1}),
        ("scratch-device", {"path": "/dev/loop9", "device": DEVICE, "folder": path}),
        ("new-filesystem", {**point, "device": DEVICE}),
    ]


@pytest.mark.parametrize(
    "path",
    [
        *("/", "", "/home", "/home/me", "iostudy-work-0123456789abcdef", "/x/iostudy-work-"),
        *("/x/scratch-0123456789abcdef/../..", "/x/../iostudy-work-0123456789abcdef", "\0"),
        *("scratch-0123456789abcdef", "/x/scratch-0123456789ABCDEF", "/x/scratch-0123456789abcde"),
    ],
)
def test_other_names_are_no_records(path: str) -> None:
    for kind, record in records(path):
        with pytest.raises(RestoreError, match="does not know"):
            kinds.rebuild_change(kind, record)


def test_a_name_that_was_given_is_known_again(tmp_path: Path) -> None:
    path = own_folder.new_path(tmp_path, PREFIX)
    assert own_folder.parse_recorded(str(path), PREFIX) == path
    for kind, record in records(f"{tmp_path}/scratch-0123456789abcdef")[1:]:
        kinds.rebuild_change(kind, record)


@pytest.mark.parametrize("name", ["/etc/passwd", "../../etc/passwd", "a/../b"])
def test_attributes_stay_below_their_owner(name: str) -> None:
    record = {"owner": {"boot": ""}, "before": {name: "1"}, "after": {}, "settings": {}}
    with pytest.raises(RestoreError, match="does not know"):
        kinds.rebuild_change("huge-pages", record)


def test_a_wrong_journal_removes_nothing(tmp_path: Path, state_dir: Path) -> None:
    (tmp_path / "kept").mkdir()
    journal = Journal.create(state_dir, JournalMode.STUDY, "iostudy run old")
    journal.log_changes([WorkFolder(tmp_path / "kept")])
    journal.close()
    assert restore_all().undo_result.failures
    assert (tmp_path / "kept").is_dir()


@pytest.mark.root
def test_a_mount_in_a_work_folder_is_not_removed(tmp_path: Path) -> None:
    folder = WorkFolder.prepare(tmp_path)
    folder.apply()
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "file").touch()
    (folder.path / "point").mkdir()
    subprocess.run(["mount", "--bind", tmp_path / "others", folder.path / "point"], check=True)
    try:
        with pytest.raises(RestoreError, match="is mounted there"):
            folder.undo()
    finally:
        subprocess.run(["umount", folder.path / "point"], check=True)
    assert (tmp_path / "others" / "file").exists()
    folder.undo()
    assert not folder.path.exists()


@pytest.mark.parametrize(("flag", "words"), [(0, "Permission denied"), (os.ST_RDONLY, "Read-only")])
def test_a_directory_that_cannot_be_written_to_is_refused_before_the_first_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flag: int, words: str
) -> None:
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=flag))
    with pytest.raises(TargetError, match=words):
        WorkFolder.prepare(tmp_path)


def test_a_link_in_the_place_of_a_work_folder_is_named_and_not_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "data").touch()
    link = tmp_path / f"{PREFIX}{'0' * 16}"
    link.symlink_to(kept)
    with pytest.raises(RestoreError) as caught:
        WorkFolder(link).undo()
    assert caught.value.where == str(link)
    assert (kept / "data").exists()


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path):
    vault, path = tmp_path / "vault", own_folder.new_path(tmp_path, PREFIX)
    vault.mkdir()
    (vault / "file").touch()
    path.symlink_to(vault)
    with pytest.raises(RestoreError, match="symbolic link"):
        own_folder.remove_folder(path)
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(RestoreError):
        own_folder.remove_folder(path)
    assert (vault / "file").exists()
