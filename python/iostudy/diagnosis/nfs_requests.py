"""Outstanding requests of an NFS mount (pure).

Source: nfsiostat(8): a request waits in the client's queue, then for the server (rtt); exe is both.
By Little's law the rate times the time is the number of outstanding requests.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.telemetry.summary import Figures

OPERATIONS = {"r": "a read", "w": "a write", "c": "a commit", "o": "another operation"}
"""A server may answer writes before they are on its disk; a commit waits until they are
(RFC 1813, 3.3.21). Other operations concern names and attributes, as for small files."""


def count_outstanding(figures: Figures, time: str = "exe") -> float:
    """Return the mean number of outstanding operations, or with ``rtt`` of those at the server."""
    at_once = (figures[f"{kind}/s"] * figures[f"{kind}_{time}"] for kind in used_kinds(figures))
    return sum(at_once) / 1000


def used_kinds(figures: Figures) -> Iterator[str]:
    """Return the kinds of operations that occurred."""
    return (kind for kind in OPERATIONS if figures.get(f"{kind}/s"))
