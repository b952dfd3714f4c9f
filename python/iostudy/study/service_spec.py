"""The service that the workloads of a study need, such as a Hadoop cluster."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol


class ServiceSpec(Protocol):
    """The service that a study asks for; ``levels`` are those of settings that are not as found."""

    @property
    def dirs(self) -> tuple[Path, ...]:
        """The directories outside the target that it writes to."""

    @property
    def data_dirs(self) -> tuple[Path, ...]:
        """Those of the workloads' data; none: they are on the target."""

    def describe_parts(self) -> tuple[str, ...]:
        """Describe it in parts: what it is, where its data are, what it has."""

    @property
    def reserved(self) -> str:
        """What it reserves in addition to the data, in words."""

    def copies(self, levels: Mapping[str, str]) -> int:
        """Return how often it stores the data of a trial."""

    def reserved_bytes(self, levels: Mapping[str, str]) -> int:
        """Return the bytes that it reserves in addition to the data of a trial."""
