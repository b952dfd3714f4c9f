"""Definition of a workload: the source of its schema, documentation, options and report."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)
from pydantic_core import CoreSchema

from iostudy import units
from iostudy.errors import WorkloadError
from iostudy.hadoop.client import Client
from iostudy.workloads.windows import SteadyRun

BYTES = "bytes"
"""The figure with the bytes moved on the target, from which foreign I/O is computed."""


class _OrText:
    """Says in a JSON Schema that a list may be written as a text with commas."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [handler(schema), {"type": "string"}]}


T = TypeVar("T")
N = TypeVar("N", int, float)


def at_most(limit: N, written: Callable[[N], str]) -> AfterValidator:
    """A bound that an error gives as a study file has it: ``at most 168h``."""

    def check(value: N) -> N:
        if value > limit:
            raise ValueError(f"out of range; allowed: at most {written(limit)}")
        return value

    return AfterValidator(check)


MAX_COUNT = 10**12
"""Largest count of rows, records or files: TeraSort's largest published run (100 TB)."""

MAX_SECONDS = 7 * 24 * 3600
"""Longest time in a trial: a week, in which every host changes."""

MAX_MEMORY_BYTES = 1 << 40
"""Largest memory of a workload's tables and buffers; few hosts have more."""

MAX_PAUSE_SECONDS = 3600
"""Longest uncounted time of a trial and longest pause: an hour."""

SIZE_FORM = WithJsonSchema({"type": ["number", "string"], "pattern": units.SIZE_PATTERN})
PERCENT_FORM = WithJsonSchema({"type": "string", "pattern": units.PERCENT_PATTERN})

Size = Annotated[
    int,
    BeforeValidator(units.parse_size),
    Field(gt=0),
    PlainSerializer(units.format_size, return_type=str, when_used="json"),
    SIZE_FORM,
]
"""Bytes, written in a study file and in reports as a size such as ``256MiB``."""

Count = Annotated[
    int,
    BeforeValidator(units.parse_count),
    Field(gt=0),
    at_most(MAX_COUNT, units.format_count),
    PlainSerializer(units.format_count, return_type=str, when_used="json"),
    WithJsonSchema({"type": ["number", "string"], "pattern": units.COUNT_PATTERN}),
]
"""A number, written in a study file as such or short: ``10M`` is ten million."""

Seconds = Annotated[
    float,
    BeforeValidator(units.parse_seconds),
    Field(ge=0),
    at_most(MAX_SECONDS, units.format_exact_seconds),
    PlainSerializer(units.format_exact_seconds, return_type=str, when_used="json"),
    WithJsonSchema({"anyOf": [{"const": 0}, {"type": "string", "pattern": units.SECONDS_PATTERN}]}),
]
"""A time in seconds, written in a study file with its unit: ``30s``, ``300ms``, ``40min``."""

Memory = Annotated[Size, at_most(MAX_MEMORY_BYTES, units.format_size)]
"""Bytes that a workload may take for itself."""

Pause = Annotated[Seconds, at_most(MAX_PAUSE_SECONDS, units.format_exact_seconds)]
"""A time in which a trial counts nothing."""


Percent = Annotated[
    float,
    BeforeValidator(units.parse_percent),
    Field(ge=0, le=1),
    PlainSerializer(units.format_exact_percent, return_type=str, when_used="json"),
    PERCENT_FORM,
]
"""A share from 0 to 1, written in a study file as a percentage such as ``30%``."""


_NUMBERS: Mapping[Any, str] = {
    int: "write a whole number",
    float: "write a number",
    int | None: "write a whole number",
    float | None: "write a number",
}


