"""Reads runs that exist already: fio's JSON reports, or a CSV of names and values."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from iostudy.errors import UsageError
from iostudy.report.documents.existing_runs import FigureRuns
from iostudy.safe_path import read_regular
from iostudy.study.one_line import require_direction
from iostudy.units import MIB
from iostudy.workloads.definition import Figure
from iostudy.workloads.external import fio_report
from iostudy.workloads.external.fio_report import FioReport, NoReportError

_MAX_FILES, _MAX_BYTES = 10_000, 64 * MIB
DEFAULT_FIGURE = "bandwidth"
"""Figure of `compare --fio` unless others are named; every job of reads or writes has it."""


def read_fio_runs(
    patterns: tuple[str, str], names: Sequence[str]
) -> tuple[list[FigureRuns], tuple[str, ...]]:
    """Read the reports that match both patterns; return figures, and what else differs.

    These are parameters, names of jobs, errors and versions that are not the same in all runs.
    UsageError for a file that is no report, and for a figure that a run lacks.
    """
    reports = tuple([(path, _read_report(path)) for path in _find(pattern)] for pattern in patterns)
    by_name = {figure.name: figure for figure in fio_report.FIGURES}
    figures = [
        FigureRuns(by_name[name], *(_values(side, name) for side in reports))
        for name in names or (DEFAULT_FIGURE,)
    ]
    runs = [[report.circumstances() for _, report in side] for side in reports]
    differences = []
    for name in sorted({name for side in runs for run in side for name in run}):
        first, second = ({run.get(name, "none") for run in side} for side in runs)
        if len(first | second) > 1:
            texts = (" or ".join(sorted(values)) for values in (first, second))
            differences.append(f"{name}: {' and '.join(texts)}")
    return figures, tuple(differences)


def _find(pattern: str) -> list[Path]:
    top = Path(pattern).anchor
    paths = sorted(Path(top).glob(pattern.removeprefix(top) or "."))[: _MAX_FILES + 1]
    if not paths or len(paths) > _MAX_FILES:
        raise UsageError(
            "reports of fio --output-format=json or json+, by a pattern such as 'before/*.json'",
            found="no such file" if not paths else f"more than {_MAX_FILES} files",
            where=pattern,
            remedy="quote the pattern, so that the shell does not expand it",
        )
    return paths


def _read_report(path: Path) -> FioReport:
    try:
        report = fio_report.parse(_read(path))
    except NoReportError as error:
        raise UsageError(
            "a report of fio --output-format=json or json+",
            found=str(error),
            where=str(path),
            remedy="write it with `fio --output-format=json+ --output=FILE JOB`",
        ) from error
    if failures := report.failures():
        raise UsageError(
            "a run without errors",
            found="; ".join(failures),
            where=str(path),
            remedy="repeat this run, or leave its file out",
        )
    return report


def _values(side: Sequence[tuple[Path, FioReport]], name: str) -> list[float]:
    values = []
    for path, report in side:
        figures = report.all_figures()
        if name in figures and not figures[name] > 0:
            raise UsageError(
                f"a figure {name} above 0 in every report",
                found=f"{figures[name]:g}",
                where=str(path),
                remedy="find out why this run did nothing: it has no ratio to another",
            )
        if name not in figures:
            raise UsageError(
                f"the figure {name} in every report",
                found=f"it has {', '.join(sorted(figures)) or 'none'}",
                where=str(path),
                remedy="name one of these with --figure; json+ has latencies of several jobs",
            )
        values.append(figures[name])
    return values


def read_csv_runs(
    places: tuple[str, str], names: Sequence[str], *, higher_is_better: bool | None = None
) -> tuple[list[FigureRuns], tuple[str, ...]]:
    """Read two files of lines ``name,value``, a line for each run; those of common names.

    Without ``higher_is_better`` names such as p99 say it. The second value says which names are in
    one file alone. UsageError for another line, a requested name that a file lacks, and a name that
    does not say which direction is better.
    """
    first, second = (_read_csv(Path(place)) for place in places)
    common = [name for name in first if name in second]
    missing = [name for name in names if name not in common]
    if missing or not common:
        raise UsageError(
            f"values of {', '.join(missing) or 'one name'} in both files",
            found=f"the first has {', '.join(first) or 'none'}, the second "
            f"{', '.join(second) or 'none'}",
            where=f"{places[0]} and {places[1]}",
            remedy="write lines of a name and a value, such as iops,1234",
        )
    remedy = "add --higher-is-better, or --lower-is-better; or compare each figure by --figure"
    runs = []
    for name in names or common:
        higher = require_direction(name, remedy, higher_is_better=higher_is_better)
        runs.append(FigureRuns(Figure(name, "", "", higher), first[name], second[name]))
    alone = () if names else sorted(first.keys() ^ second.keys())
    return runs, tuple(f"{name}: in {places[name in second]} alone" for name in alone)


def _read_csv(path: Path) -> dict[str, list[float]]:
    figures: dict[str, list[float]] = {}
    for number, row in enumerate(_split_lines(path), start=1):
        if not row or (number == 1 and [cell.strip() for cell in row] == ["name", "value"]):
            continue
        value = _parse_value(row)
        if value is None:
            raise UsageError(
                "a line of a name and a number above 0",
                found=",".join(row),
                where=f"{path}, line {number}",
                remedy="write lines such as iops,1234; a first line name,value is skipped",
            )
        figures.setdefault(row[0].strip(), []).append(value)
    return figures


def _split_lines(path: Path) -> Iterator[list[str]]:
    """Yield the cells of each line, with the line ends of any system."""
    try:
        yield from csv.reader(io.StringIO(_read(path), newline=None))
    except csv.Error as error:
        raise UsageError(
            "lines of a name and a number",
            found=str(error),
            where=str(path),
            remedy="close its quotation marks, or leave them out",
        ) from error


def _parse_value(row: Sequence[str]) -> float | None:
    try:
        name, text = row
        value = float(text)
    except ValueError:
        return None
    # A semicolon separates where a comma is the decimal point.
    is_usable = math.isfinite(value) and value > 0 and name.strip() and ";" not in name
    return value if is_usable else None


def _read(path: Path) -> str:
    try:
        return read_regular(path, _MAX_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"a regular file of text of at most {_MAX_BYTES // MIB} MiB",
            found=str(error),
            where=str(path),
            remedy="name another file",
        ) from error
