"""The section ``hadoop`` of a study file, and targets in HDFS."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path as File
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from iostudy.hadoop.conf.reserved import explain_reserved
from iostudy.hadoop.spec import DEFAULT_VERSION, MAX_DATANODES, VERSION, ClusterSpec, Properties
from iostudy.settings import catalog
from iostudy.settings.definitions.hadoop import PREFIX, HadoopDefinition
from iostudy.settings.values import AS_FOUND
from iostudy.study.labels import find_duplicates, scalar_text
from iostudy.study.names import UnknownNameError
from iostudy.study.problems import Path, ProblemCollector
from iostudy.study.sections import Section
from iostudy.study.targets import HdfsTarget

WAY: Path = ("hadoop",)
_PROPERTIES = "properties"
_LARGEST_PORT = (1 << 16) - 1


def _directories(value: Any) -> tuple[File, ...]:
    """Paths that Hadoop can have with commas between them, and in which it expands nothing."""
    texts = [scalar_text(each).strip() for each in (value if isinstance(value, list) else [value])]
    for text in texts:
        if not re.fullmatch(r"(/[\w.+=@-]+)+/*", text):
            raise ValueError(
                "directories are absolute paths of letters, digits and . _ + = @ - between slashes"
            )
    twice = find_duplicates(map(str, map(File, texts)))
    if twice:
        raise ValueError(f"{', '.join(twice)} stands twice")
    return tuple(map(File, texts))


def _version(value: Any) -> str:
    text = scalar_text(value)
    if not VERSION.fullmatch(text):
        raise ValueError(f"write a release of Hadoop, such as {DEFAULT_VERSION}")
    return text


_TEXT = {"type": "string"}
Directories = Annotated[
    tuple[File, ...],
    BeforeValidator(_directories),
    WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}),
]


class HadoopSection(Section):
    """The cluster that a study starts for its Hadoop workloads."""

    datanodes: Annotated[int, Field(ge=1, le=MAX_DATANODES)] = Field(1, description="DataNodes")
    data_dirs: Directories = Field(
        (), description="directories for blocks, dealt out to the DataNodes in turn"
    )
    name_dirs: Directories = Field(
        (), description="directories for the NameNode's journal and image, each a copy"
    )
    yarn: bool = Field(
        False, description="jobs run in containers of YARN, otherwise in one process"
    )
    version: Annotated[str | None, BeforeValidator(_version)] = Field(
        None, description="the release of Hadoop; that of HADOOP_HOME, or else 3.4.2"
    )
    properties: dict[str, Any] = Field(
        {}, description="what all daemons and jobs have, by Hadoop's own names"
    )

    def spec(self, properties: Properties) -> ClusterSpec:
        """The section as the study's value, with its properties as Hadoop takes them."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return ClusterSpec(**{**fields, _PROPERTIES: properties})


def parse_hadoop(collector: ProblemCollector, section: Any) -> ClusterSpec:
    """The cluster that the section asks for; what is wrong with it is noted, all at once."""
    valid = collector.model(WAY, HadoopSection, section)
    given = section.get(_PROPERTIES) if isinstance(section, Mapping) else None
    properties: dict[str, str] = {}
    for name, value in given.items() if isinstance(given, Mapping) else ():
        found = collector.attempt((*WAY, _PROPERTIES, name), partial(_property, str(name)), value)
        properties |= {} if found is None else {str(name): found}
    return ClusterSpec() if valid is None else valid.spec(properties)


def _definition(key: str) -> HadoopDefinition:
    """What is known of a property by Hadoop's own name; ValueError if a study may not give it."""
    reason = explain_reserved(key)
    if reason:
        raise ValueError(reason)
    try:
        definition = catalog.get(PREFIX + key)
    except KeyError:
        known = [name.removeprefix(PREFIX) for name in catalog.names() if name.startswith(PREFIX)]
        raise UnknownNameError("property of Hadoop's", key, known) from None
    assert isinstance(definition, HadoopDefinition)
    return definition


def _property(name: str, value: Any) -> str:
    parsed = _definition(name).parse(scalar_text(value))
    if parsed == AS_FOUND:
        raise ValueError("a cluster that is started here has nothing that is found; leave it out")
    return parsed


def hdfs_target(text: str) -> HdfsTarget:
    """A folder in HDFS; ValueError says what is wrong with its URI."""
    found = re.fullmatch(r"hdfs://([^/?#]*)/*([^?#]*)", text.strip())
    if found is None:
        raise ValueError("write hdfs://HOST:PORT/FOLDER, without a query or a fragment")
    authority, path = found[1], found[2].rstrip("/")
    _refuse_authority(authority)
    if not path:
        raise ValueError("name a folder in which the study may work, not all of HDFS")
    for part in re.split("/+", path):
        if part in (".", "..") or not re.fullmatch(r"[\w.+=@-]+", part):
            message = "a folder's path has letters, digits and . _ + = @ - between slashes"
            raise ValueError(f"{message}, and neither . nor ..")
    return HdfsTarget(f"hdfs://{authority}/{re.sub('/+', '/', path)}")


def _refuse_authority(authority: str) -> None:
    host, colon, port = authority.partition(":")
    right = re.fullmatch(r"([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?", host)
    numbered = re.fullmatch(r"\d{1,5}", port, re.ASCII) and 0 < int(port) <= _LARGEST_PORT
    if not right or (colon and not (host and numbered)):
        raise ValueError(
            f"{authority} is no HOST:PORT of a name-node and no name of a name service; leave it "
            "out for the cluster that HADOOP_CONF_DIR names"
        )
