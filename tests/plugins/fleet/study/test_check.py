"""Studies that nodes can run together, and those that they cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.errors import UsageError
from iostudy.study.parser import parse
from iostudy_fleet.study.check import require_together
from tests.study.files import problems
from tests.study.test_load_section import of_nodes

TEXT = """\
question: Which?
target: TARGET
factors: {workload.record_size: [1MiB, 64KiB]}
workloads: [{io: {size: 1MiB, figure: exec_time}}]
"""
READ = "{size: 1MiB, figure: exec_time}"
LOOP = "{loopback: {size: 64MiB}}"


def require(text: str) -> None:
    require_together(parse(text, where="study.yaml", name="study"))


def test_reads_and_writes_of_a_directory_are_accepted(tmp_path: Path):
    text = TEXT.replace("TARGET", str(tmp_path))
    require(text)
    require(text.replace("{size:", "{operation: write, size:"))


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("TARGET", LOOP, "the target"),
        ("TARGET", ".", "the target"),
        (READ, "{size: 1MiB}", "the figure bandwidth"),
        (READ, "{size: 1MiB, figure: iops}", "the figure iops"),
        ("factors", "validity: {foreign_io: 5%}\nfactors", "foreign_io"),
        ("factors", "telemetry: {block_latency: true}\nfactors", "block_latency"),
    ],
)
def test_others_are_refused_with_the_reason(old: str, new: str, found: str, tmp_path: Path):
    text = TEXT.replace(old, new).replace("TARGET", str(tmp_path))
    with pytest.raises(UsageError, match=found):
        require(text)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("/srv/shared", "{loopback: {size: 64MiB}}", "with the target a loop-back disk"),
        (
            "/srv/shared",
            "{drive: {model: sata-3tb, size: 1GiB, simulated: true}}",
            "the target",
        ),
        ("file-reads, figure: exec_time", "file-reads", "the figure bandwidth"),
        ("/srv/shared", "/srv/shared\ndesign: full", "with a screening"),
    ],
)
def test_what_several_nodes_cannot_run_has_no_such_load(old: str, new: str, found: str):
    text = of_nodes("[1, 2]").replace(old, new)
    assert "load.fleet.nodes" in {own.path for own in problems(text) if found in own.message}
