"""What a workload is: one value that yields schema, documentation, command line and report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, BeforeValidator, Field, PlainSerializer

from iostudy import units

Size = Annotated[
    int,
    BeforeValidator(units.parse_size),
    Field(gt=0),
    PlainSerializer(units.format_size, return_type=str, when_used="json"),
]
"""Bytes, written in a study file and in reports as a size such as ``256MiB``."""


@dataclass(frozen=True)
class Figure:
    """One measurement of a workload: its name, its unit, what it says, and which way is better."""

    name: str
    unit: str
    documentation: str
    higher_is_better: bool


@dataclass(frozen=True)
class Place:
    """Where a trial works: a folder of the study's own, and what may be done there.

    ``seed`` is the same for preparation and trial within a block, so that what was written can be
    verified when it is read back.
    """

    directory: Path
    seed: int


class Workload(Protocol):
    """A workload with its options, ready to be carried out in a place.

    The order is: prepare once per block, then for every trial reset and run, at last clean.
    """

    def space_bytes(self) -> int:
        """The largest room its files take."""

    def preparation(self) -> str:
        """What prepare makes, as a key: trials of a block with the same key share it."""

    def prepare(self, place: Place) -> None:
        """Make, unmeasured, what the trials need."""

    def reset(self, place: Place) -> None:
        """Undo, unmeasured and before every trial, what the one before has left."""

    def run(self, place: Place) -> Mapping[str, float]:
        """Carry it out once; figures by name. Raises WorkloadError, never a partial figure."""

    def clean(self, place: Place) -> None:
        """Remove every file that prepare and run have made."""


@dataclass(frozen=True)
class WorkloadDefinition:
    """A workload's name, options, figures and what it models.

    ``options`` is a frozen pydantic model whose field descriptions are the documentation;
    ``verdict_figure`` names the figure that verdicts use; ``reads`` tells that the page cache must
    be dropped before a trial; ``make`` turns validated options into the Workload.
    """

    name: str
    models: str
    leaves_out: str
    source: str
    options: type[BaseModel]
    figures: tuple[Figure, ...]
    verdict_figure: str
    reads: bool
    make: Callable[[Any], Workload]

    def figure(self, name: str) -> Figure:
        """The figure of that name; KeyError if there is none."""
        return {figure.name: figure for figure in self.figures}[name]


def as_written(options: BaseModel) -> dict[str, str]:
    """Options as a study file writes them: ``{"size": "256MiB", "direct": "true"}``."""
    written = options.model_dump(mode="json")
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in written.items()
    }
