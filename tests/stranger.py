"""Actions of a user without rights, and actions that may hang, each in a process of its own."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable

from iostudy.errors import IostudyError

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
