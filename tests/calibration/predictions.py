"""Make the predictions of docs/simulator: ``python -m tests.calibration.predictions [NAME]...``.

The table of a study is the result of ``iostudy simulate NAME --seed 2014``. Its place in the page
is the line ``<!-- calibration: NAME -->``, below which the table is written anew. A prediction
depends on nothing but the study, the seed and the code.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iostudy.report.base import Span
from iostudy.report.formatting import format_change_interval, format_figure
from tests.calibration.rows import PLACE, Row, markdown, placed

PAGE = Path(__file__).parents[2] / "docs/simulator/schedulers-of-2014.md"
SEED = 2014
PLACES = re.compile(PLACE.format(name=r"(\S+)") + r"((?:\|.*\n)*)")
"""Places of the page, each with the name of its study and its table."""


def simulate(study: str) -> list[dict[str, Any]]:
    """Return the workloads of the report of a ready-made study."""
    program = Path(sys.executable).with_name("iostudy")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        command = [program, "simulate", study, "--seed", str(SEED), "--out", out]
        subprocess.run(command, check=True, capture_output=True)
        workloads: list[dict[str, Any]] = json.loads((out / "report.json").read_text())["workloads"]
        return workloads


def rows(workloads: Sequence[dict[str, Any]]) -> list[Row]:
    """A table of configurations and workloads, the longer of the two downwards.

    The baseline has means, the others have changes with intervals.
    """
    heads = [f"{each['label']}, {each['figure']['unit']}" for each in workloads]
    results = zip(*(each["results"] for each in workloads), strict=True)
    table = [
        ("", *heads),
        *((own[0]["configuration"], *map(_cell, own)) for own in results),
    ]
    return table if len(table) > len(heads) else list(zip(*table, strict=True))


def _cell(result: dict[str, Any]) -> str:
    if result["baseline"]:
        return format_figure(result["value"])
    interval = result["interval"] and Span(**result["interval"])
    return f"{result['verdict']} {format_change_interval(result['change'], interval)}"


def main(names: Sequence[str]) -> None:
    """Write the tables of these studies (all by default) into the page."""
    for study, _ in PLACES.findall(PAGE.read_text()):
        if not names or study in names:
            sys.stderr.write(f"{study}\n")
            table = markdown(rows(simulate(study)))
            PAGE.write_text(placed(PAGE.read_text(), study, table))


if __name__ == "__main__":
    main(sys.argv[1:])
