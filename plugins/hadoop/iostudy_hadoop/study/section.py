"""The section ``hadoop`` of a study file: the cluster that a study starts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, WithJsonSchema

from iostudy.settings import catalog
from iostudy.settings.values import AS_FOUND
from iostudy.study.fields import SCALAR, StudySection, from_catalog, parse_entries
from iostudy.study.names import UnknownNameError, find_duplicates, scalar_text
from iostudy.study.study_file import ServiceKey
from iostudy_hadoop.conf.reserved import explain_reserved
from iostudy_hadoop.properties.definition import HadoopDefinition
from iostudy_hadoop.spec import DEFAULT_VERSION, MAX_DATANODES, PREFIX, VERSION, ClusterSpec


def _directories(value: Any) -> tuple[Path, ...]:
    """Paths that Hadoop can have with commas between them, and in which it expands nothing."""
    texts = [scalar_text(item).strip() for item in (value if isinstance(value, list) else [value])]
    for text in texts:
        if not re.fullmatch(r"(/[\w.+=@-]+)+/*", text):
            raise ValueError(
                "directories are absolute paths of letters, digits and . _ + = @ - between slashes"
            )
    twice = find_duplicates(map(str, map(Path, texts)))
    if twice:
        raise ValueError(f"{', '.join(twice)} is listed twice")
    return tuple(map(Path, texts))


def _version(value: Any) -> str:
    text = scalar_text(value)
    if not VERSION.fullmatch(text):
        raise ValueError(f"write a release of Hadoop, such as {DEFAULT_VERSION}")
    return text


def _definition(key: str) -> HadoopDefinition:
    """What is known of a property by Hadoop's own name; ValueError if a study may not give it."""
    reason = explain_reserved(key)
    if reason:
        raise ValueError(reason)
    try:
        definition = catalog.get(PREFIX + key)
    except KeyError:
        names = [name.removeprefix(PREFIX) for name in catalog.names() if name.startswith(PREFIX)]
        raise UnknownNameError("property of Hadoop's", key, names) from None
    assert isinstance(definition, HadoopDefinition)
    return definition


def _property(name: str, value: Any) -> str:
    parsed = _definition(name).parse(scalar_text(value))
    if parsed == AS_FOUND:
        raise ValueError("as-found has no meaning for a cluster that iostudy starts; leave it out")
    return parsed


_TEXT = {"type": "string"}
Directories = Annotated[
    tuple[Path, ...],
    BeforeValidator(_directories),
    WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}),
]
HadoopProperties = Annotated[
    dict[str, Any], AfterValidator(partial(parse_entries, _property)), from_catalog("properties")
]


class HadoopSection(StudySection):
    """The cluster that a study starts for its Hadoop workloads."""

    datanodes: Annotated[int, Field(ge=1, le=MAX_DATANODES)] = 1
    """DataNodes"""
    data_dirs: Directories = ()
    """directories for blocks, dealt out to the DataNodes in turn"""
    name_dirs: Directories = ()
    """directories for the NameNode's journal and image, each a copy"""
    yarn: bool = False
    """jobs run in containers of YARN, otherwise in one process"""
    version: Annotated[str | None, BeforeValidator(_version)] = None
    """the release of Hadoop; that of HADOOP_HOME, or else 3.4.2"""
    properties: HadoopProperties = Field(default_factory=dict)
    """what all daemons and jobs have, by Hadoop's own names"""

    def spec(self) -> ClusterSpec:
        """The section as the study's value."""
        return ClusterSpec(**{name: getattr(self, name) for name in type(self).model_fields})


ClusterValue = Annotated[
    ClusterSpec,
    PlainValidator(
        lambda value: HadoopSection.model_validate(value).spec(),
        json_schema_input_type=HadoopSection,
    ),
]
"""A cluster in a study file."""


def _define_properties(levels: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the JSON Schema of Hadoop's properties by their own names."""
    named = {
        name.removeprefix(PREFIX): {"$ref": f"#/$defs/level.{name}"}
        for name in levels
        if name.startswith(PREFIX)
    }
    schema = {"type": "object", "properties": named, "additionalProperties": SCALAR}
    return {"properties": schema}


KEY = ServiceKey(
    ClusterValue,
    "The cluster that Hadoop workloads run on; one of a DataNode by default.",
    ClusterSpec,
    _define_properties,
)
