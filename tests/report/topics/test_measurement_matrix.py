from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from iostudy.report.topics.measurements import tabulate_matrices
from tests.report.parted import JOBS, cells

SIZES = st.sampled_from(["4KiB", "64KiB", "1MiB"])
LABELS = st.builds(
    lambda operation, file_size, record_size: {
        "record_size": record_size,
        "operation": operation,
        "file_size": file_size,
    },
    st.sampled_from(["write", "read"]),
    SIZES,
    SIZES,
)


@given(st.lists(LABELS, unique_by=lambda labels: tuple(labels.values())))
def test_every_cell_is_shown_once_in_its_row_and_column(labels):
    numbers = {tuple(own.values()): str(number) for number, own in enumerate(labels)}
    found = tabulate_matrices(zip(labels, numbers.values(), strict=True))
    shown = {
        (column, matrix.title, row[0]): text
        for matrix in found
        for row in matrix.rows
        for column, text in zip(matrix.heads[1:], row[1:], strict=True)
        if text
    }
    assert shown == numbers


def test_the_matrix_has_the_layout_of_iozone_and_empty_cells():
    labels = cells(["write"], [64 << 10, 1 << 20], [4 << 10, 128 << 10])
    (found,) = tabulate_matrices((own, f"<{own['record_size']}>") for own in labels)
    assert found.heads == ("file \\ record", "4KiB", "128KiB")
    assert found.rows == [("64KiB", "<4KiB>", ""), ("1MiB", "<4KiB>", "<128KiB>")]


def test_parts_with_other_labels_are_no_matrix():
    assert tabulate_matrices((own, "1") for own in JOBS) == ()
    assert tabulate_matrices([]) == ()
    assert tabulate_matrices([(cells()[0], "1"), (JOBS[0], "2")]) == ()
    assert tabulate_matrices([({**cells()[0], "job": "1"}, "1")]) == ()
