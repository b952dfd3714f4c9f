"""Traces of block events, compared with the kernel's counters."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from iostudy.errors import TrialError
from iostudy.host.devices import read_device
from iostudy.settings.trace_instance import TraceInstance, TracePurpose
from iostudy.settings.transaction.transaction import Transaction
from iostudy_trace.block_trace import BlockTrace
from iostudy_trace.events import OPTIONAL_EVENTS
from iostudy_trace.matching import MatchedTrace, match
from iostudy_trace.trace_file import list_events

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("tracing", "state_dir")]
PURPOSE = TracePurpose("a trace", "", OPTIONAL_EVENTS)


def record(loop: str, count: int, buffer_kib: int | None = None) -> tuple[BlockTrace, MatchedTrace]:
    """The trace of reads of 4 KiB that are all done before it is read."""
    device = read_device(loop)
    major, minor = map(int, device.number.split(":"))
    with Transaction() as transaction:
        instance = TraceInstance.prepare([device], PURPOSE)
        transaction.apply(instance)
        if buffer_kib is not None:
            (instance.path / "buffer_size_kb").write_text(str(buffer_kib))
        with BlockTrace(instance.path, instance.events, {major << 20 | minor: loop}) as trace:
            arguments = ["bs=4k", f"count={count}", "iflag=direct", "status=none"]
            subprocess.run(["dd", f"if=/dev/{loop}", "of=/dev/null", *arguments], check=True)
            batches = list(trace.read(lambda: True))
    return trace, match(list_events(batches))


def completed_reads(loop: str) -> int:
    return int((Path("/sys/block") / loop / "stat").read_text().split()[0])


def test_requests_are_those_that_the_kernel_counts(loop):
    before = completed_reads(loop)
    trace, found = record(loop, 500)
    reads = [request for request in found.requests if request.operation == "read"]
    assert len(reads) == completed_reads(loop) - before
    assert sum(bio.command == "dd" for bio in found.bios) == 500
    assert trace.lost == found.lost == found.unfinished == 0
    assert trace.events == sum(found.counts.values())


def test_lost_events_are_counted_in_their_place(loop):
    trace, found = record(loop, 4000, buffer_kib=8)
    assert trace.lost == found.lost > 0
    assert found.counts["lost"] > 0
    assert sum(bio.completed_ns is not None for bio in found.bios) < 4000


def test_an_instance_that_is_not_there_is_an_error_with_its_place(tmp_path):
    trace = BlockTrace(tmp_path, ("block_rq_issue",), {})
    with pytest.raises(TrialError) as caught, trace:
        pass
    assert str(tmp_path / "events/header_page") in caught.value.found
