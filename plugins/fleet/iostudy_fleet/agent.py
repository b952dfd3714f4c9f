"""Agent of a node: ``python -P -m iostudy_fleet.agent``, started by the controller.

It carries out the calls that come as lines on stdin, and ends when they end. The pipes of
ssh or srun are its only connection, so nobody but the controller can command it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

from iostudy.settings.transaction.watchdog import SCRIPT as WATCHDOG
from iostudy_fleet.deployment.agents import ADOPT_ORPHANS
from iostudy_fleet.deployment.call_messages import GREETING, MOST_REQUEST_BYTES, CallRequest
from iostudy_fleet.supervision import node_study
from iostudy_fleet.together import trial_calls

# <linux/prctl.h>
_PR_SET_CHILD_SUBREAPER = 36
_CALLS_AT_ONCE = 32
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        node_study.begin,
        node_study.contact,
        node_study.list_results,
        node_study.read_piece,
        node_study.remove,
        trial_calls.carry,
        trial_calls.read_clock,
    )
}
"""All that a controller can call."""


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Carry out the calls until their end. A call that waits leaves the agent free for others."""
    lock = Lock()

    def run(request: CallRequest) -> None:
        send(request.run(FUNCTIONS))

    def send(line: bytes) -> None:
        # The end of the requests follows that of a controller which takes no answers.
        with lock, suppress(BrokenPipeError):
            answers.write(line)
            answers.flush()

    send(GREETING)
    with ThreadPoolExecutor(_CALLS_AT_ONCE) as threads:
        while line := requests.readline(MOST_REQUEST_BYTES):
            request = CallRequest.model_validate_json(line)
            if request.function == trial_calls.read_clock.__name__:
                run(request)
            else:
                threads.submit(run, request)


def main(arguments: Sequence[str]) -> int:
    """Serve stdin and stdout."""
    adopts = ADOPT_ORPHANS in arguments
    if adopts:
        _adopt_orphans()
    serve(*_take_pipes())
    if adopts:
        _wait_for_own_children()
    return 0


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes of the controller; what else is printed here and below goes to stderr."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return requests, answers


def _adopt_orphans() -> None:
    """Become the parent of supervisors, and ignore SIGTERM, at which they restore settings."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl PR_SET_CHILD_SUBREAPER")
    signal.signal(signal.SIGTERM, lambda *_: None)  # SIG_IGN would be inherited


def _wait_for_own_children() -> None:
    """Wait for supervisors, and for studies and watchdogs without one, after it was killed.

    Processes that workloads have left are not waited for.
    """
    while any(map(is_own, _list_children())):
        os.wait()


def _list_children() -> Iterator[list[bytes]]:
    """The command line of each child; proc_pid_stat(5)."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            after_name = (process / "stat").read_bytes().rpartition(b")")[2]
            if int(after_name.split()[1]) == os.getpid():
                yield (process / "cmdline").read_bytes().split(b"\0")


_PACKAGES = (b"iostudy", b"iostudy_fleet")


def is_own(arguments: Sequence[bytes]) -> bool:
    """Whether a command line is one of iostudy that may have settings to restore."""
    modules = [module for option, module in pairwise(arguments) if option == b"-m"]
    runs_module = any(module.partition(b".")[0] in _PACKAGES for module in modules)
    return runs_module or os.fsencode(WATCHDOG) in arguments


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
