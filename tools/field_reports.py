"""Repeat the field reports, and write their results: ``python -m tools.field_reports [SIZE]``.

The results of the reports are those of this machine: the answer to each item in
docs/field-reports/index.md, and all verdicts on the page of each report.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
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
    """Run every report in a size, and write the results to their pages."""
    size = Size(arguments[0]) if arguments else Size.SMALL
    items = {name: _repeat(name, size) for name in reference.names()}
    host = f"{os.cpu_count()} processors and Linux {os.uname().release.partition('-')[0]}"
    circumstances = f"Size `{size}`, version {version('iostudy')}, on a machine with {host}."
    write_results(INDEX, circumstances, [build_table(items)])
    for name, planned in items.items():
        write_results(RESULT_PAGES[name], circumstances, _list_tables(name, planned))
    return 0


def _list_tables(name: str, items: Sequence[RepeatedItem]) -> Iterator[TextTable]:
    """Yield the figures of a report with those published, and the verdicts of each study."""
    for section in build_field_report(name, items).sections:
        for table in section.tables:
            yield replace(table, title=table.title or section.title)


def _repeat(name: str, size: Size) -> list[RepeatedItem]:
    folder = _FOLDER / f"{name}-{size}"
    return list(run_items(plan_items(name, size, folder), name, folder, Consent(), size.seconds))


def build_table(items: Mapping[str, Sequence[RepeatedItem]]) -> TextTable:
    """Build the table of items: report, item, command, and result or the reason without one."""
    return make_table(
        {
            "report": name,
            "item": item.item.item,
            "command": f"`{item.command}`" if item.command else "",
            "result of this version": item.answer,
            "limited by": item.limited_by,
        }
        for name, repeated in items.items()
        for item in repeated
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
