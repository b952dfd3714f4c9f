"""State of a cluster as the active NameNode reports it over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from iostudy.errors import ClusterError
from iostudy_hadoop import jmx
from iostudy_hadoop.namespace import Address


@dataclass(frozen=True)
class Overview:
    """A cluster as its NameNode reports it now.

    ``safe_mode`` is empty outside safe mode. ``pending_deletions`` counts blocks whose deletion
    no DataNode has received yet.
    """

    version: str
    safe_mode: str
    datanodes: frozenset[str]
    pending_deletions: int


def find_active(webs: Iterable[Address]) -> Address | None:
    """Return the address at which the active NameNode answers, or None.

    A cluster may close these addresses or require a password; then nothing is known about it.
    """
    answering = []
    for web in webs:
        try:
            state = jmx.read_bean(web, "NameNode", "FSNamesystem")
        except ClusterError:
            continue
        if state.get("tag.HAState") == "active":
            return web
        if state:
            answering.append(web)
    return answering[0] if answering else None


def read_overview(web: Address) -> Overview:
    """Return the current state of the cluster; ClusterError without an answer."""
    info = jmx.read_bean(web, "NameNode", "NameNodeInfo")
    state = jmx.read_bean(web, "NameNode", "FSNamesystem")
    try:
        return Overview(
            version=info["SoftwareVersion"],
            safe_mode=info["Safemode"],
            datanodes=frozenset(json.loads(info["LiveNodes"])),
            pending_deletions=state["PendingDeletionBlocks"],
        )
    except KeyError as error:
        raise ClusterError(
            "a NameNode that reports the state of its cluster",
            found=f"no {error.args[0]} among its metrics",
            where=f"http://{web}/jmx",
            remedy="wait until it has read its file system; if it has, it is no NameNode",
        ) from error
