"""Configurations whose trials ran at the rate cap of their control group (pure)."""

from __future__ import annotations

from collections.abc import Iterable

from iostudy.diagnosis.rules.rate_cap import ran_at_cap
from iostudy.ledger.rows import TrialRow

_MOST = 0.5
"""Share of the counted trials of a configuration that ran at a cap, from which it did."""


def find_limited(rows: Iterable[TrialRow]) -> frozenset[tuple[str, str]]:
    """Return workload and configuration of those with most counted trials at a rate cap."""
    at_cap: dict[tuple[str, str], list[bool]] = {}
    for row in rows:
        if row.counts:
            own = at_cap.setdefault((row.workload, row.configuration), [])
            own.append(row.summary is not None and ran_at_cap(row.summary))
    return frozenset(key for key, found in at_cap.items() if sum(found) >= _MOST * len(found))
