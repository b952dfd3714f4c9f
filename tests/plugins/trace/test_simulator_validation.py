"""Tests of the parts of the validation that need no kernel, and of a simulated replay."""

from __future__ import annotations

import pytest
from benches.simulator_validation.agreement import (
    decided_signs,
    order_agreement,
    punctual_share,
)
from benches.simulator_validation.requests import RecordedRequest, list_issued

from iostudy._native import DriveModel, SimulatedDisk
from iostudy.job import SimulationSetup
from iostudy_lab.drives import drive_file
from iostudy_lab.drives.presets import load
from iostudy_trace.events import BlockEvent
from iostudy_trace.matching import match

TRACE = [
    BlockEvent(1, "block_getrq", "loop2", 544704, 16384, "RS", 17645, "io-3", 1, 0),
    BlockEvent(10_000, "block_rq_insert", "loop2", 544704, 16384, "RS", 17645, "io-3", 1, 0),
    BlockEvent(20_000, "block_rq_insert", "loop2", 8, 4096, "WS", 17647, "io-1", 0, 0),
    BlockEvent(30_000, "block_rq_issue", "loop2", 8, 4096, "WS", 24, "kworker", 1, 0),
    BlockEvent(40_000, "block_rq_issue", "loop2", 544704, 16384, "RS", 24, "kworker", 1, 0),
    BlockEvent(90_000, "block_rq_complete", "loop2", 544704, 16384, "RS", 0, "", 1, 0),
    BlockEvent(95_000, "block_rq_complete", "loop2", 8, 4096, "WS", 0, "", 1, 0),
    BlockEvent(96_000, "block_rq_issue", "loop2", 0, 0, "FF", 77, "jbd2", 1, 0),
    BlockEvent(99_000, "block_rq_complete", "loop2", 0, 0, "FF", 0, "", 1, 0),
]


def test_requests_are_those_with_data_in_the_order_of_their_arrival():
    read, write = list_issued(match(TRACE), "bfq")
    assert (read.recorded.process, read.recorded.cpu, read.recorded.sectors) == (0, 1, 32)
    assert read.recorded.is_read
    assert (write.recorded.process, write.recorded.cpu) == (1, 0)
    assert write.recorded.is_sync
    assert write.issued < read.issued


def test_without_a_scheduler_a_request_arrives_when_it_is_allocated():
    read, _ = list_issued(match(TRACE), "none")
    assert read.recorded.inserted == pytest.approx(1e-9)


def test_a_merged_request_arrives_when_it_is_issued():
    own, _ = list_issued(match(TRACE[3:]), "bfq")
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
