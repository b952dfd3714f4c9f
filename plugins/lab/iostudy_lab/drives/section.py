"""Base of all sections of a drive file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class DriveSection(BaseModel):
    """A section: frozen, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
