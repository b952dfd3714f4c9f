"""Processes in namespaces of their own, killed or kept alive, for tests and campaigns."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

MOUNT, NETWORK = 0x00020000, 0x40000000
"""CLONE_NEWNS and CLONE_NEWNET."""
_libc = ctypes.CDLL(None, use_errno=True)
Act = Callable[[], object]


def leave(kind: int = MOUNT) -> None:
    """Put this process into a new namespace; from one for mounts none propagates."""
    _check(_libc.unshare(kind))
    if kind == MOUNT:
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)


def killed(act: Act) -> None:
    """Let a child act in a new mount namespace, and kill it: the namespace ends with it."""
    _fork(lambda: (leave(), act(), _kill_self()))


@contextmanager
def kept(act: Act, kind: int = MOUNT) -> Iterator[int]:
    """The same, while another process, whose number is given, keeps the namespace alive."""
    reader, writer = os.pipe()

    def keep_and_act() -> None:
        leave(kind)
        keeper = os.fork()
        if keeper == 0:
            os.closerange(3, writer + 1)
            signal.pause()
        os.write(writer, b"%d" % keeper)
        act()
        _kill_self()

    _fork(keep_and_act)
    os.close(writer)
    with os.fdopen(reader) as file:
        keeper = int(file.read())
    try:
        yield keeper
    finally:
        os.kill(keeper, signal.SIGKILL)
        while _is_running(keeper):
            pass


def inside(pid: int, act: Act) -> None:
    """Let a child act in the mount namespace of a process."""

    def enter_and_act() -> None:
        descriptor = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY)
        _check(_libc.setns(descriptor, MOUNT))
        act()

    assert _fork(enter_and_act) == 0, "the act failed by itself"


def _fork(act: Act) -> int:
    """The exit code of a child that acts; minus the number of a signal that ended it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            act()
            status = 0
        except Exception:  # noqa: BLE001 - os._exit would swallow it
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _is_running(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


def _check(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
