"""Every workload of the catalogue, run once by ``bench`` and inside a study, as a user would."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

from iostudy.cli.bench.json_output import BenchReport
from iostudy.ledger.rows import TrialStatus
from iostudy.report.render import json_
from iostudy.workloads import catalog
from iostudy.workloads.option_text import example_command, example_figures, format_flow
from tests.cli.program import Program
from tests.json_schema import assert_conforms

pytestmark = pytest.mark.child

BLOCKS = 3
HANG_GUARD_SECONDS = 900

STUDY = """\
question: Does every workload run in a study?
target: TARGET
factors: {workload.direct: [false]}
decide: {margin: 3%, risk: 5%, blocks: [BLOCKS, BLOCKS]}
workloads:
"""


ELSEWHERE = ("hadoop.nnthroughput",)
"""A Java for each operation takes seconds to start: a slow test of the plugin."""
ON_FILES = [
    name
    for name in catalog.names()
    if name not in ELSEWHERE
    and not catalog.get(name).service
    and not catalog.get(name).only_simulated
]


SMALL = {"size": "4MiB", "rows": "20k", "duration": "200ms"}
MOST_FILES = 500
"""A study runs each of them many times."""


def small(example: Mapping[str, object]) -> dict[str, object]:
    less = {name: SMALL[name] for name in SMALL.keys() & example.keys()}
    if "files" in example:
        less["files"] = min(MOST_FILES, int(str(example["files"])))
    return {**example, **less}


@pytest.mark.parametrize("name", ON_FILES)
def test_workload_runs_once_and_leaves_no_files(program: Program, name: str):
    require_a_run(program, name)


def require_a_run(program: Program, name: str) -> None:
    """Run the example of a workload by ``bench``, with a figure of it and nothing left behind."""
    definition = catalog.get(name)
    _, *arguments = shlex.split(example_command(definition))
    target = program.folder / "target"
    target.mkdir()
    done = program(*arguments, "--target", str(target), "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert_conforms(document, json_.build_schema(BenchReport))
    first = example_figures(definition)[0].name
    assert document["figures"][first]["value"] > 0
    assert list(target.iterdir()) == []
    assert program.residue() == []


def test_each_runs_inside_a_study(program):
    target = program.folder / "target"
    target.mkdir()
    requested = [
        f"  - {name}: {format_flow(small(catalog.get(name).example))}\n" for name in ON_FILES
    ]
    text = STUDY.replace("BLOCKS", str(BLOCKS)).replace("TARGET", str(target))
    program.write(text + "".join(requested))
    with program.start_study() as running:
        _, said = running.communicate(timeout=HANG_GUARD_SECONDS)
    assert running.returncode == 0, said
    counted = [row for row in program.rows() if row.counts]
    assert {row.status for row in counted} == {TrialStatus.FINISHED}
    assert [sum(row.workload == name for row in counted) for name in ON_FILES] == [BLOCKS] * len(
        ON_FILES
    )
    _no_figure_is_missing(program.out)
    assert list(target.iterdir()) == []


def _no_figure_is_missing(out: Path) -> None:
    report = json.loads((out / "report.json").read_text())
    for trial in report["trials"]:
        declared = {figure.name for figure in example_figures(catalog.get(trial["workload"]))}
        assert set(trial["figures"]) <= declared
        assert trial["value"] > 0
