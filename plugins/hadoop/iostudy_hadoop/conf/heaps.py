"""Maximum heap sizes of cluster processes, given like Hadoop properties."""

from __future__ import annotations

NAMENODE_HEAP, DATANODE_HEAP, CLIENT_HEAP = "namenode.heap", "datanode.heap", "client.heap"
HEAPS = (NAMENODE_HEAP, DATANODE_HEAP, CLIENT_HEAP)
"""Values have the form of java's -Xmx."""
