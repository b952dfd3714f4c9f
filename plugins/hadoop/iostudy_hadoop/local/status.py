"""Status of a local cluster, as its masters and DataNodes report it over HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from iostudy.errors import ClusterError
from iostudy_hadoop import jmx
from iostudy_hadoop.local.layout import NAMENODE, RESOURCEMANAGER, ClusterLayout, Role
from iostudy_hadoop.namespace import Address

NO_ROOM = "Resources are low"
"""The message of a safe mode that does not end because the NameNode's folders lack space."""


def find_missing_services(layout: ClusterLayout) -> str:
    """Return the missing services in words; empty when the cluster is ready.

    A ready cluster has left safe mode, every DataNode has reported its blocks, and every
    NodeManager runs.
    """
    try:
        return _explain_missing_hdfs(layout) or (
            _explain_missing_yarn(layout) if layout.spec.yarn else ""
        )
    except ClusterError as error:
        return f"an answer from {urlsplit(error.where).netloc} ({error.found})"


def find_lost_services(layout: ClusterLayout) -> str:
    """Return the lost services in words; empty without any. ClusterError if a master is silent."""
    state = jmx.read_bean(layout.web(NAMENODE), "NameNode", "FSNamesystemState")
    alive = state["NumLiveDataNodes"]
    if alive < layout.spec.datanodes:
        return f"the NameNode hears of {alive} of {layout.spec.datanodes} DataNodes"
    if state["FSState"] != "Operational":
        return "the NameNode has gone into safe mode"
    if state["VolumeFailuresTotal"]:
        return f"{state['VolumeFailuresTotal']} data directories of DataNodes have failed"
    if layout.spec.yarn and (running := _running(layout)) < layout.spec.datanodes:
        return f"the ResourceManager hears of {running} of {layout.spec.datanodes} NodeManagers"
    return ""


@dataclass(frozen=True)
class PendingDeletion:
    """Blocks and files that are still to be deleted.

    ``queued`` blocks wait in the NameNode, ``in_transit`` blocks are on their way to DataNodes,
    and ``files`` wait there for their removal.
    """

    queued: int
    in_transit: int
    files: int

    def done(self) -> bool:
        """Whether everything is deleted."""
        return self == PendingDeletion(0, 0, 0)


def read_pending_deletion(layout: ClusterLayout) -> PendingDeletion:
    """Return the pending deletions now. ClusterError if a daemon does not answer.

    A block waits in the NameNode until its DataNode receives the order (PendingDeletionBlocks).
    It is on its way until the DataNode's block count equals the NameNode's. Then its file waits
    for removal (PendingAsyncDeletions). For about 10 ms after marking, a block appears in none
    of these; so require `done` twice. These beans are not of the metrics system, whose figures
    may be 10 s old.
    """
    web = layout.web(NAMENODE)
    pending = jmx.read_bean(web, "NameNode", "FSNamesystemState")["PendingDeletionBlocks"]
    blocks = _known_blocks(web)
    held = {address: _held_blocks(address) for _, address in _datanodes(layout)}
    files = sum(_pending_files(address) for address in held)
    in_transit = sum(abs(count - blocks.get(str(address), 0)) for address, count in held.items())
    return PendingDeletion(int(pending), in_transit, files)


def _explain_missing_hdfs(layout: ClusterLayout) -> str:
    state = jmx.read_bean(layout.web(NAMENODE), "NameNode", "FSNamesystemState")
    if not state:
        return "a NameNode that has read its file system"
    alive = state["NumLiveDataNodes"]
    if alive < layout.spec.datanodes:
        return f"{layout.spec.datanodes - alive} of {layout.spec.datanodes} DataNodes"
    if state["NumStaleStorages"]:
        return f"the blocks of {state['NumStaleStorages']} data directories"
    safe_mode = jmx.read_bean(layout.web(NAMENODE), "NameNode", "NameNodeInfo")["Safemode"]
    if safe_mode:
        return f"the end of safe mode: {safe_mode}"
    # A restarted daemon is still counted with its state before.
    return ", ".join(name for name, web in _datanodes(layout) if not _registered(web))


def _explain_missing_yarn(layout: ClusterLayout) -> str:
    wanted = layout.spec.datanodes
    running = _running(layout)
    return f"{wanted - running} of {wanted} NodeManagers" if running < wanted else ""


def _running(layout: ClusterLayout) -> int:
    answer = jmx.fetch(layout.web(RESOURCEMANAGER), "/ws/v1/cluster/nodes")
    # Without any node the list is null (the REST API's way to write an empty object).
    nodes = (answer["nodes"] or {}).get("node", [])
    return sum(node["state"] == "RUNNING" for node in nodes)


def _known_blocks(web: Address) -> Mapping[str, int]:
    """Return the NameNode's block count of each DataNode, by its HTTP address."""
    nodes: Mapping[str, Any] = json.loads(
        jmx.read_bean(web, "NameNode", "NameNodeInfo")["LiveNodes"]
    )
    return {node["infoAddr"]: node["numBlocks"] for node in nodes.values()}


def _held_blocks(web: Address) -> int:
    volumes = json.loads(jmx.read_bean(web, "DataNode", "DataNodeInfo")["VolumeInfo"])
    return sum(volume["numBlocks"] for volume in volumes.values())


def _pending_files(web: Address) -> int:
    # The name ends with the identity of the storage.
    return int(jmx.read_bean(web, "DataNode", "FSDatasetState-*").get("PendingAsyncDeletions", 0))


def _datanodes(layout: ClusterLayout) -> list[tuple[str, Address]]:
    """Return names and HTTP addresses of the DataNodes."""
    return [
        (daemon.name, layout.web(daemon))
        for daemon in layout.daemons()
        if daemon.role is Role.DATANODE
    ]


def _registered(web: Address) -> bool:
    actors = json.loads(
        jmx.read_bean(web, "DataNode", "DataNodeInfo").get("BPServiceActorInfo", "[]")
    )
    return bool(actors) and all(actor["ActorState"] == "RUNNING" for actor in actors)
