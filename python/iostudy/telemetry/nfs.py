"""nfsiostat's figures of each NFS mount (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from iostudy.telemetry.samples import Samples, Values, counter_increments, drop_missing, sum_known
from iostudy.telemetry.summary import Figures

_KINDS = {"read": "r", "write": "w", "commit": "c", "other": "o"}
"""Kinds of operations, and the prefixes of their figures. NFS version 2 has no COMMIT."""
_KB = 1024


def compute_mount_figures(samples: Samples) -> Mapping[str, Figures]:
    """Compute figures of each kind of operation and of all, as nfsiostat of nfs-utils, by path.

    Kinds are reads, writes, commits, and others: OPEN, LOOKUP, GETATTR, CREATE, REMOVE and so on.

    Sizes are kB that crossed the network, headers included; times are milliseconds an operation:
    ``rtt`` until the server replied, ``queue`` until it was sent, ``exe`` all of it. ``retrans``
    are transmissions beyond the first.
    """
    figures = {}
    for mount, columns in samples.keyed("nfs").items():
        counted = {
            name: sum_known(counter_increments(drop_missing(values)))
            for name, values in columns.items()
        }
        seconds = _seconds(columns["read_operations"], samples.seconds)
        # The increments of a mount with one sample, or that was remounted, are unknown.
        if seconds > 0 and isfinite(counted["read_operations"]):
            figures[mount] = _figures(counted, seconds)
    return figures


def _seconds(values: Values, seconds: Values) -> float:
    """Return the seconds from its first reading to its last."""
    at = drop_missing(seconds + 0 * values)
    return float(at[-1] - at[0])


def _figures(counted: Mapping[str, float], seconds: float) -> Figures:
    kinds = [kind for kind in _KINDS if f"{kind}_operations" in counted]
    operations = sum(counted[f"{kind}_operations"] for kind in kinds)
    again = sum(_retransmitted(counted, kind) for kind in kinds)
    figures: dict[str, float] = {}
    for kind in kinds:
        figures |= _kind_figures(counted, kind, seconds)
    return figures | {
        "ops/s": operations / seconds,
        "%retrans": 100 * again / operations if operations else 0.0,
    }


def _kind_figures(counted: Mapping[str, float], kind: str, seconds: float) -> Figures:
    operations, short = counted[f"{kind}_operations"], _KINDS[kind]
    moved_kb = (counted[f"{kind}_sent_bytes"] + counted[f"{kind}_received_bytes"]) / _KB
    times = {"rtt": "rtt_ms", "exe": "execute_ms", "queue": "queue_ms"}
    return {
        f"{short}/s": operations / seconds,
        f"{short}kB/s": moved_kb / seconds,
        f"{short}_retrans": _retransmitted(counted, kind),
        **{
            f"{short}_{name}": counted[f"{kind}_{counter}"] / operations if operations else 0.0
            for name, counter in times.items()
        },
    }


def _retransmitted(counted: Mapping[str, float], kind: str) -> float:
    return counted[f"{kind}_transmissions"] - counted[f"{kind}_operations"]
