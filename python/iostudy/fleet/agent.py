"""Dask worker of a node: ``python -m iostudy.fleet.agent``, with its order on stdin."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
import tempfile
from contextlib import suppress

import dask
from distributed import Worker
from distributed.utils import get_ip
from pydantic import BaseModel, ConfigDict

from iostudy.fleet.certificates import Identity
from iostudy.fleet.dask_settings import QUIET, build_security

# <linux/prctl.h>
_PR_SET_CHILD_SUBREAPER = 36
THREADS = 2
"""Heartbeats continue while a file is transferred."""


class AgentOrder(BaseModel):
    """Where to register, as which node, and the identity for it.

    ``outlasts_studies``: the process ends after the supervisors that it started, because a batch
    system would kill them at its end.
    """

    model_config = ConfigDict(frozen=True)

    node: str
    scheduler: str
    host: str
    port: int
    identity: Identity
    wait_seconds: float
    outlasts_studies: bool = False


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
            nthreads=THREADS,
            memory_limit=0,
            death_timeout=order.wait_seconds,
            dashboard=False,
            local_directory=folder,
        )
        async with worker:
            await worker.finished()


def main() -> int:
    """Read the order and serve it."""
    order = AgentOrder.model_validate_json(sys.stdin.buffer.readline())
    if order.outlasts_studies:
        _adopt_orphans()
    asyncio.run(serve(order))
    if order.outlasts_studies:
        _wait_for_children()
    return 0


def _adopt_orphans() -> None:
    """Become the parent of supervisors, and ignore SIGTERM, at which they restore settings."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl PR_SET_CHILD_SUBREAPER")
    signal.signal(signal.SIGTERM, lambda *_: None)  # SIG_IGN would be inherited


def _wait_for_children() -> None:
    with suppress(ChildProcessError):
        while True:
            os.wait()


if __name__ == "__main__":
    sys.exit(main())
