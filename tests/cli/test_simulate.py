"""Tests of ``iostudy simulate``: a predicted study is marked, and never kept or run."""

from __future__ import annotations

import json
import shutil

import pytest

from iostudy_trace.trace_file import write_trace
from tests.cli.program import Program
from tests.plugins.trace.rows import batch, row

TEXT = """\
question: Which?
target: {drive: {model: ultrastar-7k8, size: 8GiB, simulated: true}}
factors: {block.scheduler: [noop, cfq]}
workloads:
  - dfsio-read: {files: 3, size: 16MiB}
decide: {margin: 5%, risk: 5%, blocks: [4, 12]}
"""


@pytest.fixture
def study(program: Program) -> str:
    program.write(TEXT)
    return "study.yaml"


def test_a_prediction_is_marked_and_complete(program: Program, study: str):
    done = program("simulate", study, "--out", "out", "--seed", "1", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["verdicts"][0]["verdict"] == "better"
    report = json.loads((program.out / "report.json").read_text())
    assert report["headline"].startswith("Predicted: ")
    assert "no host was measured" in report["answer"][0]
    assert "iostudy simulate study.yaml" in " ".join(report["reproduce"])
    for page in ("report.md", "report.html"):
        assert "Predicted: " in (program.out / page).read_text()


def test_several_hosts_are_predicted_by_several_processes(program: Program):
    program.write(TEXT.replace("simulated: true", "simulated: true, hosts: 3"))
    done = program("simulate", "study.yaml", "--out", "out", "--seed", "1", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads((program.out / "report.json").read_text())
    assert report["circumstances"]["target"]["description"].startswith("3 hosts, each with")


def test_a_finished_prediction_is_printed_again(program: Program, study: str):
    first = program("simulate", study, "--out", "out", "--seed", "1")
    again = program("simulate", study, "--out", "out", "--resume")
    assert again.returncode == 0
    assert "is complete" in again.stderr
    assert again.stdout == first.stdout


def test_a_prediction_is_neither_kept_nor_run(program: Program, study: str):
    program("simulate", study, "--out", "out", "--seed", "1")
    kept = program("persist", "out")
    assert kept.returncode == 2
    assert "predictions of a simulation" in kept.stderr
    shutil.copytree(program.out, program.folder / "copy")
    fleet = program("fleet", "report", "out", "copy")
    assert fleet.returncode == 2
    assert "predictions of a simulation" in fleet.stderr
    run = program("run", study, "--out", "other")
    assert run.returncode == 2
    assert "iostudy simulate" in run.stderr
    assert not (program.folder / "other").exists()


def test_a_study_of_this_host_is_not_simulated(program: Program):
    program.write(TEXT.replace("target: {drive", "target: .\n#"))
    done = program("simulate", "study.yaml", "--out", "out")
    assert done.returncode == 2
    assert "a study with a simulated target" in done.stderr
    assert not program.out.exists()


def test_the_plan_changes_nothing(program: Program, study: str):
    done = program("check", study, "--full")
    assert done.returncode == 0, done.stderr
    assert "host, scheduler and drive are simulated" in done.stdout


TRACE = """\
question: Which?
target: {drive: {model: ultrastar-7k8, size: 8GiB, simulated: true}}
factors: {FACTOR}
workloads:
  - trace: {file: new.parquet}
decide: {margin: 5%, risk: 5%, blocks: [4, 12]}
"""


def write_reads(program: Program) -> None:
    """Four threads, each of which reads 128 KiB after 128 KiB."""
    events = []
    for pid in range(4):
        for index in range(50):
            sector, start = pid * 3_000_000 + index * 256, 9_000_000 * index
            own = ("block_bio_queue", "block_rq_issue", "block_rq_complete")
            times = (start, start + 1, start + 8_000_000)
            events += [row(t, e, sector, 256, pid=pid) for t, e in zip(times, own, strict=True)]
    with (program.folder / "new.parquet").open("wb") as file:
        write_trace([batch(sorted(events))], file)


def test_a_trace_is_replayed_under_each_scheduler(program: Program):
    program.write(TRACE.replace("FACTOR", "block.scheduler: [none, anticipatory]"))
    write_reads(program)
    done = program("simulate", "study.yaml", "--out", "out", "--seed", "1", "--json")
    assert done.returncode == 0, done.stderr
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert verdict["verdict"] == "better"
    assert "Predicted: " in (program.out / "report.md").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            TRACE.replace("FACTOR", "block.read_ahead_kb: [128, 1024]"),
            "trace begins below the page cache",
        ),
        (
            TRACE.replace("FACTOR", "block.scheduler: [none, bfq]").replace(
                ", simulated: true", ""
            ),
            "trace needs a drive with simulated: true",
        ),
    ],
)
def test_a_trace_is_refused_where_it_cannot_run(program: Program, text: str, message: str):
    program.write(text)
    done = program("check", "study.yaml", "--full")
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr
