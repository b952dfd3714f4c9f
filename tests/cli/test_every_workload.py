"""Every workload of the catalogue, run once by ``bench`` and inside a study, as a user would."""

from __future__ import annotations

import json
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

from iostudy.ledger.rows import TrialStatus
from iostudy.workloads import catalog
from iostudy.workloads.written import bench_command, example_figures, flow

NEEDS = {"root-events": "uproot"}
BLOCKS = 3
HANG_GUARD_SECONDS = 900

STUDY = """\
question: Does every workload run in a study?
target: TARGET
factors: {workload.direct: [false]}
decide: {margin: 3%, risk: 5%, blocks: [BLOCKS, BLOCKS]}
validity: {foreign_io: 9000%, steal: 99%, attempts: 10}
workloads:
"""


def can_run(name: str) -> bool:
    return not lacking(name)


def lacking(name: str) -> str:
    if catalog.get(name).needs_hadoop:
        return "it needs a Hadoop cluster"
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        return f"{NEEDS[name]} is not installed"
    return ""


@pytest.mark.parametrize("name", catalog.names())
def test_it_runs_once_and_leaves_nothing(program, name):
    if not can_run(name):
        pytest.skip(lacking(name))
    definition = catalog.get(name)
    _, *arguments = shlex.split(bench_command(definition))
    target = program.folder / "target"
    target.mkdir()
    done = program(*arguments, "--target", str(target), "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    first = example_figures(definition)[0].name
    assert told["figures"][first]["value"] > 0
    assert list(target.iterdir()) == []
    assert program.leftovers() == []


def test_each_runs_inside_a_study(program):
    names = [name for name in catalog.names() if can_run(name)]
    target = program.folder / "target"
    target.mkdir()
    asked = [f"  - {name}: {flow(dict(catalog.get(name).example))}\n" for name in names]
    text = STUDY.replace("BLOCKS", str(BLOCKS)).replace("TARGET", str(target))
    program.write(text + "".join(asked))
    with program.start_study() as running:
        _, said = running.communicate(timeout=HANG_GUARD_SECONDS)
    assert running.returncode == 0, said
    counted = [row for row in program.rows() if row.counts]
    assert {row.status for row in counted} == {TrialStatus.FINISHED}
    assert [sum(row.workload == name for row in counted) for name in names] == [BLOCKS] * len(names)
    _no_figure_is_missing(program.out)
    assert list(target.iterdir()) == []


def _no_figure_is_missing(out: Path) -> None:
    report = json.loads((out / "report.json").read_text())
    for trial in report["trials"]:
        declared = {figure.name for figure in example_figures(catalog.get(trial["workload"]))}
        assert set(trial["figures"]) <= declared
        assert trial["value"] > 0
