"""sar's figures of each network interface, and how much TCP had to send again (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from iostudy.telemetry.samples import Samples, Values, known, moved, rates_of_known, total
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


def figures_by_interface(samples: Samples) -> Mapping[str, Figures]:
    """By the names of ``sar -n DEV,EDEV`` (sysstat 12), over the time each interface was there.

    One without counters has none: a recording may know its speed alone.
    """
    return {
        interface: figures
        for interface, columns in samples.keyed("net").items()
        if (figures := _figures(columns, samples))
    }


def _figures(columns: Mapping[str, Values], samples: Samples) -> Figures:
    counters = {name: values for name, values in columns.items() if name != "speed_mbit"}
    rates = rates_of_known(counters, samples.seconds)
    if not rates or not all(map(isfinite, rates.values())):
        return {}
    figures = {"rxkB/s": rates["rx_bytes"] / _KB, "txkB/s": rates["tx_bytes"] / _KB}
    figures |= {_RATES[name]: rates[name] for name in _RATES}
    if "speed_mbit" in columns:
        # In full duplex each direction has it all: the fuller one counts, as for sar.
        fuller = max(rates["rx_bytes"], rates["tx_bytes"])
        speed = float(known(columns["speed_mbit"])[-1]) * _BYTES_PER_MBIT
        figures["%ifutil"] = 100 * fuller / speed
    return figures


def tcp_figures(samples: Samples) -> Figures:
    """``retrans/s`` and ``%retrans``: of the segments of all connections, those sent again."""
    columns = samples.group("tcp")
    if not columns.keys() >= {"retransmitted", "out_segments"}:
        return {}
    again, out = (total(moved(known(columns[name]))) for name in ("retransmitted", "out_segments"))
    return {
        "retrans/s": again / float(samples.seconds[-1]),
        "%retrans": 100 * again / out if out else 0.0,
    }
