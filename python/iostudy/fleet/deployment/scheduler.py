"""Connection to a Dask scheduler that exists, as of Kubernetes, a batch system, or by hand."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial

import cloudpickle
from distributed import Client
from distributed.security import Security

from iostudy.errors import UsageError
from iostudy.fleet.deployment import probe as probe_module
from iostudy.fleet.deployment.client import MOST_CONNECTIONS, FleetClient, NoAnswer, find_workers
from iostudy.fleet.deployment.readiness import NodeFacts, Readiness, read_facts, unreachable
from iostudy.study.fleet_nodes import NAME, has_tls

_CONNECT_SECONDS = 10.0


@contextmanager
def connect_to_scheduler(address: str, names: Collection[str] | None) -> Iterator[FleetClient]:
    """Connect with the TLS files of Dask's own configuration; a node is a named worker.

    ``names`` are those of the nodes, None for all workers.
    """
    security = Security()
    certificate = security.get_tls_config_for_role("client")["cert"]
    if not has_tls(address) or not certificate:
        raise UsageError(
            "a scheduler with TLS, and Dask's settings distributed.comm.tls.ca-file, client.cert "
            "and client.key",
            found=address if certificate else f"{address}, and no client certificate",
            where="--scheduler",
            remedy="a scheduler without TLS lets every peer run commands on the nodes: start it "
            "with tls:// and set DASK_DISTRIBUTED__COMM__TLS__CA_FILE and the others",
        )
    try:
        client = Client(
            address,
            security=security,
            timeout=_CONNECT_SECONDS,
            connection_limit=MOST_CONNECTIONS,
        )
    except (OSError, TimeoutError) as error:
        raise UsageError(
            "a Dask scheduler that accepts this host's certificate",
            found=" ".join(str(error).split()),
            where=address,
            remedy="start it, or name its address and the certificates that it trusts",
        ) from error
    with client:
        workers = _require_names(find_workers(client), address)
        yield FleetClient(client, workers if names is None else _select(workers, names, address))


def probe_workers(
    fleet: FleetClient, study: str, text: str, seconds: float
) -> dict[str, NodeFacts | Readiness]:
    """The facts of each node by its name, or why there are none."""
    # By value: a worker may lack iostudy.
    cloudpickle.register_pickle_by_value(probe_module)
    try:
        call = partial(probe_module.probe, study, text)
        answers = fleet.call_all(dict.fromkeys(fleet.nodes, call), seconds)
    finally:
        cloudpickle.unregister_pickle_by_value(probe_module)
    return {node: _judge_answer(node, answer) for node, answer in answers.items()}


def _judge_answer(node: str, answer: object) -> NodeFacts | Readiness:
    if isinstance(answer, NoAnswer):
        return unreachable(node, answer.reason, "look at the worker's log")
    return read_facts(answer) or unreachable(node, "no facts", "install iostudy[fleet] there")


def _select(workers: dict[str, str], names: Collection[str], where: str) -> dict[str, str]:
    """The workers of these nodes; UsageError if one has none now."""
    if missing := [name for name in names if name not in workers]:
        raise UsageError(
            "the workers of all nodes that were ready",
            found=f"gone since: {', '.join(missing)}",
            where=where,
            remedy="start them again, then repeat",
        )
    return {name: workers[name] for name in names}


def _require_names(workers: dict[str, str], where: str) -> dict[str, str]:
    bad = [name for name in workers if not NAME.fullmatch(name)]
    if bad or not workers:
        raise UsageError(
            "workers, each with the name of its node",
            found=", ".join(bad) or "no worker",
            where=where,
            remedy="start one on each node, with `dask worker --name $(hostname) --nworkers 1`",
        )
    return workers
