"""The model of a study file: every key with its type, its default and its description."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    create_model,
)

from iostudy import plugins
from iostudy.core import registered
from iostudy.study import reference
from iostudy.study.combinations import Factor
from iostudy.study.declared_settings import Declarations
from iostudy.study.fields import SCALAR, Entries, OpenSection, Scalar, from_catalog, one_of, whole
from iostudy.study.model import Design, ServiceSpec, WorkloadRequest
from iostudy.study.problems import KeyPath, ProblemCollector
from iostudy.study.sections import (
    Decision,
    LoadLimit,
    PrepareSection,
    Refusal,
    TelemetrySection,
    Validity,
)
from iostudy.study.targets.section import TargetValue

SectionT = TypeVar("SectionT", bound=OpenSection)
MAX_SEED = 2**63 - 1
MAX_QUESTION = 1000
"""Characters, which stand at the top of each page of a report."""
MAX_WORKLOADS = 100
"""Each takes its share of the risk: with more, no verdict is reached in 1000 blocks."""
MAX_LOADS = 100
_LOAD = WithJsonSchema({"type": "string", "pattern": r"^(workload\.|fleet\.nodes$)"})
NAMED_VALUES = WithJsonSchema(
    {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": SCALAR}}
)

Question = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUESTION),
    AfterValidator(lambda text: " ".join(text.split())),
]
Factors = Annotated[Entries, from_catalog("factors")]
Loads = Annotated[list[Scalar], Field(min_length=2, max_length=MAX_LOADS)]
Published = Annotated[str, one_of("reference", reference.names())]


def _require_what_varies(schema: dict[str, Any]) -> None:
    """Add to a JSON Schema that factors are needed, or a key in their place."""
    keys = ("factors", *(name for name, key in keys_of(DesignKey).items() if key.factors_path))
    schema["oneOf"] = [{"required": [key]} for key in keys]


class WithoutRootSection(OpenSection):
    """Values that replace those of the same keys without root."""

    model_config = ConfigDict(json_schema_extra=_require_what_varies)

    factors: Factors = Field({}, examples=[{"workload.direct": [True, False]}])
    """What varies without root: workload options with their levels."""
    target: TargetValue | None = None
    """Where to work without root, such as a directory; by default the output folder, not a disk."""
    question: Question | None = None
    """The question that the study answers without root."""


class StudyFile(OpenSection):
    """A study file; its keys are the fields of this model, with what editors show of them."""

    model_config = ConfigDict(json_schema_extra=_require_what_varies)

    question: Question = Field(examples=["Does the I/O scheduler matter?"])
    """The question in a sentence; the report answers it."""
    target: TargetValue
    """Where to work: a directory, a disk made for the study ({loopback: {size: 2GiB}}), a device
    whose data may be destroyed ({scratch: {device: /dev/...}}), or hdfs://HOST/FOLDER."""
    factors: Factors = Field({}, examples=[{"block.scheduler": ["none", "bfq"]}])
    """What varies: names of settings and workload options with their levels; the first level of
    each is the baseline."""
    settings: Declarations = Field(
        {}, examples=[{"thp.defrag": {"attribute": "/sys/kernel/mm/transparent_hugepage/defrag"}}]
    )
    """Settings that iostudy does not know, by names for factors: a pair of commands (read and
    write), a key of a text file (file and key), or an attribute of /sys or /proc."""
    configurations: Annotated[Entries, NAMED_VALUES] = Field(
        {}, examples=[{"both": {"block.scheduler": "bfq", "workload.direct": True}}]
    )
    """The combinations of levels to run, by labels; every one by default."""
    baseline: Scalar | None = None
    """The label of the configuration that others are compared with; the first by default."""
    bounds: list[Scalar] = Field([], examples=[["no journal"]])
    """Labels of configurations that show what is possible, and are not for production."""
    workloads: list[Annotated[Any, from_catalog("workload")]] = Field(
        min_length=1,
        max_length=MAX_WORKLOADS,
        examples=[["io", {"io": {"label": "writes", "operation": "write"}}]],
    )
    """What is run: a list of workloads with their options."""
    load: dict[Annotated[Any, _LOAD], Loads] = Field(
        {},
        min_length=1,
        max_length=1,
        json_schema_extra={"additionalProperties": False},
        examples=[{"workload.jobs": [20, 40, 60, 80]}],
    )
    """An option of the workloads, with levels that make a curve, as {workload.jobs: [20, 40]}; or
    numbers of nodes that run each trial together, {fleet.nodes: [1, 2, 4]}."""
    decide: Decision = Decision()
    """What decides; fixed before the first trial."""
    validity: Validity = Validity()
    """When a trial does not count; fixed before the first trial."""
    telemetry: TelemetrySection = TelemetrySection()
    """How often the machine is sampled while a trial runs, and what is traced."""
    limit: LoadLimit = LoadLimit()
    """The most that each workload may ask of the device, for runs on a production host."""
    prepare: PrepareSection = PrepareSection()
    """What is done before every trial."""
    refused: Annotated[Refusal, one_of("way", Refusal)] = Refusal.STOP
    """What becomes of levels that the host refuses: the study stops, leaves out these levels, or
    (strict) every configuration with one."""
    without_root: WithoutRootSection | None = None
    """Values that replace those of the same keys without root."""
    sizes: dict[str, dict[str, Any]] = Field(
        {}, examples=[{"smoke": {"decide": {"blocks": [3, 3]}}}]
    )
    """Other sizes of the study by name: values that replace those above. NAME-SIZE.yaml, a file
    that does not exist, is the study of NAME.yaml in that size."""
    seed: Annotated[int, whole(0, MAX_SEED)] | None = None
    """A whole number that fixes the order of trials and the data; drawn by default."""
    reference: Published | None = None
    """Published figures that the report shows; no verdict rests on them."""


