"""Tests of dependences inferred from traces with known ones."""

from __future__ import annotations

import heapq
import random
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from iostudy_trace.dependences import infer_dependences
from iostudy_trace.matching import Bio
from iostudy_trace.operation import Operation


def bio(queued: int, completed: int | None, pid: int = 1) -> Bio:
    return Bio("sda", Operation.READ, "R", 0, 4096, pid, "io", 0, queued, completed)


def closed_loop(depth: int, bios: int, think: int, seed: int) -> list[Bio]:
    """A thread that keeps ``depth`` bios under way, and thinks after each completion."""
    draw, order = random.Random(seed), count()
    ready = [(0, next(order))] * depth
    found = []
    for _ in range(bios):
        queued, _ = heapq.heappop(ready)
        completed = queued + draw.randrange(1_000, 100_000)
        heapq.heappush(ready, (completed + think, next(order)))
        found.append(bio(queued, completed))
    return found


def test_a_reader_waits_for_its_bio_before_and_thinks():
    (own,) = infer_dependences([bio(5, 10), bio(13, 20), bio(21, 30)], 1).values()
    assert [(each.after, each.delay_ns) for each in own] == [(0, 4), (1, 3), (2, 1)]


def test_bios_of_one_burst_follow_the_one_before():
    (own,) = infer_dependences([bio(0, 50), bio(2, 60), bio(65, 90), bio(66, 95)], 0).values()
    assert [(each.after, each.delay_ns) for each in own] == [(0, 0), (0, 2), (2, 5), (2, 1)]


def test_threads_are_apart():
    found = infer_dependences([bio(0, 10, pid=1), bio(20, 30, pid=2)], 0)
    assert [(pid, own[0].after, own[0].delay_ns) for pid, own in found.items()] == [
        (1, 0, 0),
        (2, 0, 20),
    ]


def test_a_bio_without_a_known_end_is_awaited_by_none():
    (own,) = infer_dependences([bio(0, None), bio(10, 20)], 0).values()
    assert [each.after for each in own] == [0, 0]


@given(st.integers(1, 8), st.integers(0, 50_000), st.integers(0, 99))
def test_no_dependence_of_a_closed_loop_is_missed(depth, think, seed):
    """Bio i waits for the completion of i + 1 - depth bios."""
    (own,) = infer_dependences(closed_loop(depth, 60, think, seed), 0).values()
    assert all(each.after >= i + 1 - depth for i, each in enumerate(own))
    assert all(each.after <= i for i, each in enumerate(own))


@given(st.integers(0, 50_000), st.integers(0, 99))
def test_the_dependences_of_a_synchronous_reader_are_exact(think, seed):
    (own,) = infer_dependences(closed_loop(1, 60, think, seed), 0).values()
    assert [each.after for each in own] == list(range(60))
    assert {each.delay_ns for each in own[1:]} == {think}
