"""Drive file of a flash drive."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from iostudy.prober import BLOCK_BYTES
from iostudy_lab.drives.quantities import (
    Blocks,
    BlockTime,
    Bytes,
    Nanoseconds,
    Positive,
    Rate,
    Share,
)
from iostudy_lab.drives.section import DriveSection


class SlcCache(DriveSection):
    """Cache of single-level cells that receives writes first."""

    size: Bytes
    program: Nanoseconds
    idle: Nanoseconds


class Flash(DriveSection):
    """A flash drive."""

    family: Literal["flash"]
    name: str
    year: int
    sources: Annotated[list[str], Field(min_length=1)]
    capacity: Blocks
    channels: Positive
    dies: Positive
    page: Bytes
    pages: Positive
    mapping_unit: Bytes
    over_provisioning: Share
    read: Nanoseconds
    program: Nanoseconds
    erase: Nanoseconds
    channel_rate: Rate
    host_rate: BlockTime
    command: Nanoseconds
    buffer: Bytes
    protected_buffer: bool
    slc: SlcCache | None = None
    depth: Positive

    @model_validator(mode="after")
    def _check_page(self) -> Self:
        """Refuse a page that does not hold whole mapping units."""
        if self.page % self.mapping_unit or self.mapping_unit % 512:
            raise ValueError(
                f"page is {self.page} bytes and mapping_unit {self.mapping_unit}; a page holds a "
                "whole number of units, and a unit a whole number of 512 bytes"
            )
        return self

    @property
    def size_bytes(self) -> int:
        """Capacity for the host."""
        return self.capacity * BLOCK_BYTES

    @property
    def rotates(self) -> bool:
        """Whether it is a disk."""
        return False

    def parameters(self) -> dict[str, Any]:
        """Parameters of the model: times in nanoseconds, the capacity in blocks."""
        slc = self.slc and {
            "bytes": self.slc.size,
            "program": self.slc.program,
            "idle": self.slc.idle,
        }
        return {
            "family": "flash",
            "capacity": self.capacity,
            "channels": self.channels,
            "dies": self.dies,
            "page_bytes": self.page,
            "pages": self.pages,
            "unit_bytes": self.mapping_unit,
            "over_provisioning": self.over_provisioning,
            "read": self.read,
            "program": self.program,
            "erase": self.erase,
            "page_transfer": round(self.page * 10**9 / self.channel_rate),
            "block_transfer": self.host_rate,
            "command": self.command,
            "buffer_bytes": self.buffer,
            "protected_buffer": self.protected_buffer,
            "slc": slc,
            "depth": self.depth,
        }
