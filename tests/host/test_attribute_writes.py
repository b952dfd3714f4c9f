"""Writes of kernel files that do not end: an error in time, and nothing restored too early."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from iostudy.errors import RestoreError
from iostudy.host import files
from iostudy.settings import kinds
from iostudy.settings.kinds import attribute_file, host_files
from iostudy.settings.transaction import state
from iostudy.settings.transaction.transaction import Transaction
from tests.settings.programs import bind_declared

WAIT_SECONDS = 120.0


class Pipe:
    """A FIFO that takes no more, until it is read."""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        self.path = path
        self.descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        with suppress(BlockingIOError):
            while os.write(self.descriptor, b"x" * 4096):
                pass

    def drain(self) -> bytes:
        """Read all, until no write waits."""
        data, deadline = b"", time.monotonic() + WAIT_SECONDS
        while files.is_being_written(self.path):
            assert time.monotonic() < deadline
            with suppress(BlockingIOError):
                data += os.read(self.descriptor, 1 << 20)
        with suppress(BlockingIOError):
            data += os.read(self.descriptor, 1 << 20)
        return data.lstrip(b"x")


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Pipe]:
    (tmp_path / "sys").mkdir()
    pipe = Pipe(tmp_path / "sys/full")
    yield pipe
    pipe.drain()
    os.close(pipe.descriptor)


def test_a_write_that_does_not_end_is_an_error_in_time(pipe: Pipe) -> None:
    with pytest.raises(TimeoutError, match=r"has not ended the write after 0\.05 s"):
        files.write_attribute(pipe.path, "1\n", 0.05)
    assert files.is_being_written()
    with pytest.raises(TimeoutError, match="an earlier write"):
        files.write_attribute(pipe.path, "2\n", 0.05)
    assert pipe.drain() == b"1\n"


def test_an_interrupted_write_ends_first(pipe: Pipe) -> None:
    """A signal is raised when the write has ended or is late, and then it is still known."""
    interrupt = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    interrupt.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        files.write_attribute(pipe.path, "1\n", 0.5)
    assert time.monotonic() - began >= 0.5
    assert files.is_being_written(pipe.path)
    assert pipe.drain() == b"1\n"


def test_a_signal_at_the_start_of_the_thread_loses_no_write(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_attribute(pipe.path, "1\n", 0.1)
    assert files.is_being_written(pipe.path)


def test_without_a_thread_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(BlockingIOError, match="can't start new thread"):
        files.write_attribute(tmp_path / "x", "1")
    assert not files.is_being_written()


def test_what_the_kernel_says_is_the_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        files.write_attribute(tmp_path, "1")
    assert not files.is_being_written()


def test_a_change_stays_in_the_journal_with_its_lock_while_its_write_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The late write would otherwise change the value after everything was restored."""
    for module in (attribute_file, host_files):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    path = tmp_path / "sys/x"
    path.parent.mkdir()
    path.write_text("1\n")
    (change,) = kinds.prepare_changes(
        {bind_declared("my.x", attribute="/sys/x", timeout="0.05s"): "2"}
    )
    transaction = Transaction(directory=tmp_path / "state")
    pipe = Pipe(path)
    try:
        with (
            pytest.raises(RestoreError, match="has not ended a write to it") as failed,
            transaction,
        ):
            transaction.apply(change)
        assert f"echo 1 > {path}" in failed.value.remedy
        (journal,) = (tmp_path / "state").glob("*.journal")
        assert state.open_locked(journal, create=False) is None
    finally:
        pipe.drain()
        os.close(pipe.descriptor)


def test_other_attributes_of_the_owner_are_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the files of the folder of an unfinished write wait for it."""
    for module in (attribute_file, host_files):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    paths = [tmp_path / "sys/a/x", tmp_path / "sys/b/y"]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_text("1\n")
    settings = [bind_declared(f"my.{own[-1]}", attribute=f"/sys/{own}") for own in ("a/x", "b/y")]
    (change,) = kinds.prepare_changes(dict.fromkeys(settings, "2"))
    change.apply()
    pipe = Pipe(paths[1])
    try:
        with pytest.raises(files.UnfinishedWriteError):
            files.write_attribute(pipe.path, "3\n", 0.05)
        with pytest.raises(RestoreError, match="has not ended a write to it") as failed:
            change.undo()
        assert failed.value.where == str(pipe.path)
        assert paths[0].read_text() == "1\n"
    finally:
        pipe.drain()
        os.close(pipe.descriptor)


@pytest.mark.parametrize(("folder", "is_repeated"), [("queue", True), ("device", False)])
def test_a_write_to_a_busy_queue_is_repeated(tmp_path, monkeypatch, folder, is_repeated):
    monkeypatch.setattr(files, "_BUSY_SECONDS", 0.0)
    path = tmp_path / folder / "scheduler"
    path.parent.mkdir()
    path.touch()
    answers = iter([OSError(errno.EBUSY, "busy"), OSError(errno.EBUSY, "busy"), None])

    def write(descriptor: int, data: bytes) -> None:
        if (answer := next(answers)) is not None:
            raise answer

    monkeypatch.setattr("os.write", write)
    with nullcontext() if is_repeated else pytest.raises(OSError, match="busy"):
        files.write_attribute(path, "none")
    assert len(list(answers)) == (0 if is_repeated else 2)
