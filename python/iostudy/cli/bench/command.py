"""``iostudy bench``: run one workload once, with telemetry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from iostudy.cli.arguments import Json, UnsafeFolders
from iostudy.cli.bench.json_output import build_document
from iostudy.cli.bench.options import parse_options
from iostudy.cli.bench.place import BenchPlace, find_place
from iostudy.cli.bench.progress import show_progress
from iostudy.cli.bench.view import print_result, print_screen
from iostudy.cli.console import print_json, say
from iostudy.cli.watchdog import start_or_warn
from iostudy.cli.workloads import require_workload
from iostudy.diagnosis.bottleneck import Diagnosis
from iostudy.diagnosis.context import collect_operating_points
from iostudy.diagnosis.diagnose import diagnose
from iostudy.node.conditions import Callbacks, Conditions
from iostudy.node.local import LocalNode
from iostudy.node.permission import Permission
from iostudy.node.protocol import TrialResult
from iostudy.report.topics.diagnosis import build_trial_context
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.study.plan import draw_seed
from iostudy.study.requests import build_request, list_directories
from iostudy.workloads import catalog
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
        say(f"{workload}: {_describe(options)}")
    trial_request = build_request(workload, options)
    permission = Permission(unsafe_folders=unsafe_folders)
    result, limited = _run_trial(trial_request, place, permission, block_latency=block_latency)
    if json:
        print_json(build_document(definition, options, result, limited).model_dump(mode="json"))
    elif full:
        print_result(definition, options, result, limited)
    else:
        print_screen(definition, options, result, limited)


def _describe(options: BaseModel) -> str:
    """The options that differ from their defaults, as they were understood."""
    written = format_options(options, with_defaults=False)
    return ", ".join(f"{name}={value}" for name, value in written.items()) or "all defaults"


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
        return result, _diagnose(trial_request, result, node.circumstances())


def _diagnose(
    trial_request: WorkloadRequest, result: TrialResult, circumstances: Mapping[str, Any]
) -> Diagnosis:
    summary = result.telemetry.summary
    context = build_trial_context(
        circumstances,
        result.devices,
        trial_request.name,
        trial_request.options,
        collect_operating_points([summary]),
        result.figures,
    )
    return diagnose(summary, context)
