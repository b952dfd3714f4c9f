"""Every generated file with its generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from iostudy.cli.bench.json_output import BenchReport
from iostudy.cli.check import CheckReport
from iostudy.cli.doctor import DoctorReport
from iostudy.cli.run_json import StudyRunReport
from iostudy.cli.selftest import SelftestReport
from iostudy.report.documents.comparison import StudyComparison
from iostudy.report.documents.existing_runs import RunsComparison
from iostudy.report.documents.power import PowerReport
from iostudy.report.render import json_
from iostudy.study import json_schema
from iostudy_fleet.report.values import FleetReport
from iostudy_watch.document import WatchReport
from tools.docs import (
    attack_surface,
    completion_index,
    doctor_page,
    field_reports,
    man_pages,
    screen_picture,
    settings_page,
    workloads_page,
)

ROOT = Path(__file__).parents[2]

DOCUMENTS: Mapping[str, Callable[[], str]] = {
    "docs/answer.svg": screen_picture.render_picture,
    "docs/doctor.md": doctor_page.page,
    "docs/field-reports/index.md": field_reports.write_index,
    **field_reports.write_pages(),
    attack_surface.PAGE: attack_surface.write_page,
    **settings_page.pages(),
    **workloads_page.pages(),
    "packaging/wheel/data/share/man/man1/iostudy.1": man_pages.render_program_page,
    "packaging/wheel/data/share/man/man5/iostudy-study.5": man_pages.render_study_page,
    "python/iostudy/cli/check.schema.json": partial(json_.format_schema, CheckReport),
    "python/iostudy/cli/completion.json": completion_index.render_index,
    "python/iostudy/cli/doctor.schema.json": partial(json_.format_schema, DoctorReport),
    "python/iostudy/cli/run.schema.json": partial(json_.format_schema, StudyRunReport),
    "python/iostudy/report/schema.json": json_.format_schema,
    "python/iostudy/report/bench.schema.json": partial(json_.format_schema, BenchReport),
    "python/iostudy/report/comparison.schema.json": partial(json_.format_schema, StudyComparison),
    "plugins/fleet/iostudy_fleet/report/fleet.schema.json": partial(
        json_.format_schema, FleetReport
    ),
    "python/iostudy/report/power.schema.json": partial(json_.format_schema, PowerReport),
    "python/iostudy/report/runs.schema.json": partial(json_.format_schema, RunsComparison),
    "python/iostudy/report/selftest.schema.json": partial(json_.format_schema, SelftestReport),
    "plugins/watch/iostudy_watch/watched.schema.json": partial(json_.format_schema, WatchReport),
    "python/iostudy/study/study.schema.json": json_schema.render_schema,
}
"""Paths below the top folder, each with the function that returns the file's text."""


def stale() -> dict[str, str]:
    """The files that differ from what their generators return, with the new text."""
    texts = {path: generate() for path, generate in DOCUMENTS.items()}
    return {path: text for path, text in texts.items() if _current(path) != text}


def _current(path: str) -> str | None:
    file = ROOT / path
    return file.read_text("utf-8") if file.exists() else None