@dataclass(frozen=True)
class DesignKey:
    """A key of study files that chooses a design.

    - ``annotation``: the type of its value, which is None or the design itself if there is no
      ``parse``
    - ``factors_path``: the path of its parameters, if it stands in the place of factors
    - ``conflicts``: keys that do not go together with it
    - ``check``: notes what else does not go together with it
    - ``parse``: makes factors and the design of the section at a path
    - ``define``: JSON Schemas of what the type refers to, from the schemas of all levels
    """

    annotation: Any
    documentation: str
    factors_path: KeyPath = ()
    conflicts: tuple[str, ...] = ()
    check: Callable[[ProblemCollector, StudyFile], None] | None = None
    parse: (
        Callable[
            [ProblemCollector, KeyPath, Any, Sequence[WorkloadRequest]],
            tuple[tuple[Factor, ...], Design | None],
        ]
        | None
    ) = None
    define: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None


@dataclass(frozen=True)
class ServiceKey:
    """A key of study files with a service that workloads need.

    - ``annotation``: the type of its value, a `ServiceSpec`
    - ``default``: makes the service of a file without the key
    - ``define``: JSON Schemas of what the type refers to, from the schemas of all levels
    """

    annotation: Any
    documentation: str
    default: Callable[[], ServiceSpec]
    define: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None


@dataclass(frozen=True)
class CommandKey:
    """A key of study files for a command of a plugin.

    ``annotation`` is the type of its value, a `CommandSection` or None.
    """

    annotation: Any
    documentation: str


KeyT = TypeVar("KeyT", DesignKey, ServiceKey, CommandKey)


@cache
def plugin_keys() -> Mapping[str, DesignKey | ServiceKey | CommandKey]:
    """Return the keys of study files that plugins have."""
    groups = (plugin.sections.items() for plugin in registered())
    return {name: plugins.load(ref) for sections in groups for name, ref in sections}


def keys_of(kind: type[KeyT]) -> Mapping[str, KeyT]:
    """Return the keys of study files of one kind."""
    return {name: key for name, key in plugin_keys().items() if isinstance(key, kind)}


@cache
def services_type() -> type[OpenSection]:
    """Return the model of the services alone."""
    return create_model("Services", __base__=OpenSection, **_service_fields())


def _service_fields() -> dict[str, Any]:
    return {
        name: (key.annotation, Field(key.default(), description=key.documentation))
        for name, key in keys_of(ServiceKey).items()
    }


@cache
def study_file_type() -> type[StudyFile]:
    """Return the model with the keys of plugins, too."""
    keys = keys_of(DesignKey)
    inner = _extend(WithoutRootSection, {n: key for n, key in keys.items() if key.factors_path})
    text = StudyFile.model_fields["without_root"].description
    without_root = (inner | None, Field(None, description=text))
    return _extend(
        StudyFile, {**keys, **keys_of(CommandKey)}, without_root=without_root, **_service_fields()
    )


def _extend(
    model: type[SectionT], keys: Mapping[str, DesignKey | CommandKey], **fields: Any
) -> type[SectionT]:
    models: dict[str, Any] = {
        name: (key.annotation, Field(None, description=key.documentation))
        for name, key in keys.items()
    }
    return create_model(model.__name__, __base__=model, __doc__=model.__doc__, **models, **fields)
