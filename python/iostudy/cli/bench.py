"""``iostudy bench``: one workload, once, with telemetry."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from iostudy.cli.bench_options import parse_options
from iostudy.cli.bench_progress import ticking
from iostudy.cli.bench_told import as_json, show
from iostudy.cli.console import print_json
from iostudy.node.local import LocalNode
from iostudy.node.protocol import TrialResult
from iostudy.study.model import Configuration, WorkloadRequest
from iostudy.study.names import known
from iostudy.study.plan import draw_seed
from iostudy.study.requests import request
from iostudy.study.targets import DirectoryTarget
from iostudy.workloads import catalog


def bench(
    workload: Annotated[str, typer.Argument(help="One of `iostudy workloads`.")],
    target: Annotated[Path, typer.Option(help="The directory to work in.")] = Path(),
    option: Annotated[
        list[str] | None,
        typer.Option(
            "-o",
            metavar="KEY=VALUE",
            help="An option of the workload, as in a study file: -o size=1GiB, "
            "-o 'run=[ls, -l]', -o 'environment={LC_ALL: C}'.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Run one workload once in a directory and print its figures. It compares nothing."""
    see = "`iostudy workloads` lists them"
    known("workload", workload, catalog.names(), where="the command line", see=see)
    definition = catalog.get(workload)
    options = parse_options(definition, option or [])
    result = _measured(request(workload, options), target)
    if json:
        print_json(as_json(definition, options, result))
    else:
        show(definition, options, result)


def _measured(asked: WorkloadRequest, target: Path) -> TrialResult:
    """One trial in a folder of its own in the target, with a sign of life on a terminal."""
    alone = Configuration("as it is", {}, {})
    with (
        ticking(catalog.get(asked.name)) as tick,
        LocalNode(DirectoryTarget(target), target, tick=tick) as node,
    ):
        refused = node.preflight([asked], [alone])
        assert not refused, "nothing is changed, so nothing can be refused"
        with node.block(asked, draw_seed()) as session:
            return session.trial(alone)
