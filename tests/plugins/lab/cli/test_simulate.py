"""Tests of ``iostudy simulate``: a predicted study is marked, and never kept or run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from subprocess import CompletedProcess

import pytest

from tests.cli.inside import InProcessProgram
from tests.cli.program import Program

TEXT = """\
question: Which?
target: {drive: {model: ultrastar-7k8, size: 8GiB, simulated: true}}
factors: {block.scheduler: [noop, cfq]}
workloads:
  - dfsio-read: {files: 3, size: 16MiB}
decide: {margin: 5%, risk: 5%, blocks: [4, 12]}
"""


@pytest.fixture(scope="module")
def predicted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessProgram]:
    """A folder with a finished prediction that every test may read."""
    program = InProcessProgram(tmp_path_factory.mktemp("predicted"))
    program.write(TEXT)
    done = program("simulate", "study.yaml", "--out", "out", "--seed", "1")
    assert done.returncode == 0, done.stderr
    (program.folder / "printed").write_text(done.stdout)
    yield program
    program.end()


def resume(predicted: InProcessProgram, *more: str) -> CompletedProcess[str]:
    return predicted("simulate", "study.yaml", "--out", "out", "--resume", *more)


def test_a_prediction_is_marked_and_complete(predicted: InProcessProgram):
    document = json.loads(resume(predicted, "--json").stdout)
    assert document["verdicts"][0]["verdict"] == "better"
    report = json.loads((predicted.out / "report.json").read_text())
    assert report["headline"].startswith("Predicted: ")
    assert "no host was measured" in report["answer"][0]
    assert "iostudy simulate study.yaml" in " ".join(report["reproduce"])
    for page in ("report.md", "report.html"):
        assert "Predicted: " in (predicted.out / page).read_text()


def test_a_folder_that_others_can_change_is_refused_unless_the_option_waives_it(
    predicted: InProcessProgram,
) -> None:
    predicted.out.chmod(0o777)
    try:
        refused, waived = resume(predicted), resume(predicted, "--unsafe-folders")
    finally:
        predicted.out.chmod(0o755)
    assert refused.returncode == 2
    assert "--unsafe-folders waives" in " ".join(refused.stderr.split())
    assert waived.returncode == 0, waived.stderr


@pytest.mark.child
def test_several_hosts_are_predicted_by_several_processes(program: Program):
    program.write(TEXT.replace("simulated: true", "simulated: true, hosts: 2"))
    done = program("simulate", "study.yaml", "--out", "out", "--seed", "1", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads((program.out / "report.json").read_text())
    assert report["circumstances"]["target"]["description"].startswith("2 hosts, each with")


def test_a_finished_prediction_is_printed_again(predicted: InProcessProgram):
    again = resume(predicted)
    assert again.returncode == 0
    assert "is complete" in again.stderr
    assert again.stdout == (predicted.folder / "printed").read_text()


@pytest.mark.all_plugins
def test_a_prediction_is_neither_kept_nor_run(predicted: InProcessProgram):
    kept = predicted("persist", "out")
    assert kept.returncode == 2
    assert "predictions of a simulation" in kept.stderr
    shutil.copytree(predicted.out, predicted.folder / "copy")
    fleet = predicted("fleet", "report", "out", "copy")
    assert fleet.returncode == 2
    assert "predictions of a simulation" in fleet.stderr
    run = predicted("run", "study.yaml", "--out", "other")
    assert run.returncode == 2
    assert "iostudy simulate" in run.stderr
    assert not (predicted.folder / "other").exists()


def test_a_study_of_this_host_is_not_simulated(program: Program):
    program.write(TEXT.replace("target: {drive", "target: .\n#"))
    done = program("simulate", "study.yaml", "--out", "out")
    assert done.returncode == 2
    assert "a study with a simulated target" in done.stderr
    assert not program.out.exists()


def test_the_plan_changes_nothing(program: Program):
    program.write(TEXT)
    done = program("check", "study.yaml", "--full")
    assert done.returncode == 0, done.stderr
    assert "host, scheduler and drive are simulated" in done.stdout