def _split(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return [item.strip() for item in value.split(",")] if value.strip() else []


def _joined(values: tuple[Any, ...]) -> str | list[str]:
    texts = [str(value) for value in values]
    is_text = any(texts) and not any("," in text for text in texts)
    return ", ".join(texts) if is_text else texts


TextList = Annotated[
    tuple[T, ...],
    BeforeValidator(_split),
    PlainSerializer(_joined, when_used="json"),
    _OrText(),
]
"""Several names or paths: a list, or a text with commas, which a factor can have as its level."""


class Options(BaseModel):
    """Base of all options: frozen, without unknown names."""

    # A schema is built when it is first used: those of all workloads take a fifth of a start.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_true_for_1(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse booleans for numbers, which pydantic would accept as 0 and 1."""
        field = cls.model_fields[str(info.field_name)]
        parsed = any(isinstance(each, BeforeValidator) for each in field.metadata)
        if isinstance(value, bool) and field.annotation in _NUMBERS and not parsed:
            raise ValueError(_NUMBERS[field.annotation])
        return value


@dataclass(frozen=True)
class Figure:
    """One measurement of a workload: name, unit, documentation, and the better direction."""

    name: str
    unit: str
    documentation: str
    higher_is_better: bool


@dataclass(frozen=True)
class SerialResource:
    """A resource of a workload that serves one operation at a time: a lock or a log.

    ``name`` describes it: "the tree", or how a log is written: "synced batch by batch". Its
    figures are shares in percent. The sum of ``waited`` is the share of their time for which
    operations waited. ``used`` is the share of the run in which it was busy, "" if unknown.
    ``stores`` says whether it writes to the workload's devices or is in memory only.
    """

    name: str
    waited: tuple[str, ...]
    used: str = ""
    stores: bool = False


Histogram = tuple[tuple[float, int], ...]
"""Latencies as (upper bound in microseconds, count), ascending, without empty buckets."""


@dataclass(frozen=True)
class Part:
    """Figures of a part of a run: one job of several, one cell of a matrix.

    ``labels`` say which part (``{"operation": "read", "record_size": "4KiB"}``), in the order in
    which they are shown; the figures are among the definition's ``part_figures``.
    """

    labels: Mapping[str, str]
    figures: Mapping[str, float]


def _nothing() -> None:
    return


@dataclass(frozen=True)
class Measurement:
    """The result of one run: figures by name, and their details.

    ``latencies`` are histograms by operation (``read``). ``notes`` report deviations from the
    request and what readers of the figures must know. ``departures`` make a trial incomparable
    with others, such as a log that was abandoned during the run. The caller calls ``verify``
    after the measured time, before any reset or cleaning. It compares the written data with the
    expected data and raises WorkloadError.
    """

    figures: Mapping[str, float]
    latencies: Mapping[str, Histogram] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()
    departures: tuple[str, ...] = ()
    verify: Callable[[], None] = _nothing


Tick = Callable[[int], bool]
"""Called several times a second with the bytes or operations done so far; False: stop now."""


def continue_run(_: int) -> bool:
    """The tick of a caller that waits until the end."""
    return True


@dataclass(frozen=True)
class Place:
    """The study's folder of a trial, and the conditions of its run.

    ``seed`` is the same for preparation and trial within a block, so that written data can be
    verified. ``tick`` is the caller's callback during the run. ``hadoop`` exists for workloads
    that require a cluster. ``disks`` maps the names of the study's further disks to their root
    folders.
    """

    directory: Path
    seed: int
    tick: Tick = continue_run
    hadoop: Client | None = None
    disks: Mapping[str, Path] = field(default_factory=dict)


class Workload(ABC):
    """A workload with its options, ready to be carried out in a place.

    The order is: check once per study; prepare once per block, then for every trial reset and run,
    at last clean. What a workload has no need of it leaves out.
    """

    @abstractmethod
    def space_bytes(self) -> int:
        """Return the largest space of its files on one disk of the study; 0 if unknown."""

    def expected_seconds(self, bytes_per_second: float) -> float | None:
        """Return the time of a trial on storage of that speed; None if unknown.

        By default its files are moved once.
        """
        return self.space_bytes() / bytes_per_second or None

    def reads(self) -> bool:
        """Whether a trial reads data written before it: the page cache is dropped then."""
        return False

    def disks(self) -> frozenset[str]:
        """Return the names of the further disks that it uses."""
        return frozenset()

    def directories(self) -> tuple[Path, ...]:
        """Return the user's directories outside of the target for files whose I/O is measured."""
        return ()

    def places(self, place: Place) -> tuple[Path, ...]:
        """Return a directory on each disk or mount of the files whose I/O is measured."""
        return (place.directory,)

    def check(self) -> None:
        """Refuse, before anything is changed, what this machine lacks; UsageError says what."""
        return

    def preparation(self) -> str:
        """Return the key of what prepare creates; trials of a block with the same key share it."""
        return ""

    def prepare(self, place: Place) -> None:
        """Make, unmeasured, what the trials need."""
        return

    def reset(self, place: Place) -> None:
        """Undo, unmeasured and before every trial, what the one before has left."""
        return

    @abstractmethod
    def run(self, place: Place) -> Measurement:
        """Run it once. Raises WorkloadError, never returns partial figures.

        WorkloadStoppedError if ``place.tick`` requested the stop.
        """

    def unsteady_reason(self) -> str:
        """Return why it has no steady state, in one sentence; "" if it has one."""
        return "it ends with its work"

    def steady_run(self, place: Place) -> SteadyRun:
        """Return a run in a prepared place that repeats until the tick of ``place`` ends it.

        It prepares what it needs beyond `prepare`. Raises WorkloadError, also for a workload
        without a steady state.
        """
        raise WorkloadError(
            "a workload with a steady state",
            found=self.unsteady_reason(),
            where=str(place.directory),
            remedy="compare whole trials (decide: {mode: trials})",
        )

    @abstractmethod
    def clean(self, place: Place) -> None:
        """Remove every file that prepare and run have made; also after a run that failed."""


@dataclass(frozen=True)
class WorkloadDefinition:
    """A workload's name, options, figures and what it models.

    ``options`` is a model of frozen Options whose field descriptions are the documentation;
    ``figures`` gives, for validated options, every figure of a run: verdicts use the first one
    unless the study names another. ``part_figures`` does the same for the parts of a run. The
    first sentence of ``models`` stands alone in the list of workloads.
    ``example`` are options of a run of a second or so; ``make`` turns validated options into the
    Workload. ``ticks_bytes`` says that the tick of a run gets the bytes moved since its start:
    they are known of a run that was stopped, too. ``needs_hadoop``: its place has a cluster.
    The product of ``concurrency_options`` is the largest number of requests in flight; where no
    product gives that, ``count_requests`` does. ``serial_resources`` are what its operations wait
    for within it, by which a diagnosis distinguishes a lock or a log from its devices.
    ``spins`` says whether threads of it are on a CPU while they wait: they poll the device, or
    what other threads do. ``measured_seconds`` is the figure that says how long it measured, where
    that may be little of a run: telemetry is of all of it.
    ``steady_when`` says in the documentation with which options it has a steady state; "": never.
    ``switchable_options`` may change during its `Workload.steady_run`, whose windows have the
    figures that ``window_figures`` names.
    ``decides`` are the properties of Hadoop's that it gives by its own options or never heeds, so
    that a study's levels of them would change nothing.
    """

    name: str
    models: str
    not_modelled: str
    source: str
    options: type[Options]
    figures: Callable[[Any], tuple[Figure, ...]]
    make: Callable[[Any], Workload]
    example: Mapping[str, Any]
    part_figures: Callable[[Any], tuple[Figure, ...]] = lambda _: ()
    concurrency_options: tuple[str, ...] = ()
    count_requests: Callable[[Any], int | None] = lambda _: None
    serial_resources: Callable[[Any], tuple[SerialResource, ...]] = lambda _: ()
    spins: Callable[[Any], bool] = lambda _: False
    measured_seconds: str = ""
    ticks_bytes: bool = False
    needs_hadoop: bool = False
    decides: frozenset[str] = frozenset()
    steady_when: str = ""
    switchable_options: frozenset[str] = frozenset()
    window_figures: Callable[[Any], tuple[str, ...]] = lambda _: ()

    @property
    def summary(self) -> str:
        """The first sentence of what it models."""
        return self.models.partition(". ")[0]

    def concurrency(self, options: BaseModel) -> int | None:
        """Return the largest number of concurrent requests; None if the options do not give it."""
        if not self.concurrency_options:
            return self.count_requests(options)
        return math.prod(int(getattr(options, name)) for name in self.concurrency_options)

    def uses_page_cache(self, options: BaseModel) -> bool:
        """Return whether it may use the page cache; other programs than iostudy's always may."""
        return not getattr(options, "direct", False)

    def figure(self, name: str, options: BaseModel) -> Figure:
        """Return the figure of that name; KeyError if there is none."""
        return {figure.name: figure for figure in self.figures(options)}[name]


def fixed_figures(*figures: Figure) -> Callable[[Any], tuple[Figure, ...]]:
    """Return a function that gives the same figures for all options."""
    return lambda _: figures
