"""``iostudy bench``: one workload, once, with telemetry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from iostudy.cli.arguments import Json, UnsafeFolders
from iostudy.cli.bench.json_output import document
from iostudy.cli.bench.options import parse_options
from iostudy.cli.bench.place import BenchPlace, find_place
from iostudy.cli.bench.progress import ticking
from iostudy.cli.bench.view import show
from iostudy.cli.console import print_json
from iostudy.diagnosis.bottleneck import Diagnosis
from iostudy.diagnosis.context import shown
from iostudy.diagnosis.diagnose import diagnose
from iostudy.hadoop.spec import MAX_DATANODES, ClusterSpec
from iostudy.node.local import LocalNode
from iostudy.node.permission import Permission
from iostudy.node.protocol import TrialResult
from iostudy.report.ground import ground_of
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.study.names import known
from iostudy.study.plan import draw_seed
from iostudy.study.requests import directories, request
from iostudy.workloads import catalog


def bench(
    workload: Annotated[str, typer.Argument(help="One of `iostudy workloads`.")],
    target: Annotated[
        str,
        typer.Option(
            metavar="DIRECTORY|hdfs://...",
            help="The directory to work in. A workload of Hadoop's runs on a cluster that is "
            "started there, or in HDFS.",
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
    datanodes: Annotated[
        int, typer.Option(min=1, max=MAX_DATANODES, help="DataNodes of a cluster that is started.")
    ] = 1,
    yarn: Annotated[
        bool, typer.Option("--yarn", help="Run jobs in YARN, not in one process.")
    ] = False,
    block_latency: Annotated[
        bool,
        typer.Option(
            "--block-latency",
            help="Also tell how long the requests of the disks took and how large they were, from "
            "the kernel's tracepoints (root, tracefs). It costs a little time of every request.",
        ),
    ] = False,
    unsafe_folders: UnsafeFolders = False,
    json: Json = False,
) -> None:
    """Run one workload once and print its figures. It compares nothing."""
    see = "`iostudy workloads` lists them"
    known("workload", workload, catalog.names(), where="the command line", see=see)
    definition = catalog.get(workload)
    options = parse_options(definition, option or [])
    place = find_place(definition, target, ClusterSpec(datanodes=datanodes, yarn=yarn))
    asked = request(workload, options)
    permission = Permission(unsafe_folders=unsafe_folders)
    result, limited = _measured(asked, place, permission, block_latency=block_latency)
    if json:
        print_json(document(definition, options, result, limited).model_dump(mode="json"))
    else:
        show(definition, options, result, limited)


def _measured(
    asked: WorkloadRequest, place: BenchPlace, permission: Permission, *, block_latency: bool
) -> tuple[TrialResult, Diagnosis]:
    """One trial in a folder of its own in the place, with a sign of life on a terminal.

    With it what limited the trial.
    """
    alone = Configuration("as it is", {}, {})
    with (
        ticking(catalog.get(asked.name)) as tick,
        LocalNode(
            place.target,
            place.folder,
            order=place.order,
            tick=tick,
            directories=directories([asked], [alone]),
            block_latency=block_latency,
            permission=permission,
        ) as node,
    ):
        for error in node.preflight([asked], [alone]).values():
            raise error
        with node.block(asked, draw_seed()) as session:
            result = session.trial(alone)
        return result, _diagnosed(asked, result, node.circumstances())


def _diagnosed(
    asked: WorkloadRequest, result: TrialResult, circumstances: Mapping[str, Any]
) -> Diagnosis:
    seen = result.telemetry.seen
    shown_alone = shown([seen])
    ground = ground_of(
        circumstances, result.devices, asked.name, asked.options, shown_alone, result.figures
    )
    return diagnose(seen, ground)
