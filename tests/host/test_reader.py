"""Tests of the reader of configuration files: special, large and unreadable files."""

import os
from pathlib import Path

import pytest

from iostudy.host import files
from iostudy.host.configuration.writers import read_writers
from iostudy.host.files import Reader


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "etc/sysctl.d"
    folder.mkdir(parents=True)
    (folder / "10-good.conf").write_text("vm.swappiness = 10\n")
    return folder


def test_special_files_are_not_read(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(folder / "20-pipe.conf")
    (folder / "30-folder.conf").mkdir()
    (folder / "40-loop.conf").symlink_to("40-loop.conf")
    (folder / "50-dangling.conf").symlink_to("nowhere")
    (folder / "60-zero.conf").symlink_to("/dev/zero")
    given = Reader(tmp_path)
    assert [line.name for line in read_writers(given)] == ["vm.swappiness"]
    assert given.refused == ()


def test_a_file_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_PIECE_BYTES", 7)
    (tmp_path / "file").write_text("0123456789" * 10)
    assert files.Reader().text(tmp_path / "file") == "0123456789" * 10


def test_oversized_file_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_LARGEST_BYTES", 30)
    (folder / "20-large.conf").write_text("#" * 31)
    given = Reader(tmp_path)
    assert [line.name for line in read_writers(given)] == ["vm.swappiness"]
    assert given.refused == (f"{folder / '20-large.conf'}: File too large",)
