"""``iostudy bench``: run one workload once, with telemetry."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from iostudy.cli.arguments import Json, UnsafeFolders, usage_error
from iostudy.cli.bench.json_output import build_document
from iostudy.cli.bench.view import print_result, print_screen, show_progress
from iostudy.cli.console import print_json, say
from iostudy.cli.watchdog import start_or_warn
from iostudy.cli.workloads import require_workload
from iostudy.diagnosis.bottleneck import Diagnosis
from iostudy.diagnosis.context import collect_operating_points
from iostudy.diagnosis.diagnose import diagnose
from iostudy.errors import StudyError, UsageError
from iostudy.node.conditions import Callbacks, Conditions, Permission
from iostudy.node.local import LocalNode
from iostudy.node.protocol import TrialResult
from iostudy.node.service import ServiceRequest, find_service
from iostudy.results.trial_contexts import build_run_context
from iostudy.study.combinations import Configuration
from iostudy.study.model import ServiceSpec, WorkloadRequest
from iostudy.study.names import UnknownNameError
from iostudy.study.plan import draw_seed
from iostudy.study.problems import ProblemCollector, format_reason
from iostudy.study.requests import build_request, list_directories
from iostudy.study.source import read
from iostudy.study.study_file import services_type
from iostudy.study.targets.directories import DirectoryTarget
from iostudy.study.targets.section import parse_target
from iostudy.study.targets.target import Target
from iostudy.workloads import catalog
from iostudy.workloads.definition import WorkloadDefinition
from iostudy.workloads.option_text import format_options


def bench(
    workload: Annotated[str, typer.Argument(help="One of `iostudy workloads`.")],
    target: Annotated[
        str,
        typer.Option(
            metavar="DIRECTORY|hdfs://...",
            help="Working directory. A Hadoop workload starts a cluster there, or runs in HDFS.",
        ),
    ] = ".",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "-o",
            metavar="KEY=VALUE",
            help="An option of the workload, as in a study file: -o size=1GiB, "
            "-o 'run=[ls, -l]', -o 'environment={LC_ALL: C}'.",
        ),
    ] = None,
    section: Annotated[
        str,
        typer.Option(
            metavar="SECTION",
            help="The cluster to start, as in a study file: 'hadoop: {datanodes: 3, yarn: true}'.",
        ),
    ] = "",
    block_latency: Annotated[
        bool,
        typer.Option(
            "--block-latency",
            help="Also print latencies and sizes of the disks' requests, from the kernel's "
            "tracepoints (root, tracefs). Tracing slows every request a little.",
        ),
    ] = False,
    unsafe_folders: UnsafeFolders = False,
    full: Annotated[bool, typer.Option("--full", help="Print every figure.")] = False,
    json: Json = False,
) -> None:
    """Run one workload once and print its figures.

    It compares nothing; `iostudy run` does.
    """
    definition = require_workload(workload)
    options = parse_options(definition, option or [])
    place = find_place(definition, target, section)
    if option:
        written = format_options(options, with_defaults=False)
        given = ", ".join(f"{name}={value}" for name, value in written.items())
        say(f"{workload}: {given or 'all defaults'}")
    trial_request = build_request(workload, options)
    permission = Permission(unsafe_folders=unsafe_folders)
    result, limited = _run_trial(trial_request, place, permission, block_latency=block_latency)
    if json:
        print_json(build_document(definition, options, result, limited).model_dump(mode="json"))
    elif full:
        print_result(definition, options, result, limited)
    else:
        print_screen(definition, options, result, limited)


def _run_trial(
    trial_request: WorkloadRequest,
    place: BenchPlace,
    permission: Permission,
    *,
    block_latency: bool,
) -> tuple[TrialResult, Diagnosis]:
    """Run one trial in a new folder at the place, with progress on a terminal, and diagnose it."""
    alone = Configuration("as it is", {}, {})
    conditions = Conditions(
        place.target,
        service=place.order,
        directories=list_directories([trial_request], [alone]),
        block_latency=block_latency,
    )
    with (
        show_progress(catalog.get(trial_request.name)) as tick,
        LocalNode(
            conditions, place.folder, permission, Callbacks(tick, on_journal=start_or_warn)
        ) as node,
    ):
        for error in node.preflight([trial_request], [alone]).values():
            raise error
        with node.block(trial_request, draw_seed()) as session:
            result = session.trial(alone)
        summary = result.telemetry.summary
        context = build_run_context(
            node.circumstances(),
            result.devices,
            trial_request.name,
            trial_request.options,
            collect_operating_points([summary]),
        )
        return result, diagnose(summary, context.add_run_figures(result.figures))


def parse_options(definition: WorkloadDefinition, given: Sequence[str]) -> BaseModel:
    """Parse the options of ``-o``; UsageError lists all problems.

    A list or mapping in YAML is parsed as such, unless the workload only accepts the text.
    """
    texts = dict(map(_split_assignment, given))
    parsed = {key: value for key, text in texts.items() if (value := _parse_yaml(text)) is not None}
    try:
        return definition.options.model_validate(texts | parsed)
    except ValidationError as error:
        as_text = {str(detail["loc"][0]) for detail in error.errors() if detail["loc"]}
        kept = {key: value for key, value in parsed.items() if key not in as_text}
        try:
            return definition.options.model_validate(texts | kept)
        except ValidationError:
            raise _invalid_options(definition, error) from error


def _split_assignment(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise usage_error("options as KEY=VALUE", f"{text} has no value", f"write -o {key}=VALUE")
    return key, value


def _parse_yaml(text: str) -> Any:
    """The list or mapping that a text is in YAML; None for any other."""
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        # Within a mapping, for the reader is one of whole files.
        return read(f"value: {text}", "the command line").values["value"]
    except StudyError:
        return None


def _invalid_options(definition: WorkloadDefinition, error: ValidationError) -> UsageError:
    fault = "; ".join(_describe_error(detail, definition) for detail in error.errors())
    allowed = ", ".join(definition.options.model_fields)
    remedy = f"the options are {allowed}; `iostudy workloads {definition.name}` describes them"
    return usage_error(f"options of {definition.name}", fault, remedy)


def _describe_error(detail: ErrorDetails, definition: WorkloadDefinition) -> str:
    key = ".".join(map(str, detail["loc"])) or "together"
    if detail["type"] != "extra_forbidden" or len(detail["loc"]) > 1:
        return f"{key}: {format_reason(detail)}"
    unknown = UnknownNameError("option", key, definition.options.model_fields)
    meant = f", did you mean {unknown.suggestion}?" if unknown.suggestion else ""
    return f"{key}: {unknown}{meant}"


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
        fault = "the target is one already" if in_hdfs else f"{definition.name} runs on none"
        raise usage_error("a cluster to start", fault, f"leave {_SECTION} out")
    spec = _parse_section(section, definition.service) if definition.service else None
    if not in_hdfs:
        folder = Path(target)
        storage = DirectoryTarget(folder)
        return BenchPlace(storage, folder, _request_service(definition, storage, spec))
    if not definition.service:
        remedy = (
            "name a directory, or one of Hadoop's own workloads; `iostudy workloads` lists them"
        )
        raise usage_error(
            f"{definition.name} on {target}", "it works on files of this host", remedy
        )
    try:
        far = parse_target(target)
    except ValueError as error:
        raise usage_error("a directory, or hdfs://HOST:PORT/FOLDER", target, str(error)) from error
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
