"""sar's figures of network interfaces and TCP, and nfsiostat's figures of NFS mounts (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from iostudy.telemetry.samples import Samples, Values, drop_missing, mean_rates, total_increment
from iostudy.telemetry.summary import Figures

_RATES = {
    "rx_packets": "rxpck/s",
    "tx_packets": "txpck/s",
    "rx_errors": "rxerr/s",
    "tx_errors": "txerr/s",
    "rx_dropped": "rxdrop/s",
    "tx_dropped": "txdrop/s",
}
_KB = 1024
_BYTES_PER_MBIT = 1e6 / 8


def compute_interface_figures(samples: Samples) -> Mapping[str, Figures]:
    """Compute the figures of ``sar -n DEV,EDEV`` (sysstat 12) while each interface was present.

    An interface without counters has none: a recording may only have its speed.
    """
    return {
        interface: figures
        for interface, columns in samples.keyed("net").items()
        if (figures := _figures(columns, samples))
    }


def _figures(columns: Mapping[str, Values], samples: Samples) -> Figures:
    counters = {name: values for name, values in columns.items() if name != "speed_mbit"}
    rates = mean_rates(counters, samples.seconds)
    if not rates or not all(map(isfinite, rates.values())):
        return {}
    figures = {"rxkB/s": rates["rx_bytes"] / _KB, "txkB/s": rates["tx_bytes"] / _KB}
    figures |= {_RATES[name]: rates[name] for name in _RATES}
    if "speed_mbit" in columns:
        # In full duplex each direction has it all: the fuller one counts, as for sar.
        fuller = max(rates["rx_bytes"], rates["tx_bytes"])
        speed = float(drop_missing(columns["speed_mbit"])[-1]) * _BYTES_PER_MBIT
        figures["%ifutil"] = 100 * fuller / speed
    return figures


def compute_tcp_figures(samples: Samples) -> Figures:
    """Compute ``retrans/s`` and ``%retrans``: retransmitted segments of all connections."""
    columns = samples.group("tcp")
    if not columns.keys() >= {"retransmitted", "out_segments"}:
        return {}
    again, out = (total_increment(columns[name]) for name in ("retransmitted", "out_segments"))
    return {
        "retrans/s": again / float(samples.seconds[-1]),
        "%retrans": 100 * again / out if out else 0.0,
    }


_KINDS = {"read": "r", "write": "w", "commit": "c", "other": "o"}
"""Kinds of operations, and the prefixes of their figures. NFS version 2 has no COMMIT."""


def compute_mount_figures(samples: Samples) -> Mapping[str, Figures]:
    """Compute figures of each kind of operation and of all, as nfsiostat of nfs-utils, by path.

    Kinds are reads, writes, commits, and others: OPEN, LOOKUP, GETATTR, CREATE, REMOVE and so on.

    Sizes are kB that crossed the network, headers included; times are milliseconds an operation:
    ``rtt`` until the server replied, ``queue`` until it was sent, ``exe`` all of it. ``retrans``
    are transmissions beyond the first.
    """
    figures = {}
    for mount, columns in samples.keyed("nfs").items():
        counted = {name: total_increment(values) for name, values in columns.items()}
        at = drop_missing(samples.seconds + 0 * columns["read_operations"])
        seconds = float(at[-1] - at[0])  # from its first reading to its last
        # The increments of a mount with one sample, or that was remounted, are unknown.
        if seconds > 0 and isfinite(counted["read_operations"]):
            figures[mount] = _mount_figures(counted, seconds)
    return figures


def _mount_figures(counted: Mapping[str, float], seconds: float) -> Figures:
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
