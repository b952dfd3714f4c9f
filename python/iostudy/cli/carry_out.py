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
from iostudy.node.local import LocalNode


def carry_out(assignment: Assignment, *, root: bool, seed: int | None) -> set[str]:
    """Run the study and print its report; the verdicts that it came to.

    A study that fails still gets its report, of what was finished before, where that can be
    written.
    """
    folder = assignment.folder
    try:
        with (
            listener() as listening,
            LocalNode(assignment.study.target, folder, assignment.study.factors) as node,
        ):
            final = assignment.carry_out(node, root=root, seed=seed, listeners=[listening])
    except IostudyError:
        if (folder / FILE_NAME).exists():
            with suppress(IostudyError):  # the one that ended the study is the one to tell
                write_report(folder)
        raise
    return _tell(final, folder)


def tell_again(final: Sequence[Standing], folder: Path) -> set[str]:
    """Write and print the report of a study that has nothing left to run; its verdicts."""
    say(f"nothing is left to run of the study in {folder}; this is its report")
    return _tell(final, folder)


def _tell(final: Sequence[Standing], folder: Path) -> set[str]:
    print_summary(write_report(folder))
    again = shlex.join(["iostudy", "report", str(folder)])
    say(f"report: {folder / 'report.html'}; `{again}` prints all of it")
    return {standing.comparison.verdict.value for standing in final}
