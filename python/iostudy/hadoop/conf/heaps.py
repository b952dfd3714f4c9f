"""The largest heaps of a cluster's processes: no properties of Hadoop's, but given like them."""

from __future__ import annotations

NAMENODE_HEAP, DATANODE_HEAP, CLIENT_HEAP = "namenode.heap", "datanode.heap", "client.heap"
HEAPS = (NAMENODE_HEAP, DATANODE_HEAP, CLIENT_HEAP)
"""As java's -Xmx takes them."""
