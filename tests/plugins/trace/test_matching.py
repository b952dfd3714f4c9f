"""Tests of bios and requests from the events of a trace."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from iostudy_trace.matching import match
from iostudy_trace.operation import Operation
from tests.plugins.trace.rows import lost, row


def test_a_request_has_the_times_of_its_events_and_the_thread_of_its_arrival():
    found = match(
        [
            row(10, "block_bio_queue", pid=7),
            row(11, "block_getrq", pid=7),
            row(12, "block_rq_insert", pid=7),
            row(20, "block_rq_issue", pid=99),
            row(50, "block_rq_complete", pid=0),
        ]
    )
    (request,), (bio,) = found.requests, found.bios
    assert (request.allocated.time_ns, request.inserted.time_ns) == (11, 12)
    assert (request.issued_ns, request.completed_ns) == (20, 50)
    assert (request.inserted.pid, request.issuer.pid) == (7, 99)
    assert (bio.pid, bio.queued_ns, bio.completed_ns) == (7, 10, 50)
    assert found.unfinished == 0


def test_bios_that_share_a_request_complete_with_it():
    found = match(
        [
            row(1, "block_bio_queue", 0, 8, "W", pid=1),
            row(2, "block_bio_queue", 8, 8, "W", pid=2),
            row(3, "block_bio_backmerge", 8, 8, "W", pid=2),
            row(4, "block_rq_issue", 0, 16, "W"),
            row(9, "block_rq_complete", 0, 16, "W"),
        ]
    )
    assert [bio.completed_ns for bio in found.bios] == [9, 9]
    assert [request.bytes for request in found.requests] == [8192]


def test_a_split_bio_completes_with_its_last_part_in_any_order():
    found = match(
        [
            row(1, "block_bio_queue", 0, 24),
            row(2, "block_split", 0, 16),
            row(3, "block_rq_issue", 0, 16),
            row(4, "block_rq_issue", 16, 8),
            row(5, "block_rq_complete", 16, 8),
            row(8, "block_rq_complete", 0, 16),
        ]
    )
    (bio,) = found.bios
    assert bio.completed_ns == 8
    assert len(found.requests) == 2


def test_a_request_may_complete_in_parts():
    found = match(
        [
            row(1, "block_bio_queue", 0, 16),
            row(2, "block_rq_issue", 0, 16),
            row(3, "block_rq_complete", 0, 8),
            row(6, "block_rq_complete", 8, 8),
        ]
    )
    assert [request.completed_ns for request in found.requests] == [6]
    assert [bio.completed_ns for bio in found.bios] == [6]


def test_what_the_driver_returned_counts_from_its_next_issue_and_keeps_its_arrival():
    found = match(
        [
            row(1, "block_rq_insert", pid=7),
            row(2, "block_rq_issue"),
            row(3, "block_rq_requeue"),
            row(8, "block_rq_issue"),
            row(9, "block_rq_complete"),
        ]
    )
    (request,) = found.requests
    assert (request.inserted.time_ns, request.issued_ns, request.completed_ns) == (1, 8, 9)


def test_a_flush_of_the_drive_completes_those_that_were_queued_before_its_issue():
    found = match(
        [
            row(1, "block_bio_queue", 0, 0, "FWS", pid=1),
            row(2, "block_bio_queue", 0, 0, "FWS", pid=2),
            row(3, "block_rq_issue", 0, 0, "FF"),
            row(4, "block_bio_queue", 0, 0, "FWS", pid=3),
            row(9, "block_rq_complete", 77, 0, "FF"),
        ]
    )
    assert [bio.completed_ns for bio in found.bios] == [9, 9, None]
    assert [request.operation for request in found.requests] == [Operation.FLUSH]


def test_what_was_under_way_when_events_were_lost_is_dropped():
    found = match(
        [
            row(1, "block_bio_queue"),
            row(2, "block_rq_issue"),
            lost(3, 40),
            row(9, "block_rq_complete"),
        ]
    )
    assert (found.lost, found.requests) == (40, ())
    assert [bio.completed_ns for bio in found.bios] == [None]


def test_plugs_and_commands_are_counted_and_are_no_requests():
    found = match([row(1, "block_plug", device=None), row(2, "block_rq_complete", 0, 0, "N")])
    assert found.counts == {"block_plug": 1, "block_rq_complete": 1}
    assert (found.requests, found.bios) == ((), ())


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1000), st.integers(1, 1000)), max_size=40)
)
def test_every_bio_and_request_completes_once(requests):
    """Any number of concurrent requests at few places."""
    rows = []
    for place, start, latency in requests:
        rows += [
            (start, 0, row(start, "block_bio_queue", 8 * place)),
            (start, 1, row(start, "block_rq_issue", 8 * place)),
            (start + latency, 2, row(start + latency, "block_rq_complete", 8 * place)),
        ]
    found = match([each for *_, each in sorted(rows, key=lambda each: each[:2])])
    assert len(found.requests) == len(found.bios) == len(requests)
    total = sum(latency for *_, latency in requests)
    assert sum(each.completed_ns - each.issued_ns for each in found.requests) == total
    assert sum(bio.completed_ns - bio.queued_ns for bio in found.bios) == total
