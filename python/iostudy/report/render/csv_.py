"""CSV of runs for tools that look for change points: a row for each run and verdict figure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime

from iostudy.ledger.rows import TrialStatus
from iostudy.report.topics.verdicts import list_verdicts
from iostudy.report.values import Report

COLUMNS = ("time", "block", "configuration", "workload", "figure", "value", "unit", "flags")


def render(report: Report) -> str:
    """Render RFC 4180, but for line ends, which are those of Unix.

    Times are ISO 8601 in UTC. Values have all digits, and are empty where a run has none.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *_list_rows(report)])
    return text.getvalue()


def _list_rows(report: Report) -> Iterator[tuple[str, ...]]:
    verdicts = list_verdicts(report.workloads)
    for trial in report.trials:
        time = datetime.fromtimestamp(trial.started_at, UTC).isoformat(timespec="milliseconds")
        status = [] if trial.status is TrialStatus.FINISHED else [trial.status.value]
        flags = [*status, *["slow"] * trial.slow, *["not-counted"] * (not trial.counts)]
        for figure in (table.figure for table in verdicts if table.workload == trial.workload):
            value = trial.figures.get(figure.name)
            yield (
                time,
                str(trial.block),
                trial.configuration,
                trial.workload,
                figure.name,
                "" if value is None else repr(value),
                figure.unit,
                " ".join(flags),
            )
