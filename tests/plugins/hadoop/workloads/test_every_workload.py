"""Every workload of Hadoop's programs, run once by ``bench``, as a user would."""

from __future__ import annotations

import json
import shlex

import pytest

from iostudy.workloads import catalog
from iostudy.workloads.option_text import example_command, example_figures
from iostudy_hadoop.local.cluster import LocalCluster
from tests.cli.program import Program
from tests.cli.test_every_workload import ELSEWHERE, require_a_run
from tests.plugins.hadoop import webhdfs

pytestmark = pytest.mark.child

HANG_GUARD_SECONDS = 900
ON_A_CLUSTER = [name for name in catalog.names() if catalog.get(name).service]
ALWAYS = "hadoop.dfsio-read"
"""The workloads that run here in `make test`; other modules test the rest."""


@pytest.mark.slow
@pytest.mark.usefixtures("java")
@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_workload_without_a_cluster_runs_once(program: Program, name: str):
    require_a_run(program, name)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n == ALWAYS else [pytest.mark.slow]) for n in ON_A_CLUSTER],
)
def test_workload_runs_once_in_hdfs_and_leaves_no_files(
    program: Program, hadoop_cluster: LocalCluster, name: str
):
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
