"""SIGINT, SIGTERM and SIGHUP end a command with everything put back on the way out."""

from __future__ import annotations

import signal
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class EndedBySignal(BaseException):
    """One of ENDING was received. ``exit_code`` is 128 and its number, as shells have it."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


def install() -> None:
    """From now on the first of ENDING raises EndedBySignal in the main thread.

    Further ones are ignored: what is put back then must not be cut short. SIGKILL still ends it;
    the journal is there for that. A signal that was ignored from the start (nohup) stays so.
    """
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, _frame: FrameType | None) -> None:
    for ending in ENDING:
        signal.signal(ending, signal.SIG_IGN)
    raise EndedBySignal(number)
