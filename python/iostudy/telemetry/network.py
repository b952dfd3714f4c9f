"""sar's figures of each network interface, and TCP retransmissions (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from iostudy.telemetry.samples import (
    Samples,
    Values,
    counter_increments,
    drop_missing,
    mean_rates,
    sum_known,
)
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
    again, out = (
        sum_known(counter_increments(drop_missing(columns[name])))
        for name in ("retransmitted", "out_segments")
    )
    return {
        "retrans/s": again / float(samples.seconds[-1]),
        "%retrans": 100 * again / out if out else 0.0,
    }
