"""Supervisor of a study on a node: ``python -m iostudy_fleet.supervision.supervisor FOLDER LOCK``.

It runs `iostudy run`, or a server of trials, as its child, and ends it when the controller's lease
expires. SIGUSR1 renews the lease; SIGUSR2 and SIGTERM stop the study. It has a session of its own
and is no child of an agent, so it outlives both. ``LOCK`` is the descriptor of an open file;
the supervisor inherits its lock.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import assert_never

from iostudy.durable import write_whole
from iostudy.errors import NOT_RESTORED
from iostudy.settings.transaction.state import make_directory, state_directory, write_report
from iostudy_fleet.design import Design
from iostudy_fleet.supervision.lease import Lease
from iostudy_fleet.supervision.work_folder import Ending, EndReason, StudyOrder, WorkFolder

RENEW, STOP, TERMINATE = signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM
"""TERMINATE comes from another program, such as a batch system: the study does not begin again."""
_SIGNAL_BYTES = 512


def supervise(folder: WorkFolder, lock: int) -> Ending:
    """Run the study to its end; record and return how it ended."""
    order = folder.read_order()
    signals = _open_signals()
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)  # from now on it gets signals
    with folder.log.open("ab") as log:
        child = subprocess.Popen(
            _command(folder, order),
            cwd=folder.path,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "NO_COLOR": "1"},
        )
    reason = _wait(child, order.lease_seconds, signals)
    ending = Ending(exit_code=child.returncode, reason=reason)
    write_whole(folder.ending, ending.model_dump_json().encode())
    if reason is EndReason.LEASE:
        _report(folder, order, ending)
    return ending


def _command(folder: WorkFolder, order: StudyOrder) -> list[str]:
    """`iostudy` with the order's command; it gets SIGTERM if this process is killed."""
    command = _arguments(folder, order)
    return ["setpriv", "--pdeathsig", "TERM", "--", sys.executable, "-P", "-m", "iostudy", *command]


def _arguments(folder: WorkFolder, order: StudyOrder) -> list[str]:
    match order.design:
        case Design.REPLICATE:
            resume = ["--resume"] if folder.has_ledger() else []
            study = folder.study(order).name
            return ["run", study, "--out", folder.out.name, *resume, *order.options]
        case Design.TOGETHER:
            return ["fleet", "serve", str(folder.path)]
        case unreachable:
            assert_never(unreachable)


def _open_signals() -> int:
    """A pipe that gets the number of each signal, whatever thread the kernel interrupts for it."""
    read_end, write_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in (RENEW, STOP, TERMINATE, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    return read_end


def _read_signals(signals: int, seconds: float) -> set[int]:
    """The numbers of the signals since the last call; empty if there was none for so long."""
    ready, _, _ = select.select([signals], [], [], seconds)
    return set(os.read(signals, _SIGNAL_BYTES)) if ready else set()


def _wait(child: subprocess.Popen[bytes], lease_seconds: float, signals: int) -> EndReason:
    """Wait for the end of the study; end it if it is to stop.

    SIGTERM is repeated at every expiry of the lease: a second one ends what hangs on the way out.
    """
    lease = Lease(lease_seconds, time.monotonic())
    reason = EndReason.FINISHED
    while child.poll() is None:
        numbers = _read_signals(signals, lease.left(time.monotonic()))
        if numbers == {signal.SIGCHLD}:
            continue
        if not numbers or numbers & {STOP, TERMINATE}:
            reason = _find_reason(numbers, reason)
            child.terminate()
        lease = lease.renew(time.monotonic())
    return reason


def _find_reason(numbers: set[int], before: EndReason) -> EndReason:
    """A stop remains the reason if the study takes longer than a lease to end."""
    if TERMINATE in numbers or before is EndReason.TERMINATED:
        return EndReason.TERMINATED
    is_stop = STOP in numbers or before is EndReason.STOPPED
    return EndReason.STOPPED if is_stop else EndReason.LEASE


def _report(folder: WorkFolder, order: StudyOrder, ending: Ending) -> None:
    """Let the next command on this node say what happened."""
    kept = "finished trials are" if order.design is Design.REPLICATE else "log is"
    if ending.is_orderly:
        restored = f"its settings are restored; its {kept} in"
    elif ending.exit_code == NOT_RESTORED:
        restored = "its settings are not all restored, see"
    else:
        restored = f"it ended with {ending.exit_code}, see"
    now = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    line = (
        f"fleet, {now}: no heartbeat of the controller {order.controller} for "
        f"{order.lease_seconds:g} s: the study {order.name} was stopped; {restored} {folder.path}"
    )
    directory = state_directory()
    make_directory(directory)
    write_report(directory, [line])


def main(arguments: Sequence[str]) -> int:
    """Supervise the study of a folder."""
    folder, lock = arguments
    supervise(WorkFolder(Path(folder)), int(lock))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
