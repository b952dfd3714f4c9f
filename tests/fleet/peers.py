"""Attempts of several peers to make a node run a command: ``python -m tests.fleet.peers FOLDER``.

It prints who succeeded. Each peer tries the worker of a node and the scheduler.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dask
from distributed import Scheduler
from distributed.core import rpc
from distributed.protocol.pickle import dumps

from iostudy.fleet.deployment.agent import AgentOrder
from iostudy.fleet.deployment.certificates import Authority
from iostudy.fleet.deployment.dask_settings import QUIET, build_security
from tests.fleet.hosts import AGENT

SECONDS = 10.0


async def attempt(address: str, arguments: Mapping[str, Any], mark: Path) -> bool:
    """Whether a command of the peer ran there."""
    try:
        async with rpc(address, timeout=SECONDS, connection_args=dict(arguments)) as peer:
            op = peer.run if "worker" in mark.name else peer.run_function
            await asyncio.wait_for(op(function=dumps(Path.touch), args=dumps((mark,))), SECONDS)
    except (OSError, TimeoutError, asyncio.CancelledError, TypeError):
        pass
    return mark.exists()


def build_peers(own: Authority) -> dict[str, tuple[str, dict[str, Any]]]:
    """Scheme and connection arguments of each peer."""
    anonymous = ssl.create_default_context()
    anonymous.check_hostname, anonymous.verify_mode = False, ssl.CERT_NONE
    foreign = build_security(Authority("foreign").issue("peer")).get_connection_args("client")
    foreign["ssl_context"].verify_mode = ssl.CERT_NONE
    return {
        "member": ("tls", build_security(own.issue("peer")).get_connection_args("client")),
        "foreign": ("tls", foreign),
        "anonymous": ("tls", {"ssl_context": anonymous, "require_encryption": True}),
        "plain": ("tcp", {}),
    }


async def main(folder: Path) -> None:
    """Start a scheduler and an agent, and let every peer try both."""
    authority = Authority("tried")
    security = build_security(authority.issue("controller"))
    with dask.config.set(QUIET):
        async with Scheduler(
            host="127.0.0.1", protocol="tls://", port=0, security=security, dashboard=False,
            dashboard_address="127.0.0.1:0",
        ) as scheduler:  # fmt: skip
            parts = urlsplit(scheduler.address)
            order = AgentOrder(
                node="n1", scheduler=scheduler.address, host=str(parts.hostname),
                port=int(parts.port or 0), identity=authority.issue("n1"), wait_seconds=60.0,
            )  # fmt: skip
            agent = subprocess.Popen([sys.executable, "-m", AGENT], stdin=subprocess.PIPE)
            assert agent.stdin is not None
            agent.stdin.write(order.model_dump_json().encode() + b"\n")
            agent.stdin.flush()
            while not scheduler.workers:
                assert agent.poll() is None
                await asyncio.sleep(0.1)
            (worker,) = scheduler.workers
            found = {}
            for name, (scheme, arguments) in build_peers(authority).items():
                for role, address in (("worker", worker), ("scheduler", scheduler.address)):
                    there = address.replace("tls", scheme)
                    found[f"{name} {role}"] = await attempt(
                        there, arguments, folder / f"{name}-{role}"
                    )
    agent.wait(SECONDS)
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
