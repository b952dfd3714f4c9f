"""Design of a fleet run: what its nodes do with the study."""

from __future__ import annotations

from enum import StrEnum


class Design(StrEnum):
    """Whether each node runs the whole study, or all nodes run every trial at the same time."""

    REPLICATE = "replicate"
    TOGETHER = "together"
