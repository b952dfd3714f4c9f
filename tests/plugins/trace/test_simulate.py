"""Tests of ``iostudy simulate`` with a recorded trace."""

from __future__ import annotations

import json

import pytest

from iostudy_trace.trace_file import write_trace
from tests.cli.program import Program
from tests.plugins.trace.rows import batch, row

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
