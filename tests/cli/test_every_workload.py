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
from tests.json_schema import assert_conforms
from tests.plugins.hadoop import webhdfs

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


ON_HADOOP = [name for name in catalog.names() if catalog.get(name).service]
ALWAYS = ("hadoop.dfsio-read",)
"""What of Hadoop is run in every test run; the others have tests of their own there."""
BY_JAVA = ["hadoop.nnthroughput"]
"""Hadoop without a cluster: a Java for each operation, which takes seconds to start."""
SIMULATED = [name for name in catalog.names() if catalog.get(name).only_simulated]
ON_FILES = [name for name in catalog.names() if name not in ON_HADOOP + BY_JAVA + SIMULATED]


SMALL = {"size": "4MiB", "rows": "100k"}
"""A study runs each of them many times."""


def small(example: Mapping[str, object]) -> dict[str, object]:
    return {**example, **{name: SMALL[name] for name in SMALL.keys() & example.keys()}}


@pytest.mark.parametrize(
    "name", [*ON_FILES, *(pytest.param(n, marks=pytest.mark.slow) for n in BY_JAVA)]
)
def test_workload_runs_once_and_leaves_no_files(program, name, request):
    if name in BY_JAVA:
        request.getfixturevalue("java")
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


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n in ALWAYS else [pytest.mark.slow]) for n in ON_HADOOP],
)
def test_workload_runs_once_in_hdfs_and_leaves_no_files(program, hadoop_cluster, name):
    definition = catalog.get(name)
    program.env["HADOOP_CONF_DIR"] = str(hadoop_cluster.configured({}, restart=False).conf)
    folder = f"/{name}"
    webhdfs.write(hadoop_cluster, f"{folder}/mine", b"of the user")
    _, *arguments = shlex.split(example_command(definition))
    with program.start(*arguments, "--target", f"hdfs://{folder}", "--json") as running:
        output, said = running.communicate(timeout=HANG_GUARD_SECONDS)
    assert running.returncode == 0, said
    first = example_figures(definition)[0].name
    assert json.loads(output)["figures"][first]["value"] > 0
    assert webhdfs.names(hadoop_cluster, folder) == {"mine"}
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
