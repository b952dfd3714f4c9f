"""CSV of runs for tools that look for change points: a row for each run and verdict figure."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

from iostudy.ledger.rows import TrialStatus
from iostudy.report.topics.verdicts import list_verdicts
from iostudy.report.values import Report

COLUMNS = ("time", "block", "configuration", "workload", "figure", "value", "unit", "flags")


def render(report: Report) -> str:
    """Render RFC 4180, but for line ends, which are those of Unix.

    Times are ISO 8601 in UTC. Values have all digits, and are empty where a run has none.
    """
    text, verdicts = io.StringIO(), list_verdicts(report.workloads)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for trial in report.trials:
        time = datetime.fromtimestamp(trial.started_at, UTC).isoformat(timespec="milliseconds")
        status = [] if trial.status is TrialStatus.FINISHED else [trial.status.value]
        flags = [*status, *["slow"] * trial.slow, *["not-counted"] * (not trial.counts)]
        run = (time, trial.block, trial.configuration, trial.workload)
        for figure in (table.figure for table in verdicts if table.workload == trial.workload):
            value = trial.figures.get(figure.name)
            writer.writerow((*run, figure.name, value, figure.unit, " ".join(flags)))
    return text.getvalue()
