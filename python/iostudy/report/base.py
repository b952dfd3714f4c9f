"""Base class and common values of all report documents."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, FiniteFloat


class Value(BaseModel):
    """Base of all report values: frozen, without unknown fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, serialize_by_alias=True
    )


class Span(Value):
    """Both ends of an interval, as fractions where the field says nothing else."""

    low: FiniteFloat
    """Lower end."""
    high: FiniteFloat
    """Upper end."""


class FigureDescription(Value):
    """A figure of a workload."""

    name: str
    """Name of the figure, such as ``throughput``."""
    unit: str
    """Unit of its values, such as ``MiB/s``."""
    documentation: str
    """What it measures."""
    higher_is_better: bool
    """False for a time or a latency."""
