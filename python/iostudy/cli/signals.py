"""Signal handling: SIGINT, SIGTERM and SIGHUP end a command after its changes are restored."""

from __future__ import annotations

import signal
import time
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
        each for each in TERMINATION_SIGNALS if signal.getsignal(each) is not signal.SIG_IGN
    )


def ignore_signals() -> None:
    """Ignore signals during the last lines of the program."""
    for number in TERMINATION_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
