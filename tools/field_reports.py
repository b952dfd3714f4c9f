"""Repeat the field reports, and write their results: ``python -m tools.field_reports [SIZE]``.

The results of the reports are those of this machine, in docs/field-reports/index.md.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from pathlib import Path

from iostudy.cli.consent import Consent
from iostudy.cli.report_study import Size, plan_items, run_items
from iostudy.report.documents.field_report import RepeatedItem
from iostudy.report.section import TextTable, make_table
from iostudy.study import reference
from tools.docs.field_reports import replace_results

_FOLDER = Path("target/field-reports")


def main(arguments: list[str]) -> int:
    """Run every report in a size, and write the table of all items."""
    size = Size(arguments[0]) if arguments else Size.SMALL
    items = [(name, item) for name in reference.names() for item in _repeat(name, size)]
    host = f"{os.cpu_count()} processors and Linux {os.uname().release}"
    circumstances = f"Size `{size}`, version {version('iostudy')}, on a machine with {host}."
    Path("docs/field-reports/index.md").write_text(
        replace_results("index", circumstances, build_table(items)), "utf-8"
    )
    return 0


def _repeat(name: str, size: Size) -> list[RepeatedItem]:
    folder = _FOLDER / f"{name}-{size}"
    return list(run_items(plan_items(name, size, folder), name, folder, Consent(), size.seconds))


def build_table(items: list[tuple[str, RepeatedItem]]) -> TextTable:
    """Build the table of items: report, item, command, and result or the reason without one."""
    return make_table(
        {
            "report": name,
            "item": own.item.item,
            "command": f"`{own.command}`" if own.command else "",
            "result of this version": own.answer,
            "limited by": own.limited_by,
        }
        for name, own in items
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
