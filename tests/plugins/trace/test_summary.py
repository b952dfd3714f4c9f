"""Tests of the summary of a trace."""

from __future__ import annotations

from iostudy_trace.matching import match
from iostudy_trace.summary import summarize
from iostudy_trace.summary_text import list_facts, list_processes, list_requests
from tests.plugins.trace.rows import row

MS = 1_000_000


def reads(sectors: list[int]):
    """Reads one after the other, each of which waits 1 ms and takes 3 ms of every 10 ms."""
    for index, sector in enumerate(sectors):
        start = 10 * index * MS
        yield row(start, "block_bio_queue", sector)
        yield row(start, "block_getrq", sector)
        yield row(start + MS, "block_rq_issue", sector)
        yield row(start + 4 * MS, "block_rq_complete", sector)


def test_the_summary_has_order_depth_latencies_and_waits():
    summary = summarize(match(reads([0, 8, 16, 800])))
    (own,) = summary.requests
    assert (own.device, own.operation, own.requests, own.bytes) == ("sda", "read", 4, 4 * 4096)
    assert own.sizes == (4096.0, 4096.0, 4096.0)
    assert own.sequential == 0.5
    assert own.latencies_us == (3000.0, 3000.0, 3000.0)
    assert own.waits_us == (1000.0, 1000.0, 1000.0)
    assert summary.seconds == 0.034
    assert abs(own.mean_depth - 12 / 34) < 1e-9
    (thread,) = summary.processes
    assert (thread.command, thread.pid, thread.bios, thread.sequential) == ("dd", 1, 4, 0.5)


def test_the_tables_name_every_unit_and_what_is_unknown():
    trace = [row(0, "block_rq_issue"), row(MS, "block_rq_complete")]
    summary = summarize(match(trace))
    heads, ((*_, latency, wait),) = list_requests(summary)
    assert heads[-2:] == ("latency p50/p99/max, us", "wait p50/p99/max, us")
    assert (latency, wait) == ("1000 / 1000 / 1000", "unknown")
    assert list_processes(summary)[1] == []
    assert dict(list_facts(summary))["events"] == "2, 0 lost"


def test_an_empty_trace_has_a_summary():
    summary = summarize(match([]))
    assert (summary.events, summary.requests, summary.processes) == (0, (), ())
