"""The pieces of a list of tests that workers get."""

import pytest

from tests.order import order

KINDS = {"h": "hadoop", "s": "sysctl", ".": "", "u": "unit"}


def pieces(tests: str, workers: int) -> list[str]:
    """What each worker gets first; pytest-xdist divides the list in this way."""
    ordered = order(tests, workers, KINDS.__getitem__)
    found = []
    for left in range(workers, 0, -1):
        found.append("".join(ordered[: len(ordered) // left]))
        del ordered[: len(ordered) // left]
    return found


@pytest.mark.parametrize(
    ("tests", "workers", "found"),
    [
        ("u.hu.su.hu.uuuuu", 4, ["hhuu", "suuu", "..uu", "..uu"]),
        ("u.hu.su.h", 2, ["hh.u", "s..uu"]),
        ("uu..u", 2, [".u", ".uu"]),
        ("hhhhhhu", 3, ["hh", "hh", "hhu"]),
        ("", 3, ["", "", ""]),
    ],
)
def test_tests_of_a_resource_begin_a_piece_and_unit_tests_end_it(tests, workers, found):
    assert pieces(tests, workers) == found
