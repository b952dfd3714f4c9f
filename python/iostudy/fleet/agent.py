"""Dask worker of a node: ``python -m iostudy.fleet.agent``, with its order on stdin."""

from __future__ import annotations

import asyncio
import sys
import tempfile

import dask
from distributed import Worker
from distributed.utils import get_ip
from pydantic import BaseModel, ConfigDict

from iostudy.fleet.certificates import Identity
from iostudy.fleet.dask_settings import QUIET, build_security

THREADS = 2
"""Heartbeats continue while a file is transferred."""


class AgentOrder(BaseModel):
    """Where to register, as which node, and the identity for it."""

    model_config = ConfigDict(frozen=True)

    node: str
    scheduler: str
    host: str
    port: int
    identity: Identity
    wait_seconds: float


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
    asyncio.run(serve(AgentOrder.model_validate_json(sys.stdin.buffer.readline())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
