"""Actions of a user without rights, and actions that may hang, each in a process of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from iostudy.errors import IostudyError
from iostudy.host.processes import read_users
from iostudy.safe_path import ROOT_UID

STRANGER = 65534
HANG_SECONDS = 60


def as_stranger(act: Callable[[], str]) -> str:
    """The text of the act, or of its error, as a user without rights."""
    return _in_child(act, give_up_root=True)


def as_self(act: Callable[[], str]) -> str:
    """The text of the act, or ``refused: `` with its IostudyError.

    Any other error is a traceback; an act that hangs gives an empty text.
    """
    return _in_child(act, give_up_root=False)


@contextmanager
def imitations(environment: Mapping[str, str]) -> Iterator[tuple[int, ...]]:
    """Processes that a user without rights starts, with this environment.

    One is theirs, one of a set-user-ID program, as su, and one of such a program that has given up
    its real user, as sudo does.
    """
    with tempfile.TemporaryDirectory() as folder, ExitStack() as started:
        Path(folder).chmod(0o755)
        sleep, setpriv = (_copy_set_uid(name, Path(folder)) for name in ("sleep", "setpriv"))
        imitated = [
            (("sleep", "600"), {STRANGER}),
            ((sleep, "600"), {STRANGER, ROOT_UID}),
            ((setpriv, f"--reuid={ROOT_UID}", sleep, "600"), {ROOT_UID}),
        ]
        yield tuple(started.enter_context(_start(*each, environment)) for each in imitated)


def _copy_set_uid(name: str, folder: Path) -> str:
    copy = Path(shutil.copy(shutil.which(name) or name, folder / name))
    copy.chmod(0o4755)
    return str(copy)


@contextmanager
def _start(
    command: tuple[str, ...], users: set[int], environment: Mapping[str, str]
) -> Iterator[int]:
    """Start a command as a stranger; its last program then runs with these users."""
    with subprocess.Popen(
        command,
        env={**os.environ, **environment},
        # Popen changes the user before it returns; a program like setpriv would still be root's.
        user=STRANGER,
        group=STRANGER,
        extra_groups=(),
    ) as child:
        process, arguments = Path(f"/proc/{child.pid}"), "\0".join((*command[-2:], ""))
        try:
            while (process / "cmdline").read_text() != arguments:
                assert child.poll() is None, f"{command} has ended"
                time.sleep(0.01)
            assert read_users(process) == users
            yield child.pid
        finally:
            child.kill()


def _in_child(act: Callable[[], str], *, give_up_root: bool) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(HANG_SECONDS)
        os.write(writing, _text(act, give_up_root=give_up_root).encode(errors="replace")[:65536])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text


def _text(act: Callable[[], str], *, give_up_root: bool) -> str:
    try:
        if give_up_root:
            os.setgroups([])
            os.setresgid(STRANGER, STRANGER, STRANGER)
            os.setresuid(STRANGER, STRANGER, STRANGER)
        return act()
    except IostudyError as error:
        return f"refused: {error}"
    except BaseException as error:  # noqa: BLE001 - it is what the parent looks at
        return str(error) if give_up_root else traceback.format_exc()
