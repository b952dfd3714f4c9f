"""Cost of analysis and report of a study of 10,000 trials, and of each interim analysis.

    python -m benches.analysis

The study is made up (`tests.report.large`): eight configurations, five workloads, with settings,
two devices, latencies and a file of samples for each trial. Its report is made in a process of its
own, as by `iostudy run` at its end: ledger read, page, Markdown and JSON written, and all printed.
In the same round the same ledger is read and decoded by sqlite3 and json alone. Times
are of the CPU, as others may use it.
"""

from __future__ import annotations

import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from scipy import stats
from tests.report import large

from iostudy.analysis.sequential import plan_looks, spend_in_stages
from iostudy.ledger.rows import TrialRow
from iostudy.ledger.store import FILE_NAME
from iostudy.results.comparisons import InterimAnalysis, collect_figures
from iostudy.study.model import Study

ROUNDS = 3
BLOCKS = 250
GOAL_SECONDS, GOAL_MIB = 5.0, 500
SMALL_BLOCKS, GOAL_PAGE_MB = 50, 3.0
USUAL_BLOCKS, USUAL_WORKLOADS, GOAL_PAGE_SECONDS = 10, 2, 1.0
LOOK_BLOCKS, GOAL_LOOK_SECONDS = 200, 0.005
GOAL_BOUNDARY_SECONDS = 2.0
BOUNDARIES = ((5, 30, 0.05), (5, 250, 0.05 / 35), (10, 1000, 0.05 / 100), (5, 1000, 1e-5))
_REPORT = """
import resource, sys
from pathlib import Path
from iostudy.cli.report_output import print_terminal, write_report

print_terminal(write_report(Path(sys.argv[1])))
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr)
"""
_PAGE = """
import sys, time
from pathlib import Path
from iostudy.cli.report_output import read_report
from iostudy.report.render import html

began = time.process_time()
html.render(read_report(Path(sys.argv[1])))
print(time.process_time() - began, file=sys.stderr)
"""


def main() -> None:
    """Print a line for each figure, with its goal."""
    with tempfile.TemporaryDirectory() as folder:
        _report(Path(folder) / "large", BLOCKS)
        _report(Path(folder) / "small", SMALL_BLOCKS)
        _page(Path(folder) / "usual")
    _interim_analysis()
    for boundary in BOUNDARIES:
        _boundary(*boundary)


def _report(folder: Path, blocks: int) -> None:
    folder.mkdir()
    study = large.study(blocks)
    large.write(folder, study)
    rounds = [
        (report_in_child(folder), _seconds(lambda: _decode_ledger(folder))) for _ in range(ROUNDS)
    ]
    seconds = statistics.median(spent for (spent, _), _ in rounds)
    mib = max(peak for (_, peak), _ in rounds)
    ratio = statistics.median(spent / peer for (spent, _), peer in rounds)
    page_mb = (folder / "report.html").stat().st_size / 1e6
    trials = blocks * len(study.configurations()) * len(study.workloads)
    print(
        f"report of {trials} trials: {seconds:.2f} s of CPU, {mib:.0f} MiB, page {page_mb:.2f} MB"
    )
    print(f"  {ratio:.1f} times what sqlite3 and json take to read the same ledger")
    print(f"  goals: {GOAL_SECONDS:g} s and {GOAL_MIB} MiB for {40 * BLOCKS} trials, ", end="")
    print(f"a page of {GOAL_PAGE_MB:g} MB for {40 * SMALL_BLOCKS}", flush=True)


def _page(folder: Path) -> None:
    """Time the HTML page of a study of usual size, from its ledger, in new processes."""
    folder.mkdir()
    study = large.study(USUAL_BLOCKS, USUAL_WORKLOADS)
    large.write(folder, study)
    seconds = statistics.median(_figures_of_child(_PAGE, folder)[0] for _ in range(ROUNDS))
    trials = USUAL_BLOCKS * len(study.configurations()) * USUAL_WORKLOADS
    print(f"HTML page of {trials} trials: {seconds:.2f} s of CPU; ", end="")
    print(f"goal: under {GOAL_PAGE_SECONDS:g} s", flush=True)


def report_in_child(folder: Path) -> tuple[float, float]:
    """Seconds of CPU, and MiB at the most, of a process that makes the whole report."""
    seconds, mib = _figures_of_child(_REPORT, folder)
    return seconds, mib


def _figures_of_child(program: str, folder: Path) -> list[float]:
    """Return the numbers that a Python program prints to stderr about the study in ``folder``."""
    command = [sys.executable, "-c", program, str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(number) for number in done.stderr.split()]


def _decode_ledger(folder: Path) -> int:
    """Read and decode every row of the ledger."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        rows = connection.execute(
            "SELECT figures, settings, devices, seen, phases, latencies, parts FROM trial"
        )
        return sum(len([json.loads(text) for text in row if text]) for row in rows)


def _interim_analysis() -> None:
    """Where all comparisons stand, after one more block of a large study."""
    study = large.study(LOOK_BLOCKS)
    rows = list(large.rows(study))
    values = [list(blocks.values()) for blocks in collect_figures(study, rows).values()]
    ours = statistics.median(_time_interim_analysis(study, rows) for _ in range(ROUNDS))
    peer = _median(lambda: _t_tests(study, values))
    print(f"a look at {study.comparisons} comparisons after {LOOK_BLOCKS} blocks, ", end="")
    print(f"{len(rows)} trials: {_ms(ours)}; goal: under {_ms(GOAL_LOOK_SECONDS)}")
    print(f"  {ours / peer:.1f} times as many paired t tests by scipy", flush=True)


def _time_interim_analysis(study: Study, rows: Sequence[TrialRow]) -> float:
    """Seconds of CPU that a look takes when one more block has come to those looked at before."""
    looks = InterimAnalysis(study)
    looks.compare(rows[: -len(study.configurations())])
    return _seconds(lambda: looks.compare(rows))


def _t_tests(study: Study, values: Sequence[Sequence[float]]) -> None:
    for workload in range(len(study.workloads)):
        first = workload * len(study.configurations())
        for other in range(1, len(study.configurations())):
            stats.ttest_rel(values[first], values[first + other])


def _boundary(min_blocks: int, max_blocks: int, risk: float) -> None:
    looks = plan_looks(min_blocks, max_blocks)
    seconds = _median(lambda: _levels(looks, risk))
    line = f"boundary of {min_blocks} to {max_blocks} blocks at {risk:.2g}: {seconds:.2f} s"
    print(f"{line}; goal: under {GOAL_BOUNDARY_SECONDS:g} s", flush=True)


def _levels(looks: tuple[int, ...], risk: float) -> None:
    """The levels for difference and for equivalence, without the cache."""
    for level in (risk, 2 * risk):
        spend_in_stages.__wrapped__((looks,), (level,))


def _median(work: Callable[[], object]) -> float:
    return statistics.median(_seconds(work) for _ in range(ROUNDS))


def _seconds(work: Callable[[], object]) -> float:
    """Of the CPU."""
    began = time.process_time()
    work()
    return time.process_time() - began


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


if __name__ == "__main__":
    main()
