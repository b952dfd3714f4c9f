"""Studies that nodes can run together, and those that they cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.errors import UsageError
from iostudy.study.parser import parse
from iostudy.study.several_nodes import require_together

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
