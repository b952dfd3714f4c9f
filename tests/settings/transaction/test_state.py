import os
from pathlib import Path

import pytest

from iostudy.settings.transaction import state


@pytest.mark.parametrize(
    ("environ", "euid", "expected"),
    [
        ({}, 0, "/var/lib/iostudy"),
        ({"XDG_STATE_HOME": "/x"}, 0, "/var/lib/iostudy"),
        ({"XDG_STATE_HOME": "/x"}, 1000, "/x/iostudy"),
        ({"XDG_STATE_HOME": "x"}, 1000, "/home/me/.local/state/iostudy"),
        ({}, 1000, "/home/me/.local/state/iostudy"),
        ({"IOSTUDY_STATE_DIR": "/own", "XDG_STATE_HOME": "/x"}, 1000, "/own"),
        ({"IOSTUDY_STATE_DIR": "/own"}, 0, "/own"),
    ],
)
def test_the_state_folder_of_each_user(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], euid: int, expected: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: euid)
    monkeypatch.setenv("HOME", "/home/me")
    assert state.state_directory(environ) == Path(expected)


def test_a_file_is_read_whole_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"1234")
    with path.open("rb") as file:
        file.read(3)
        assert state.read_all(file.fileno(), 4) == b"1234"
        with pytest.raises(OSError, match="4 bytes, more than the limit of 3"):
            state.read_all(file.fileno(), 3)


def test_an_unusable_folder_says_why(tmp_path: Path) -> None:
    assert state.unusable(tmp_path, OSError(28, "No space left")).found == "No space left"
    assert state.unusable(tmp_path, OSError("no number")).found == "no number"


def test_a_lock_on_a_file_that_is_removed_meanwhile_is_worth_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lock"
    real = state.is_still

    def removed_by_its_holder(path: Path, descriptor: int) -> bool:
        monkeypatch.setattr(state, "is_still", real)
        path.unlink()
        return real(path, descriptor)

    monkeypatch.setattr(state, "is_still", removed_by_its_holder)
    descriptor = state.open_locked(path, create=True)
    assert descriptor is not None
    assert path.exists()
    os.close(descriptor)
