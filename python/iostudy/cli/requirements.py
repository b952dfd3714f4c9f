"""Checks before a command starts: UTF-8 arguments, memory and threads.

Libraries end the whole process where a limit denies them a thread or memory (OpenBLAS by SIGINT or
exit code 1, Rust by SIGABRT), and no error can be reported. So both are tried beforehand.
"""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Sequence

from iostudy.errors import ResourceError, UsageError
from iostudy.units import MIB

STATISTICS_COMMANDS = (
    "power",
    "run",
    "try",
    "report-study",
    "simulate",
    "report",
    "compare",
    "persist",
    "bench",
    "selftest",
)
"""The commands that load numpy and the charts, and write or read reports."""

_THREADS, _THREADS_PER_CPU = 8, 4
"""Pools of OpenBLAS and the charts have a thread for each CPU, the rest is a few."""
_ADDRESS_SPACE, _ADDRESS_SPACE_PER_CPU = 1440 * MIB, 256 * MIB
"""Measured with 2 CPUs: 1543 MiB (ulimit -v 1580000) end `report` by SIGABRT, 1611 MiB do not."""


def require_utf8(command: str | None, arguments: Sequence[str]) -> None:
    """UsageError for an argument of STATISTICS_COMMANDS that is not UTF-8.

    Their reports could not name it. Other commands accept any name that the kernel accepts.
    """
    if command not in STATISTICS_COMMANDS:
        return
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise UsageError(
                "arguments in UTF-8",
                found=repr(os.fsencode(argument))[1:],
                where="the command line",
                remedy="give names in UTF-8, and paths through a folder or link that has one",
            ) from error


def require_resources(command: str | None) -> None:
    """ResourceError where a limit would end one of STATISTICS without an error of its own."""
    if command not in STATISTICS_COMMANDS:
        return
    cpus = len(os.sched_getaffinity(0))
    _require_address_space(_ADDRESS_SPACE + cpus * _ADDRESS_SPACE_PER_CPU)
    _require_threads(_THREADS + cpus * _THREADS_PER_CPU)


def _require_address_space(least_bytes: int) -> None:
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < least_bytes:
        raise ResourceError(
            f"{least_bytes // MIB} MiB of address space",
            found=f"a limit of {limit // MIB} MiB",
            where="the limits of this process (RLIMIT_AS)",
            remedy="raise the limit (ulimit -v)",
        )


def _require_threads(least: int) -> None:
    """Start so many threads, which end at once: no limit can be computed from all that apply."""
    finish = threading.Event()
    threads = [threading.Thread(target=finish.wait, daemon=True) for _ in range(least)]
    started = 0
    try:
        for thread in threads:
            thread.start()
            started += 1
    except RuntimeError as error:
        raise ResourceError(
            f"{least} threads",
            found=f"{started} could be started, and the next was refused: {error}",
            where="the limits of this process and of its control group",
            remedy="raise the limit of processes (ulimit -u, pids.max of the control group)",
        ) from error
    finally:
        finish.set()
        for thread in threads[:started]:
            thread.join()
