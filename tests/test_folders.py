"""Tests of `iostudy.folders`: what is refused, and what is made."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from iostudy.errors import UnsafePathError, UsageError
from iostudy.folders import UNSAFE_FOLDERS_OPTION, make_output_folder, require_safe_folder


@pytest.fixture(name="weak")
def weak_(tmp_path: Path) -> Path:
    folder = tmp_path / "weak"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


@pytest.mark.parametrize("below", ["", "out", "results/out"])
def test_a_folder_that_others_can_redirect_is_refused_and_named(weak: Path, below: str) -> None:
    with pytest.raises(UnsafePathError) as caught:
        make_output_folder(weak / below, insist=False)
    assert caught.value.found.startswith(f"{weak} is writable by every user")
    assert UNSAFE_FOLDERS_OPTION in caught.value.remedy
    assert list(weak.iterdir()) == []


def test_a_confirmed_folder_of_another_user_is_used(weak: Path) -> None:
    make_output_folder(weak / "out", insist=True)
    assert (weak / "out").is_dir()


def test_a_sticky_directory_is_safe_for_a_new_folder_and_for_names_of_ones_own(weak: Path) -> None:
    weak.chmod(0o1777)
    make_output_folder(weak / "results" / "out", insist=False)
    for made in (weak / "results", weak / "results" / "out"):
        assert stat.S_IMODE(made.stat().st_mode) & 0o022 == 0
    require_safe_folder(weak, insist=False, shared=True)
    with pytest.raises(UnsafePathError):
        require_safe_folder(weak, insist=False)


def test_one_that_somebody_else_has_made_in_the_meantime_is_refused(
    weak: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weak.chmod(0o1777)

    def create_first(path: Path, mode: int) -> None:
        os.mkdir(path, mode)  # noqa: PTH102 - Path.mkdir is replaced
        path.chmod(0o777)
        raise FileExistsError

    monkeypatch.setattr(Path, "mkdir", create_first)
    with pytest.raises(UnsafePathError):
        make_output_folder(weak / "out", insist=False)


def test_a_folder_that_cannot_be_created_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError):
        make_output_folder(tmp_path / "file" / "out", insist=True)
    with pytest.raises(UsageError):
        make_output_folder(tmp_path / "file" / "out", insist=False)
