"""Lock folders and lock files that another user prepares for root."""

from __future__ import annotations

import fcntl
import os
import random
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from iostudy.settings.transaction.locks import lock_directory, lock_host
from tests.attack.campaign import AttackCount, attempts
from tests.stranger import STRANGER, as_self, as_stranger

MOST_TRIES = 300
LOCK = "host.lock"
LOCKED = "locked"


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Plant every kind of folder and file in random order; root tries to lock each time."""
    draw = random.Random(seed)
    folders = AttackCount("lock folder prepared by another user")
    files = AttackCount("lock file planted in root's lock folder")
    held = AttackCount("lock of root's held by another user")
    for _ in attempts(seconds, MOST_TRIES):
        with ground() as place:
            folders.record(attack_folder(place, draw.choice(FOLDERS), draw.choice(FILES)))
        with ground() as place:
            files.record(attack_file(place, draw.choice(FILES)))
        with ground() as place:
            held.record(hold(place))
    return [folders, files, held]


@contextmanager
def ground() -> Iterator[Path]:
    """A folder such as /run/lock, in which every user may create files, and root's own below."""
    with tempfile.TemporaryDirectory() as made, pytest.MonkeyPatch.context() as patch:
        place = Path(made)
        place.chmod(0o1777)
        (place / "victim").mkdir(mode=0o700)
        (place / "victim/file").write_text("data")
        patch.setenv("IOSTUDY_LOCK_DIR", str(place / "locks"))
        yield place


def attack_folder(place: Path, folder: Callable[[Path], None], file: Callable[[Path], None]) -> str:
    """What came of it that root found such a folder, with such a file in it if it can hold one."""
    as_stranger(lambda: plant(place, folder, file))
    text = as_self(lock)
    return harm(place) or ("" if text.startswith("refused") else f"{folder.__name__}: {text[-90:]}")


def attack_file(place: Path, file: Callable[[Path], None]) -> str:
    """What came of it that another user planted such a file after another lock of root's."""
    as_self(lambda: lock(place))
    as_stranger(lambda: plant(place, lambda _: None, file))
    text = as_self(lock)
    return harm(place) or ("" if text == LOCKED else f"{file.__name__}: {text[-90:]}")


def hold(place: Path) -> str:
    """Whether another user can hold a lock that root needs."""
    as_self(lock)
    reading, writing = os.pipe()
    holder = os.fork()
    if holder == 0:
        os.setresuid(STRANGER, STRANGER, STRANGER)
        lock_all(place / "locks")
        os.write(writing, b"ready")
        signal.pause()
    os.read(reading, 5)
    try:
        text = as_self(lock)
        return "" if text == LOCKED else f"root is kept out: {text[-90:]}"
    finally:
        os.kill(holder, signal.SIGKILL)
        os.waitpid(holder, 0)
        os.close(reading)
        os.close(writing)


def lock(folder: Path | None = None) -> str:
    """Lock the folder, or else what the host has once."""
    with lock_directory(folder) if folder else lock_host():
        return LOCKED


def harm(place: Path) -> str:
    """What has changed in root's folder."""
    found = {path.name: path.read_text() for path in (place / "victim").iterdir()}
    return "" if found == {"file": "data"} else f"root wrote into its own folder: {sorted(found)}"


def plant(place: Path, folder: Callable[[Path], None], file: Callable[[Path], None]) -> str:
    folder(place)
    file(place / "locks" / LOCK)
    return "planted"


def lock_all(folder: Path) -> None:
    for path in folder.iterdir():
        for flags in (os.O_RDONLY, os.O_WRONLY):
            try:
                fcntl.flock(os.open(path, flags), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue


def link_to_victim(place: Path) -> None:
    (place / "locks").symlink_to(place / "victim")


def link_to_own(place: Path) -> None:
    (place / "own").mkdir()
    (place / "locks").symlink_to(place / "own")


def dangling_link(place: Path) -> None:
    (place / "locks").symlink_to(place / "victim/new")


def own_folder(place: Path) -> None:
    (place / "locks").mkdir()


def open_folder(place: Path) -> None:
    (place / "locks").mkdir()
    (place / "locks").chmod(0o1777)


def fifo(place: Path) -> None:
    os.mkfifo(place / "locks")


def plain_file(place: Path) -> None:
    (place / "locks").touch()


def file_fifo(path: Path) -> None:
    os.mkfifo(path)
    path.chmod(0o666)


def file_link(path: Path) -> None:
    path.symlink_to(path.parents[1] / "victim/file")


def file_dangling(path: Path) -> None:
    path.symlink_to(path.parents[1] / "victim/new")


def file_sparse(path: Path) -> None:
    path.touch()
    path.chmod(0o666)
    os.truncate(path, 60 << 30)


def file_folder(path: Path) -> None:
    path.mkdir()


def file_hard_link(path: Path) -> None:
    os.link(path.parents[1] / "victim/file", path)


FOLDERS = (
    link_to_victim,
    link_to_own,
    dangling_link,
    own_folder,
    open_folder,
    fifo,
    plain_file,
)
FILES = (file_fifo, file_link, file_dangling, file_sparse, file_folder, file_hard_link)
