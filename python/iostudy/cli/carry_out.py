"""What ``run`` does once its arguments are settled: progress while it goes, then the report."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from iostudy.cli.console import say
from iostudy.cli.progress import listener
from iostudy.cli.tell import print_summary, write_report
from iostudy.conduct.session import Assignment
from iostudy.conduct.standing import Standing
from iostudy.errors import IostudyError
from iostudy.ledger.store import FILE_NAME
from iostudy.node.clusters import ClusterOrder
from iostudy.node.local import LocalNode
from iostudy.node.orders import ordered
from iostudy.study.model import Study

LOGS = "hadoop"
"""Where in the output folder a cluster of the study's own keeps its logs."""


def carry_out(assignment: Assignment, *, root: bool, seed: int | None) -> set[str]:
    """Run the study and print its report; the verdicts that it came to.

    A study that fails still gets its report, of what was finished before, where that can be
    written.
    """
    folder, study = assignment.folder, assignment.study
    try:
        with (
            listener() as listening,
            LocalNode(study.target, folder, study.factors, _order(study, folder)) as node,
        ):
            final = assignment.carry_out(node, root=root, seed=seed, listeners=[listening])
    except IostudyError:
        if (folder / FILE_NAME).exists():
            with suppress(IostudyError):  # the one that ended the study is the one to tell
                write_report(folder)
        raise
    return _tell(final, folder)


def _order(study: Study, folder: Path) -> ClusterOrder | None:
    """The cluster that a workload of the study needs, with its logs in the output folder."""
    if not study.needs_hadoop:
        return None
    return ordered(study.target, study.hadoop, logs=folder / LOGS, tell=say)


def tell_again(final: Sequence[Standing], folder: Path) -> set[str]:
    """Write and print the report of a study that has nothing left to run; its verdicts."""
    say(f"nothing is left to run of the study in {folder}; this is its report")
    return _tell(final, folder)


def _tell(final: Sequence[Standing], folder: Path) -> set[str]:
    print_summary(write_report(folder))
    again = shlex.join(["iostudy", "report", str(folder)])
    say(f"report: {folder / 'report.html'}; `{again}` prints all of it")
    return {standing.comparison.verdict.value for standing in final}
