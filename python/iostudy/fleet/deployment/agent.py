"""Dask worker of a node: ``python -m iostudy.fleet.deployment.agent``, with its order on stdin."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import dask
from distributed import Worker
from distributed.utils import get_ip
from pydantic import BaseModel, ConfigDict

from iostudy.fleet.deployment.certificates import Identity
from iostudy.fleet.deployment.dask_settings import QUIET, build_security
from iostudy.settings.transaction.watchdog import SCRIPT as WATCHDOG

# <linux/prctl.h>
_PR_SET_CHILD_SUBREAPER = 36


class AgentOrder(BaseModel):
    """Where to register, as which node, and the identity for it.

    ``kills_orphans`` as of `RemoteNode`: the process ends after the studies that it started.
    """

    model_config = ConfigDict(frozen=True)

    node: str
    scheduler: str
    host: str
    port: int
    identity: Identity
    wait_seconds: float
    kills_orphans: bool = False


async def serve(order: AgentOrder) -> None:
    """Serve the scheduler until it ends. The key is in no command line and no file that stays."""
    with (
        tempfile.TemporaryDirectory(prefix="iostudy-fleet-agent-") as folder,
        dask.config.set(QUIET),
    ):
        worker = Worker(
            order.scheduler,
            name=order.node,
            host=get_ip(order.host, order.port),
            security=build_security(order.identity),
            nthreads=1,
            memory_limit=0,
            death_timeout=order.wait_seconds,
            dashboard=False,
            local_directory=folder,
        )
        async with worker:
            worker.periodic_callbacks["heartbeat"].stop()  # leases have heartbeats of their own
            await worker.finished()


def main() -> int:
    """Read the order and serve it."""
    order = AgentOrder.model_validate_json(sys.stdin.buffer.readline())
    if order.kills_orphans:
        _adopt_orphans()
    asyncio.run(serve(order))
    if order.kills_orphans:
        _wait_for_own_children()
    return 0


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


def is_own(arguments: Sequence[bytes]) -> bool:
    """Whether a command line is one of iostudy that may have settings to restore."""
    modules = [module for option, module in pairwise(arguments) if option == b"-m"]
    runs_module = any(module.partition(b".")[0] == b"iostudy" for module in modules)
    return runs_module or os.fsencode(WATCHDOG) in arguments


if __name__ == "__main__":
    sys.exit(main())
