"""Repeat field reports, and write their results: ``tools.field_reports [SIZE [REPORT...]]``.

The results of a report are those of this machine: the answer to each item in
docs/field-reports/index.md, and all verdicts on the page of the report.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from iostudy.cli.consent import Consent
from iostudy.cli.report_study import Size, plan_items, run_items
from iostudy.report.documents.field_report import RepeatedItem, build_field_report
from iostudy.report.section import TextTable, make_table
from iostudy.study import reference
from tools.docs.field_reports import INDEX, RESULT_PAGES, write_results

_FOLDER = Path("target/field-reports")


def main(arguments: list[str]) -> int:
    """Run the reports in a size, by default all of them, and write the results of each."""
    size = Size(arguments[0]) if arguments else Size.SMALL
    host = f"{os.cpu_count()} processors and Linux {os.uname().release.partition('-')[0]}"
    circumstances = f"Size `{size}`, version {version('iostudy')}, on a machine with {host}."
    for name in arguments[1:] or reference.names():
        items = _repeat(name, size)
        write_results(INDEX, name, circumstances, [build_table(items)])
        write_results(RESULT_PAGES[name], name, circumstances, _list_tables(name, items))
    return 0


def _list_tables(name: str, items: Sequence[RepeatedItem]) -> Iterator[TextTable]:
    """Yield the figures of a report with those published, and the verdicts of each study."""
    for section in build_field_report(name, items).sections:
        for table in section.tables:
            yield replace(table, title=table.title or section.title)


def _repeat(name: str, size: Size) -> list[RepeatedItem]:
    folder = _FOLDER / f"{name}-{size}"
    return list(run_items(plan_items(name, size, folder), name, folder, Consent(), size.seconds))


def build_table(items: Sequence[RepeatedItem]) -> TextTable:
    """Build the table of items: command, and result or the reason without one."""
    return make_table(
        {
            "item": item.item.item,
            "command": f"`{item.command}`" if item.command else "",
            "result of this version": item.answer,
            "limited by": item.limited_by,
        }
        for item in items
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
