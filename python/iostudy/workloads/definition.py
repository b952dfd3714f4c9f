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
from iostudy.hadoop.client import Client
from iostudy.workloads.windows import SteadyRun

BYTES = "bytes"
"""The figure by which a workload tells what it moved on the target; foreign I/O is judged by it."""


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
"""Of rows, records and files: TeraSort's largest published run has so many rows (100 TB)."""

MAX_SECONDS = 7 * 24 * 3600
"""Of a time in a trial: a week, in which no host stays as it was."""

MAX_MEMORY_BYTES = 1 << 40
"""Of a workload's own tables and buffers; few hosts have more."""

MAX_PAUSE_SECONDS = 3600
"""Of what a trial spends without counting, and of one pause: an hour, at each trial or record."""

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
    """What the options of a workload have in common: they are fixed, and none is unknown."""

    # A schema is built when it is first used: those of all workloads take a fifth of a start.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_true_for_1(cls, value: Any, info: ValidationInfo) -> Any:
        """Pydantic takes true for 1, which nobody means who writes it for a number."""
        field = cls.model_fields[str(info.field_name)]
        parsed = any(isinstance(each, BeforeValidator) for each in field.metadata)
        if isinstance(value, bool) and field.annotation in _NUMBERS and not parsed:
            raise ValueError(_NUMBERS[field.annotation])
        return value


@dataclass(frozen=True)
class Figure:
    """One measurement of a workload: its name, its unit, what it says, and which way is better."""

    name: str
    unit: str
    documentation: str
    higher_is_better: bool


@dataclass(frozen=True)
class SerialResource:
    """What a workload has that serves its operations one after the other: a lock, or its log.

    ``name`` is it in words: "the tree", or of a log how it is written: "synced batch by batch".
    Its figures are shares in percent: those of ``waited`` say together for how much of their time
    the operations waited for it, ``used`` for how much of the run it was at work, "" where none
    does. It ``stores`` what it is given on the workload's devices; else it is in memory alone.
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
    """What one run gives: figures by name, and what stands behind them.

    ``latencies`` are histograms by operation (``read``); ``notes`` tell what the run did otherwise
    than asked, or what a reader of its figures must know. ``departures`` are what of it a trial of
    a study is not to be compared with others for, as a log that was given up in mid-run. Whoever
    lets it run calls ``verify`` after the measured time and before anything is reset or cleaned: it
    compares what was written with what should have been, and raises WorkloadError.
    """

    figures: Mapping[str, float]
    latencies: Mapping[str, Histogram] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()
    departures: tuple[str, ...] = ()
    verify: Callable[[], None] = _nothing


Tick = Callable[[int], bool]
"""Told several times a second what is done so far, in bytes or operations; False: stop now."""


def continue_run(_: int) -> bool:
    """The tick of whoever waits to the end."""
    return True


@dataclass(frozen=True)
class Place:
    """Where a trial works: a folder of the study's own, and what may be done there.

    ``seed`` is the same for preparation and trial within a block, so that what was written can be
    verified when it is read back. ``tick`` belongs to whoever waits for the run. ``hadoop`` is
    there for the workloads whose definition says that they need a cluster. ``disks`` are those
    that the study has made beside the one the folder is on, by name: the root of each.
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
        """The largest room its files take on one disk of the study; 0 where nobody can tell."""

    def expected_seconds(self, bytes_per_second: float) -> float | None:
        """How long a trial takes on storage of that speed; None where nobody can tell.

        Unless something else is said, its files are moved once.
        """
        return self.space_bytes() / bytes_per_second or None

    def reads(self) -> bool:
        """Whether a trial reads what was written before it: the page cache is dropped then."""
        return False

    def disks(self) -> frozenset[str]:
        """The disks beside the target's that it works on, by the names the study gives them."""
        return frozenset()

    def directories(self) -> tuple[Path, ...]:
        """Directories beside the target, named by the user, for files whose I/O is measured."""
        return ()

    def places(self, place: Place) -> tuple[Path, ...]:
        """A directory on each disk or mount that files whose I/O is measured lie on."""
        return (place.directory,)

    def check(self) -> None:
        """Refuse, before anything is changed, what this machine lacks; UsageError says what."""
        return

    def preparation(self) -> str:
        """What prepare makes, as a key: trials of a block with the same key share it."""
        return ""

    def prepare(self, place: Place) -> None:
        """Make, unmeasured, what the trials need."""
        return

    def reset(self, place: Place) -> None:
        """Undo, unmeasured and before every trial, what the one before has left."""
        return

    @abstractmethod
    def run(self, place: Place) -> Measurement:
        """Carry it out once. Raises WorkloadError, never a partial figure.

        WorkloadStoppedError if ``place.tick`` asked for that.
        """

    def unsteady_reason(self) -> str:
        """Why it has no steady state, in one sentence; "" where it has one."""
        return "it ends with its work"

    def steady_run(self, place: Place) -> SteadyRun:
        """A run in a prepared place that repeats itself until the tick of ``place`` ends it.

        Only for a workload without an `unsteady_reason`; it makes what it needs beyond `prepare`,
        and raises WorkloadError.
        """
        raise NotImplementedError(self.unsteady_reason())

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
    Workload. ``ticks_bytes`` says that the tick of a run is told the bytes moved since its start:
    they are known of a run that was stopped, too. ``needs_hadoop``: its place has a cluster.
    ``at_once`` names the options whose product is how many requests a run has under way at most;
    where no product tells that, ``requests_at_once`` does. ``one_by_one`` is what its operations
    wait for within it, by which a diagnosis tells a lock or a log from its devices.
    ``spins`` tells whether threads of it are on a CPU while they wait: they poll the device, or
    what other threads do. ``measured_seconds`` is the figure that tells how long it measured, where
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
        """How many requests a run has under way at most; None where its options do not tell."""
        if not self.concurrency_options:
            return self.count_requests(options)
        return math.prod(int(getattr(options, name)) for name in self.concurrency_options)

    def figure(self, name: str, options: BaseModel) -> Figure:
        """The figure of that name; KeyError if there is none."""
        return {figure.name: figure for figure in self.figures(options)}[name]


def fixed_figures(*figures: Figure) -> Callable[[Any], tuple[Figure, ...]]:
    """The same figures whatever the options are."""
    return lambda _: figures
