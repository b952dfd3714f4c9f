"""Base class and common values of all report documents."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, FiniteFloat


class Value(BaseModel):
    """Base of all report values: frozen, without unknown fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, serialize_by_alias=True
    )


class Span(Value):
    """An interval, both ends as fractions."""

    low: FiniteFloat
    high: FiniteFloat


class FigureDescription(Value):
    """A figure of a workload."""

    name: str
    unit: str
    documentation: str
    higher_is_better: bool
