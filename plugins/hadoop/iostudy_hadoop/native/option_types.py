"""Types of options that several benchmarks share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer

from iostudy import units
from iostudy.workloads.directories import absolute, require_distinct
from iostudy.workloads.option_types import SIZE_FORM, Size, TextList, at_most

_MAX_MEMORY_BYTES = 1 << 40
"""Largest memory of a workload's tables and buffers; few hosts have more."""

Memory = Annotated[Size, at_most(_MAX_MEMORY_BYTES, units.format_size)]
"""Bytes that a workload may take for itself."""

Directories = Annotated[
    TextList[Annotated[Path, AfterValidator(absolute)]], AfterValidator(require_distinct)
]
"""Absolute paths, each once: ``[/disk1/scratch, /disk2/scratch]``."""

SizeOrNothing = Annotated[
    int,
    BeforeValidator(units.parse_size),
    Field(ge=0, le=units.GIB),
    PlainSerializer(units.format_size, return_type=str, when_used="json"),
    SIZE_FORM,
]
"""Bytes up to 1 GiB, written as a size; 0 is allowed."""
