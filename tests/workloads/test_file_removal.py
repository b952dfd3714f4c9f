"""Tests of the removal of a workload's files; targets of links are kept."""

from __future__ import annotations

import shutil

import pytest

from iostudy.errors import RestoreError, WorkloadError
from iostudy.workloads.file_removal import empty, remove
from tests.mounts import mounted


def test_files_folders_and_links_are_removed_and_what_links_point_to_is_kept(tmp_path):
    kept, folder = tmp_path / "kept", tmp_path / "folder"
    (kept / "inner").mkdir(parents=True)
    (folder / "a/b").mkdir(parents=True)
    (folder / "file").write_text("x")
    (folder / "link").symlink_to(kept)
    (folder / "broken").symlink_to("nowhere")
    empty(folder)
    assert list(folder.iterdir()) == []
    assert (kept / "inner").is_dir()
    empty(tmp_path / "none")
    remove(tmp_path / "none")


def test_a_folder_that_somebody_else_removes_meanwhile_is_removed(tmp_path, monkeypatch):
    def gone(path):
        path.rmdir()
        raise FileNotFoundError(2, "gone", str(path))

    (tmp_path / "folder").mkdir()
    monkeypatch.setattr(shutil, "rmtree", gone)
    remove(tmp_path / "folder")


def test_removal_failure_has_a_plain_message(tmp_path, monkeypatch):
    def refused(path):
        raise PermissionError(1, "Operation not permitted", str(path / "x"))

    (tmp_path / "folder").mkdir()
    monkeypatch.setattr(shutil, "rmtree", refused)
    with pytest.raises(WorkloadError, match="Operation not permitted") as caught:
        empty(tmp_path)
    assert caught.value.where == str(tmp_path / "folder")


@pytest.mark.root
def test_what_is_mounted_in_a_folder_is_not_removed(tmp_path):
    kept, folder = tmp_path / "kept", tmp_path / "folder"
    (folder / "a").mkdir(parents=True)
    kept.mkdir()
    (kept / "precious").touch()
    with mounted(folder / "a", "--bind", str(kept)):
        (tmp_path / "links").mkdir()
        (tmp_path / "links/one").symlink_to(folder / "a")
        empty(tmp_path / "links")
        for removal, path in ((empty, folder), (remove, folder), (remove, folder / "a")):
            with pytest.raises(RestoreError, match="is mounted there"):
                removal(path)
    assert (kept / "precious").exists()
    remove(folder)
    assert not folder.exists()
