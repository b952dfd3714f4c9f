"""JSON document of the report on a command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from iostudy.report.base import DiagnosisReport
from iostudy.report.formatting import finite_values
from iostudy.telemetry.iostat import compute_old_figures
from iostudy.telemetry.summary import Figures as DeviceFigures
from iostudy_watch.command import CommandReport
from iostudy_watch.document import Figures, ProcessReport, WatchReport


def build_document(report: CommandReport, *, old: bool = False) -> WatchReport:
    """Build the document, with the names that ``iostudy bench --json`` uses.

    With ``old`` the devices have the figures of sysstat's old names too.
    """
    reading, summary = report.reading, report.reading.summary
    return WatchReport(
        command=report.command,
        exit_code=report.exit_code,
        ended=reading.at.isoformat(timespec="milliseconds"),
        seconds=summary.seconds,
        device=next(iter(report.devices), ""),
        devices=_each(
            {
                name: {**figures, **(compute_old_figures(figures) if old else {})}
                for name, figures in summary.devices.items()
            }
        ),
        called={name: device.label for name, device in reading.devices.items()},
        machine=finite_values(summary.machine),
        network=_each(summary.network),
        nfs=_each(summary.nfs),
        workload=finite_values(summary.workload),
        processes=tuple(ProcessReport(**asdict(process)) for process in report.processes),
        limited_by=DiagnosisReport.copy_from(report.limited),
    )


def _each(figures: Mapping[str, DeviceFigures]) -> dict[str, Figures]:
    return {name: finite_values(values) for name, values in figures.items()}
