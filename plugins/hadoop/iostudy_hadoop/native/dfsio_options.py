"""Options of the dfsio workloads, with TestDFSIO's names where they agree."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from iostudy import units
from iostudy.workloads.native.job_files import refuse_misfit
from iostudy.workloads.option_types import Options, Percent, Size


class DfsioFiles(Options):
    """Options of every dfsio workload, also on a cluster."""

    files: Annotated[int, Field(ge=1, le=4096)] = Field(
        4, description="number of files, each with a thread or a map task (TestDFSIO: -nrFiles)"
    )
    size: Size = Field(256 * units.MIB, description="size of each file (TestDFSIO: -size)")


class DfsioOptions(DfsioFiles):
    """Options of the dfsio workloads that move data."""

    record_size: Size = Field(
        units.MIB, description="bytes of one read or write call (TestDFSIO: -bufferSize)"
    )
    direct: bool = Field(
        default=False, description="O_DIRECT, past the page cache, instead of buffered"
    )
    compressible: Percent = Field(
        0.0,
        description="how much of the files' content compresses to nothing; TestDFSIO's own is one "
        "short pattern again and again, nearly 100% (which flatters what compresses by itself)",
    )

    @model_validator(mode="after")
    def _fits(self) -> DfsioOptions:
        refuse_misfit(self.size, self.record_size, direct=self.direct)
        return self


class DfsioWriteOptions(DfsioOptions):
    """Options of dfsio-write and dfsio-append."""

    fsync: bool = Field(
        default=True, description="end each file with fsync, inside its measured time"
    )


class DfsioSkipOptions(DfsioOptions):
    """Options of dfsio-skip-read."""

    skip_size: Size | None = Field(
        None,
        description="bytes left out after every record, a multiple of record_size, which it is by "
        "default (TestDFSIO: -skipSize)",
    )

    @model_validator(mode="after")
    def _whole_records(self) -> DfsioSkipOptions:
        if self.skip_size is not None and self.skip_size % self.record_size:
            raise ValueError("skip_size is no multiple of record_size; make it one")
        return self

    @property
    def step(self) -> int:
        """Return the number of records between the starts of two reads."""
        return 1 + (self.skip_size or self.record_size) // self.record_size


class TruncatedFiles(DfsioFiles):
    """Options of files that are cut off."""

    new_size: Size | None = Field(
        None, description="size of each file afterwards (TestDFSIO: -size); by default half"
    )

    @model_validator(mode="after")
    def _shorter(self) -> Self:
        if not 0 < self.left < self.size:
            raise ValueError("new_size is not smaller than size; make it smaller")
        return self

    @property
    def left(self) -> int:
        """Return the size of each file afterwards."""
        return self.new_size or self.size // 2


class DfsioTruncateOptions(TruncatedFiles):
    """Options of dfsio-truncate."""

    fsync: bool = Field(
        default=True, description="bring the new size to the disk, inside the measured time"
    )
