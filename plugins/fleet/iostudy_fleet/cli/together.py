"""Run of a study on all nodes of a fleet together, and its report."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from iostudy.cli.console import say
from iostudy.cli.progress import show_progress
from iostudy.cli.signals import EndedBySignal
from iostudy.cli.study_runner import print_existing_report, print_report
from iostudy.errors import IostudyError, TrialError
from iostudy.execution.session import StudySession, prepare_session, refuse_other_circumstances
from iostudy.folders import make_output_folder
from iostudy.ledger.store import FILE_NAME
from iostudy.ledger.studies import open_ledger
from iostudy.settings.transaction.locks import lock_output_folder
from iostudy.study.model import Study
from iostudy_fleet.cli.check import find_ready, require_enough
from iostudy_fleet.deployment.source import NodeSource
from iostudy_fleet.options import RunOptions
from iostudy_fleet.record import FleetRecord
from iostudy_fleet.together.run import TogetherFleet


def print_if_complete(study: Study, record: FleetRecord, folder: Path) -> bool:
    """Print the report again if no trial is left and no node is lost; return whether it is so.

    The check of a lost node restores what it has left.
    """
    if record.list_missing() or not (folder / FILE_NAME).exists():
        return False
    with open_ledger(folder) as ledger:
        root = ledger.study().root
    final = prepare_session(study, folder, root=root, resume=True).final_comparisons()
    if final is not None:
        print_existing_report(final, folder)
    return final is not None


def run_together(
    source: NodeSource,
    study: Study,
    record: FleetRecord,
    folder: Path,
    options: RunOptions,
    fewest: int,
    *,
    resume: bool,
    insist: bool,
) -> None:
    """Run the study on all nodes at once and print its report; TrialError if a node was lost.

    UsageError if ``fewest`` nodes are not ready.
    """
    ready = find_ready(source, study, record, resume=resume)
    require_enough(fewest, len(ready))
    root = all(node.facts is not None and node.facts.root for node in ready)
    has_begun = resume and (folder / FILE_NAME).exists()
    session = prepare_session(study.without_continuation(), folder, root=root, resume=has_begun)
    final = session.final_comparisons()
    if final is not None:
        print_existing_report(final, folder)
        for line in record.list_missing():
            say(line)
        return
    make_output_folder(folder, insist=insist)
    lost = _run_or_report(source.select([node.node for node in ready]), session, record, options)
    if lost:
        raise _incomplete(lost, folder)


def _run_or_report(
    source: NodeSource,
    session: StudySession,
    record: FleetRecord,
    options: RunOptions,
) -> list[str]:
    """Run the trials that are left and print the report, also after an error."""
    folder = session.folder
    try:
        lost = _run(source, session, record, options)
    except EndedBySignal:
        say(f"stopped on all nodes; resume with --resume --out {folder}")
        raise
    except IostudyError:
        if (folder / FILE_NAME).exists():
            with suppress(IostudyError):  # the error that ended the study takes precedence
                print_report(folder)
        raise
    print_report(folder)
    return lost


def _run(
    source: NodeSource,
    session: StudySession,
    record: FleetRecord,
    options: RunOptions,
) -> list[str]:
    """Run the trials that are left; return the nodes that were lost, and why.

    Lost are also nodes of the run that did not answer when it was resumed.
    """
    study, folder, lost = session.study, session.folder, list[str]()

    def note_lost(node: str, reason: str) -> None:
        lost.append(f"{node}: {reason}")
        say(f"{node} is lost: {reason}")

    def note_returned(node: str) -> None:
        say(f"{node} answers again, and takes part from this block on")

    with lock_output_folder(folder), source.connect() as client:
        record.require_unchanged(folder)
        record = record.lose_others(client.nodes)
        for name in record.list_others(client.nodes):
            note_lost(name, record.nodes[name].detail)
        fleet = TogetherFleet(
            client=client,
            order=options.build_order(record),
            folders=options.name_folders(record, client.nodes),
            out=folder,
            record=record,
            on_lost=note_lost,
            on_returned=note_returned,
            say=say,
            require_same=refuse_other_circumstances,
        )
        with show_progress() as listening, fleet.open(study.decide.margin) as node:
            session.execute(node, seed=None, listeners=[listening])
    return lost


def _incomplete(lost: list[str], folder: Path) -> TrialError:
    return TrialError(
        "all nodes until the end of the run",
        found="".join(f"\n    {line}" for line in lost),
        where=str(folder),
        remedy="look at these nodes; the report names the blocks without them, or the lost nodes "
        "of a load. If the answer has to hold for all, run the study again into another folder",
    )
