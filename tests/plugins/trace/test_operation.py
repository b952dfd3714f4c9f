"""Tests of operations by their flags."""

from __future__ import annotations

import pytest

from iostudy_trace.operation import Operation, parse_operation


@pytest.mark.parametrize(
    ("flags", "size", "operation"),
    [
        ("RA", 4096, Operation.READ),
        ("WSM", 4096, Operation.WRITE),
        ("FWFS", 4096, Operation.WRITE),
        ("DS", 4096, Operation.DISCARD),
        ("FF", 0, Operation.FLUSH),
        ("FWS", 0, Operation.FLUSH),
        ("N", 4096, Operation.WRITE),
        ("N", 0, None),
        ("ZR", 4096, None),
        ("", 0, None),
    ],
)
def test_the_operation_is_the_first_letter_but_for_a_flush_before_it(flags, size, operation):
    assert parse_operation(flags, size) is operation
