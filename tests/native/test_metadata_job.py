"""Metadata phases as Python sees them."""

from __future__ import annotations

import errno
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from iostudy._native import (
    EngineError,
    MetadataJob,
    StoppedError,
    VerificationError,
    remove_tree,
)

DEFAULTS: dict[str, Any] = {
    "operations": ["create_write", "delete"],
    "threads": 2,
    "files": 10,
    "files_per_directory": 10,
    "depth": 1,
    "shared": False,
    "bytes_to_write": 0,
    "sync": "none",
    "seed": 1,
}


def job(directory: Path | bytes, **options: object) -> MetadataJob:
    path = directory if isinstance(directory, bytes) else str(directory)
    return MetadataJob(path, **(DEFAULTS | options))


def test_phases_come_in_their_order_with_what_was_measured(tmp_path: Path) -> None:
    phases = job(tmp_path).run()
    assert [phase.operation for phase in phases] == ["create_write", "delete"]
    for phase in phases:
        assert phase.latencies.count == 20
        assert 0 < phase.latencies.max_us < phase.wall_seconds * 1.01e6


def test_required_space_is_reported(tmp_path: Path) -> None:
    assert job(tmp_path).required_operations == []
    assert job(tmp_path, operations=["list", "rmdir"]).required_operations == ["mkdir"]


def test_a_name_need_not_be_text(tmp_path: Path) -> None:
    directory = os.fsencode(tmp_path) + b"/\xff"
    job(directory, operations=["create_write"]).run()
    with pytest.raises(EngineError) as caught:
        job(directory, operations=["create_write"]).run()
    assert caught.value.errno == errno.EEXIST
    assert os.fsencode(caught.value.filename).startswith(directory + b"/thread-")
    assert caught.value.__notes__ == ["openat"]
    remove_tree(directory)
    assert not list(tmp_path.iterdir())


def test_a_content_difference_is_no_system_error(tmp_path: Path) -> None:
    job(tmp_path, operations=["create_write"]).run()
    path = tmp_path / "thread-0/t0/f3"
    path.write_text("more")
    with pytest.raises(VerificationError, match=f"{path} has 4 bytes and not the 0"):
        job(tmp_path, operations=["stat"]).run()


def test_a_file_that_cannot_be_removed_is_named(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        remove_tree("/proc/self/ns")
    assert caught.value.filename.startswith("/proc/self/ns/")
    assert caught.value.__notes__ == ["unlink"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"operations": ["chmod"]}, "allowed: create_write, open_read, stat"),
        ({"sync": "often"}, "allowed: none, file, directory, phase"),
        ({"depth": 0}, "depth is 0"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        job(Path("x"), **options)


def test_a_tick_and_a_signal_stop_the_job(tmp_path: Path) -> None:
    endless = job(tmp_path / "a", files=2**40, files_per_directory=2**40)
    with pytest.raises(StoppedError):
        endless.run(lambda done: done == 0)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        job(tmp_path / "b", files=2**40, files_per_directory=2**40).run()
    timer.join()
    remove_tree(str(tmp_path / "a"))
    remove_tree(str(tmp_path / "b"))
