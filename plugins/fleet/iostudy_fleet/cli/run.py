"""``iostudy fleet run``: run a study on every node, or on all nodes together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from iostudy.cli.arguments import Resume, StudyName, UnsafeFolders, Yes, parse_positive_time_option
from iostudy.cli.console import say
from iostudy.cli.output_folder import RESULTS, load_study
from iostudy.cli.signals import EndedBySignal
from iostudy.errors import TrialError, UsageError
from iostudy.folders import make_output_folder, require_safe_folder
from iostudy.settings.transaction.locks import lock_output_folder
from iostudy.study.mode import find_mode
from iostudy.study.model import Study
from iostudy_fleet.cli.check import find_ready, require_enough
from iostudy_fleet.cli.options import Inventory, Limit, Nodes, Python, Sudo, find_nodes
from iostudy_fleet.cli.report import FleetFormat, pool_studies, print_fleet_report, write_fleet_page
from iostudy_fleet.design import Design
from iostudy_fleet.study.check import require_together
from iostudy_fleet.study.section import find_nodes_of

if TYPE_CHECKING:
    from iostudy_fleet.deployment.source import NodeSource
    from iostudy_fleet.options import RunOptions
    from iostudy_fleet.record import FleetRecord
    from iostudy_fleet.replicate.controller import States

_WORK = Path("/var/tmp")
_FEWEST = 2
"""Nodes of a report, of a joint trial, and of joint trials that are resumed without some."""


def run(
    study: StudyName,
    out: Annotated[
        Path | None, typer.Option(help="Output folder.", show_default="results/NAME-fleet")
    ] = None,
    nodes: Nodes = None,
    inventory: Inventory = None,
    limit: Limit = None,
    python: Python = None,
    sudo: Sudo = False,
    lease: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Without heartbeats for this time, a node stops its study and restores its "
            "settings, and the controller reports it as lost.",
        ),
    ] = "60s",
    work: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder on the nodes for the study and its results; --resume keeps the first one.",
            show_default=str(_WORK),
        ),
    ] = None,
    design: Annotated[
        Design,
        typer.Option(
            help="Each node runs the study on its own storage, or all run each trial at once on "
            "storage that they share."
        ),
    ] = Design.REPLICATE,
    resume: Resume = False,
    yes: Yes = False,
    unsafe_folders: UnsafeFolders = False,
) -> None:
    """Run a study on every node; print a report on all of them.

    The output folder gets nodes.json, and a folder for each node or one ledger of all. A node that
    is lost does not stop the others.
    """
    loaded = load_study(study)
    _refuse_unpoolable(loaded, yes=yes)
    fewest = _find_fewest(loaded, design, resume=resume)
    seconds = parse_positive_time_option("--lease", lease, "60s")
    _require_absolute(work)
    chosen = find_nodes(
        find_nodes_of(loaded),
        nodes=nodes,
        inventory=inventory,
        limit=limit,
        python=python,
        sudo=sudo,
    )
    from iostudy_fleet.cli.together import print_if_complete, run_together
    from iostudy_fleet.deployment.source import open_source
    from iostudy_fleet.options import RunOptions
    from iostudy_fleet.record import prepare_record

    require_enough(fewest, chosen.number)
    folder = out or RESULTS / f"{loaded.name}-fleet"
    require_safe_folder(folder, insist=unsafe_folders)
    record = prepare_record(folder, loaded.name, loaded.text, design, resume=resume)
    if resume and design is Design.TOGETHER and print_if_complete(loaded, record, folder):
        return
    if work is not None and record.nodes:
        say(f"--work {work} is only for new nodes: {', '.join(record.nodes)} keep their folders")
    options = RunOptions(seconds, work or _WORK, ("--yes",) if yes else ())
    with open_source(chosen, record.list_remaining() if resume else None, say) as source:
        if design is Design.TOGETHER:
            run_together(
                source,
                loaded,
                record,
                folder,
                options,
                fewest,
                resume=resume,
                insist=unsafe_folders,
            )
            return
        record = _run_each(
            source, loaded, record, folder, options, fewest, resume=resume, insist=unsafe_folders
        )
    _conclude(record, folder)


def _run_each(
    source: NodeSource,
    study: Study,
    record: FleetRecord,
    folder: Path,
    options: RunOptions,
    fewest: int,
    *,
    resume: bool,
    insist: bool,
) -> FleetRecord:
    """Run the study on every node that is ready; return the record.

    UsageError if ``fewest`` nodes of a new run are not ready.
    """
    from iostudy_fleet.replicate.run import run_fleet

    ready = find_ready(source, study, record, resume=resume)
    if not record.nodes:
        require_enough(fewest, len(ready))
    if not ready:
        return record.clear_unrestored()
    make_output_folder(folder, insist=insist)
    chosen = source.select([node.node for node in ready])
    with lock_output_folder(folder):
        record.require_unchanged(folder)
        try:
            return run_fleet(chosen, record, folder, options, _say_change, say)
        except EndedBySignal:
            say(f"stopped; resume with --resume --out {folder}")
            raise


def _require_absolute(work: Path | None) -> None:
    if work is not None and not work.is_absolute():
        raise UsageError(
            "an absolute path: nodes have other working directories than this command",
            found=str(work),
            where="--work",
            remedy="write the whole path of the folder on the nodes, such as /var/tmp",
        )


def _find_fewest(study: Study, design: Design, *, resume: bool) -> int:
    """The fewest nodes that the study needs; UsageError if it does not go with the design."""
    match design:
        case Design.REPLICATE:
            study.require_one_host()
            return 1
        case Design.TOGETHER:
            require_together(study)
            return _FEWEST if resume else max(_FEWEST, study.most_nodes or 0)
        case unreachable:
            assert_never(unreachable)


def _refuse_unpoolable(study: Study, *, yes: bool) -> None:
    """UsageError if a fleet report cannot pool the results, or if --yes is missing."""
    mode = find_mode(study)
    kinds = {
        str(mode): not mode.compares_configurations,
        "a simulated study": study.target.predicts,
    }
    for kind, is_one in kinds.items():
        if is_one:
            raise UsageError(
                "a study that compares configurations on hosts",
                found=kind,
                where=study.name,
                remedy="run it on one node, and the comparison of its result on all",
            )
    devices = study.target.destroyed
    if devices and not yes:
        raise UsageError(
            "consent to destroy all data on the scratch device of every node",
            found=f"no --yes for {', '.join(map(str, devices))}",
            where=study.name,
            remedy="look at the device on every node, for a name can mean another disk on each; "
            "then give --yes",
        )


def _say_change(states: States, changed: str) -> None:
    """A line for the node that has changed, and how many nodes are in each phase."""
    state = states[changed]
    counts = Counter(other.phase.value for other in states.values())
    summary = ", ".join(f"{count} {phase}" for phase, count in counts.items())
    detail = f": {state.detail}" if state.detail and not state.phase.is_active else ""
    say(f"{changed} is {state.phase.value}{detail}; {summary}")


def _conclude(record: FleetRecord, folder: Path) -> None:
    """Print the report on all nodes with results; TrialError if the study is incomplete."""
    results, missing = record.list_results(folder), record.list_missing()
    if len(results) >= _FEWEST:
        report = pool_studies(results, missing)
        print_fleet_report(report, FleetFormat.TERMINAL)
        say(f"{write_fleet_page(report, folder)} has charts, and links to the nodes' own reports")
    record.require_restored()
    if missing:
        raise _incomplete(missing, folder)


def _incomplete(missing: Sequence[str], folder: Path) -> TrialError:
    return TrialError(
        "the complete study of every node",
        found="".join(f"\n    {line}" for line in missing),
        where=str(folder),
        remedy="`iostudy fleet run` with --resume continues on these nodes",
    )
