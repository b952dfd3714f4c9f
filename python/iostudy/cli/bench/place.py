"""Place where ``bench`` runs a workload: a directory, a cluster in it, or HDFS."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from iostudy.cli.console import say
from iostudy.errors import UsageError
from iostudy.node.service import ServiceRequest, find_service
from iostudy.study.problems import ProblemCollector
from iostudy.study.service_spec import ServiceSpec
from iostudy.study.source import read
from iostudy.study.study_file import services_type
from iostudy.study.targets.directory import DirectoryTarget
from iostudy.study.targets.section import parse_target
from iostudy.study.targets.target import Target
from iostudy.workloads.definition import WorkloadDefinition

_SECTION = "--section"


@dataclass(frozen=True)
class BenchPlace:
    """A target, a directory of this machine to work in, and the service that is needed, if any."""

    target: Target
    folder: Path
    order: ServiceRequest | None


def find_place(definition: WorkloadDefinition, target: str, section: str) -> BenchPlace:
    """Interpret ``--target`` for a workload; UsageError if it cannot work there.

    ``section`` has the service that is started where one is needed and the target is none, as a
    study file has it; StudyError for what is wrong with it.
    """
    in_hdfs = "://" in target
    if section and (in_hdfs or not definition.service):
        found = "the target is one already" if in_hdfs else f"{definition.name} runs on none"
        raise _usage_error("a cluster to start", found, f"leave {_SECTION} out")
    spec = _parse_section(section, definition.service) if definition.service else None
    if not in_hdfs:
        folder = Path(target)
        own = DirectoryTarget(folder)
        return BenchPlace(own, folder, _request_service(definition, own, spec))
    if not definition.service:
        remedy = (
            "name a directory, or one of Hadoop's own workloads; `iostudy workloads` lists them"
        )
        raise _usage_error(
            f"{definition.name} on {target}", "it works on files of this host", remedy
        )
    far = _parse_hdfs(target)
    return BenchPlace(far, Path(tempfile.gettempdir()), _request_service(definition, far, spec))


def _request_service(
    definition: WorkloadDefinition, target: Target, spec: ServiceSpec | None
) -> ServiceRequest | None:
    if spec is None:
        return None
    return find_service(definition.service).build_request(target, spec, (), on_progress=say)


def _parse_section(text: str, service: str) -> ServiceSpec:
    """Return the service of that name; its default if the text has none."""
    collector = ProblemCollector(read(text or "{}", _SECTION), _SECTION)
    parsed = collector.open_section((), services_type(), collector.source.values)
    collector.finish()
    spec: ServiceSpec = getattr(parsed, service)
    return spec


def _parse_hdfs(text: str) -> Target:
    try:
        return parse_target(text)
    except ValueError as error:
        raise _usage_error("a directory, or hdfs://HOST:PORT/FOLDER", text, str(error)) from error


def _usage_error(wanted: str, found: str, remedy: str) -> UsageError:
    return UsageError(wanted, found=found, where="the command line", remedy=remedy)
