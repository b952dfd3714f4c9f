"""Commands of the controller that run on a node, as short calls of its agent."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import Base64UrlBytes, Field, StringConstraints

from iostudy import durable
from iostudy.errors import NOT_RESTORED, BusyError, IostudyError
from iostudy.own_folder import remove_folder
from iostudy.safe_path import require_safe
from iostudy.settings.transaction.state import open_locked
from iostudy_fleet.design import Design
from iostudy_fleet.supervision.supervisor import RENEW, STOP
from iostudy_fleet.supervision.work_folder import TAIL_BYTES, Ending, StudyOrder, WorkFolder

_IN_BACKGROUND = '"$@" &'
"""The shell ends at once, so the supervisor is a child of the init process."""
_OWNER_ONLY = 0o700
_POLL_SECONDS = 0.02
_LONGEST_PATH = 4095


class Request(StrEnum):
    """What the controller wants of a running study."""

    CONTINUE = "continue"
    STOP = "stop"


@dataclass(frozen=True)
class NodeStatus:
    """A study on a node: ``ending`` is None while it runs, and if its supervisor was killed."""

    running: bool
    ending: Ending | None
    line: Annotated[str, Field(max_length=TAIL_BYTES)]

    @property
    def is_unrestored(self) -> bool:
        """Whether it ended and could not restore all settings."""
        return self.ending is not None and self.ending.exit_code == NOT_RESTORED


@dataclass(frozen=True)
class ResultFile:
    """A file of the output folder, by its path there."""

    name: Annotated[str, StringConstraints(max_length=_LONGEST_PATH, pattern=r"^[^\x00]+$")]
    size: Annotated[int, Field(ge=0)]
    sha256: str


def begin(folder: WorkFolder, order: StudyOrder, *, resumed: bool) -> str:
    """Start or resume the study, unless it still runs there; return why not, or an empty text.

    ``resumed``: results of the study are on the controller, and no other study may replace them. A
    study that runs with another lease is stopped first. A server of trials that runs is refused.
    """
    if resumed and not folder.has_ledger():
        return f"{folder.path} is gone, so the study cannot be resumed"
    try:
        _begin(folder, order)
    except (IostudyError, OSError, ValueError, subprocess.SubprocessError) as error:
        return " ".join(str(error).split())
    return ""


def _begin(folder: WorkFolder, order: StudyOrder) -> None:
    """The supervisor inherits the lock, so there is no moment without its holder."""
    durable.make_directory(folder.path, _OWNER_ONLY)
    lock = open_locked(folder.lock, create=True)
    if lock is None:
        _join(folder, order)
        return
    try:
        os.ftruncate(lock, 0)
        durable.write_whole(folder.study(order), order.text.encode())
        durable.write_whole(folder.order, order.model_dump_json().encode())
        folder.ending.unlink(missing_ok=True)
        _start_supervisor(folder, lock)
    finally:
        os.close(lock)
    _wait_for_number(folder)


def _join(folder: WorkFolder, order: StudyOrder) -> None:
    """Continue with the study that runs in the folder; BusyError if it is not that of the order.

    After a stop, the controller finds it ended, and begins it again with its own lease.
    """
    running = folder.read_order()
    as_running = {"lease_seconds": running.lease_seconds, "controller": running.controller}
    if order.design is Design.TOGETHER or running != order.model_copy(update=as_running):
        raise BusyError(
            "a node without an earlier run of this study",
            found="one still runs there",
            where=str(folder.path),
            remedy="wait until its lease has expired, then repeat with --resume",
        )
    if running.lease_seconds != order.lease_seconds:
        contact(folder, Request.STOP)


def contact(folder: WorkFolder, request: Request) -> NodeStatus:
    """Renew the lease of a running study, or stop it; return its status."""
    require_safe(folder.path)
    process = _open_supervisor(folder)
    if process is None:
        return NodeStatus(running=False, ending=folder.read_ending(), line=folder.last_line())
    with suppress(ProcessLookupError):  # it ended just now; the next contact says how
        signal.pidfd_send_signal(process, RENEW if request is Request.CONTINUE else STOP)
    os.close(process)
    return NodeStatus(running=True, ending=None, line=folder.last_line())


def list_results(folder: WorkFolder) -> tuple[ResultFile, ...]:
    """The regular files of the output folder, with their checksums."""
    paths = [path for path in sorted(folder.out.rglob("*")) if _is_regular(path)]
    return tuple(_describe(folder, path) for path in paths)


def read_piece(folder: WorkFolder, name: str, offset: int, size: int) -> Base64UrlBytes:
    """A piece of a file of the output folder."""
    with (folder.out / name).open("rb") as file:
        return os.pread(file.fileno(), size, offset)


def remove(folder: WorkFolder) -> None:
    """Remove the folder with its files; RestoreError if something is mounted there."""
    remove_folder(folder.path)


def _start_supervisor(folder: WorkFolder, lock: int) -> None:
    module = [
        sys.executable,
        "-P",
        "-m",
        "iostudy_fleet.supervision.supervisor",
        str(folder.path),
        str(lock),
    ]
    subprocess.run(
        ["/bin/sh", "-c", _IN_BACKGROUND, "fleet", *module],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        pass_fds=[lock],
        start_new_session=True,
        check=True,
    )


def _wait_for_number(folder: WorkFolder) -> None:
    """Wait until the supervisor can be sent signals, or has ended."""
    while not folder.lock.read_text() and not _is_free(folder):
        time.sleep(_POLL_SECONDS)


def _open_supervisor(folder: WorkFolder) -> int | None:
    """A descriptor of the supervisor's process (pidfd_open(2)); None if it has ended.

    The lock is tried again after the process was opened: so the number was still its holder's, and
    no other process can get a signal.
    """
    if _is_free(folder):
        return None
    try:
        process = os.pidfd_open(int(folder.lock.read_text()))
    except ProcessLookupError:  # it ended in between
        return None
    if not _is_free(folder):
        return process
    os.close(process)
    return None


def _is_free(folder: WorkFolder) -> bool:
    lock = open_locked(folder.lock, create=False)
    if lock is not None:
        os.close(lock)
    return lock is not None


def _is_regular(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _describe(folder: WorkFolder, path: Path) -> ResultFile:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return ResultFile(
            str(path.relative_to(folder.out)), os.fstat(file.fileno()).st_size, digest
        )
