"""Tests of the parts of the validation that need no kernel, and of a simulated replay."""

from __future__ import annotations

import pytest
from benches.simulator_validation.agreement import (
    decided_signs,
    order_agreement,
    punctual_share,
)
from benches.simulator_validation.requests import COMPLETE, INSERT, ISSUE, match, parse

from iostudy._native import DriveModel, SimulatedDisk
from iostudy.drives import drive_file
from iostudy.drives.presets import load
from iostudy.job import RecordedRequest, SimulationSetup

TRACE = """\
   io-3-17645 [001] d..1. 13.000001: block_rq_insert: 7,2 RS 16384 () 544704 + 32 none,0,0 [io-3]
   io-1-17647 [000] d..1. 13.000002: block_rq_insert: 7,2 WS 4096 () 8 + 8 none,0,0 [io-1]
 kworker/1:0H-24 [001] d..1. 13.000003: block_rq_issue: 7,2 WS 4096 () 8 + 8 none,0,0 [kworker]
 kworker/1:0H-24 [001] d..1. 13.000004: block_rq_issue: 7,2 RS 16384 () 544704 + 32 none,0,0 [k]
       <idle>-0 [001] d.h1. 13.000009: block_rq_complete: 7,2 RS () 544704 + 32 none,0,0 [0]
       <idle>-0 [001] d.h1. 13.000010: block_rq_complete: 7,2 WS () 8 + 8 none,0,0 [0]
 jbd2/loop2-8-77 [001] d..1. 13.000011: block_rq_issue: 7,2 FN 0 () 0 + 0 none,0,0 [jbd2]
"""


def test_requests_are_read_from_a_trace():
    events = list(parse(TRACE.splitlines()))
    assert [event.name for event in events] == [INSERT] * 2 + [ISSUE] * 2 + [COMPLETE] * 2
    read, write = match(events, INSERT)
    assert (read.recorded.process, read.recorded.cpu, read.recorded.sectors) == (0, 1, 32)
    assert read.recorded.is_read
    assert (write.recorded.process, write.recorded.cpu) == (1, 0)
    assert write.recorded.is_sync
    assert write.issued < read.issued


def test_a_merged_request_arrives_when_it_is_issued():
    (own,) = match(list(parse(TRACE.splitlines()))[3:5], INSERT)
    assert own.recorded.inserted == own.issued


@pytest.mark.parametrize(
    ("other", "share"), [((0, 1, 2, 3), 1.0), ((1, 0, 2, 3), 0.75), ((3, 2, 1, 0), 0.25)]
)
def test_order_agreement_is_the_longest_common_order(other: tuple[int, ...], share: float):
    assert order_agreement((0, 1, 2, 3), other) == share


def test_punctual_requests_agree_to_a_millisecond():
    assert punctual_share([0.0, 1.0], [0.0009, 1.002]) == 0.5


def test_only_decided_differences_count():
    kernel = {"a": [10.0, 11.0], "b": [20.0, 21.0], "c": [19.0, 22.0], "d": [10.5, 11.5]}
    predicted = {"a": 1.0, "b": 2.0, "c": 0.5, "d": 3.0}
    assert set(decided_signs(kernel, predicted, 0.1)) == {
        ("b", "a", True),
        ("c", "a", False),
        ("b", "d", False),
        ("c", "d", False),
    }


def test_a_replayed_scheduler_chooses_at_the_recorded_times():
    disk = SimulatedDisk(DriveModel(drive_file.parameters(load("ultrastar-7k8"))), 0)

    def request(inserted: float, completed: float, start: int) -> RecordedRequest:
        return RecordedRequest(inserted, completed, 0, 0, start, 8, is_read=True, is_sync=True)

    setup = SimulationSetup("mq-deadline", True, 1, 64, 1024)
    requests = [request(5.0, 5.1, 900), request(5.01, 5.3, 100)]
    assert disk.replay(requests, setup) == [(0, 0.0), (1, pytest.approx(0.01))]


def test_a_file_is_placed_where_it_fits():
    disk = SimulatedDisk(DriveModel(drive_file.parameters(load("ultrastar-7k8"))), 0)
    disk.place("a", 8, 4096)
    assert disk.size("a") == 4096
    with pytest.raises(ValueError, match="no room"):
        disk.place("b", 10**12, 4096)
