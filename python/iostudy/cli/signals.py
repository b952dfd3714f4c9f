"""Signal handling: SIGINT, SIGTERM and SIGHUP end a command after its changes are restored.

Python runs the handler of a signal between its own instructions. A signal that arrives after the
last of them and before a system call does not interrupt this call, nor does one that the kernel
delivers to another thread. A wait without a time limit would then handle it too late, or never.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from types import FrameType

from iostudy.settings.transaction.deferred_signals import run_or_defer

TERMINATION_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_REPEAT_SECONDS = 2.0
"""Signals that come so soon after another one repeat it (`timeout`, a lost ssh)."""


class EndedBySignal(BaseException):
    """One of ENDING was received, or the reader of the output is gone (SIGPIPE).

    ``exit_code`` is 128 plus its number, as in shells.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


@dataclass
class _SignalHandler:
    """Raises EndedBySignal, but not again while the first one is on its way out.

    After that it does: should the way out hang, a second signal ends what it hangs in. Only a
    restore is never cut short; SIGKILL ends that too, and the journal is there for it.
    """

    last_signal_at: float = -_REPEAT_SECONDS

    def handle(self, number: int, _frame: FrameType | None) -> None:
        run_or_defer(partial(self._end, number))

    def _end(self, number: int) -> None:
        now = time.monotonic()
        if now - self.last_signal_at < _REPEAT_SECONDS:
            return
        self.last_signal_at = now
        raise EndedBySignal(number)


def install_handlers() -> None:
    """Let ENDING raise EndedBySignal in the main thread.

    A signal that was ignored at the start (nohup) stays ignored.
    """
    ender = _SignalHandler()
    for number in handled_signals():
        signal.signal(number, ender.handle)


def handled_signals() -> tuple[signal.Signals, ...]:
    """Return those of ENDING that are not ignored."""
    return tuple(
        number for number in TERMINATION_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN
    )


def ignore_signals() -> None:
    """Ignore signals during the last lines of the program."""
    for number in TERMINATION_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


_WAKEUP = signal.SIGURG
"""The kernel ignores it by default, and no part of iostudy uses it."""
_WAKEUP_SECONDS = 0.05
_SIGNAL_BYTES = 512


@dataclass
class _Wakeup:
    """Whether the main thread has run its handlers since the last signal.

    An event would not do: a handler that interrupts itself would wait for its own lock.
    """

    handled: bool = False
    ended: bool = False

    def handle(self, _number: int, _frame: FrameType | None) -> None:
        self.handled = True


@contextmanager
def signal_wakeups() -> Iterator[None]:
    """Let a thread wake the main thread, which has to enter this.

    Where a limit allows no thread, a signal may wait for the end of a system call.
    """
    read_end, write_end = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(write_end, False)
    wakeup = _Wakeup()
    # All handlers that are due run together, and this one last: its number is the largest.
    handler = signal.signal(_WAKEUP, wakeup.handle)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    thread = threading.Thread(
        target=_wake_main_thread, args=(read_end, wakeup), name="signal wakeups", daemon=True
    )
    with suppress(RuntimeError):  # commands that need threads report the limit themselves
        thread.start()
    try:
        yield
    finally:
        wakeup.ended = True
        signal.set_wakeup_fd(-1)
        signal.signal(_WAKEUP, handler)
        os.close(write_end)
        if thread.ident is not None:
            thread.join()
        os.close(read_end)


def _wake_main_thread(read_end: int, wakeup: _Wakeup) -> None:
    """Interrupt the system calls of the main thread until its handlers have run."""
    main = threading.main_thread().ident
    assert main is not None
    while numbers := os.read(read_end, _SIGNAL_BYTES):
        if set(numbers) == {_WAKEUP}:
            continue
        wakeup.handled = False
        while not (wakeup.handled or wakeup.ended):
            signal.pthread_kill(main, _WAKEUP)
            time.sleep(_WAKEUP_SECONDS)
