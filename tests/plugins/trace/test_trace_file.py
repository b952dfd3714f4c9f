"""Tests of the Parquet file of a trace."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from arro3.core import Array, DataType, Table
from arro3.io import write_parquet

from iostudy.errors import UsageError
from iostudy_trace.trace_file import read_trace, write_trace
from tests.plugins.trace.rows import batch, lost, row


def test_what_was_written_is_read(tmp_path: Path):
    events = [row(1, "block_bio_queue"), row(2, "block_plug", device=None), lost(3, 7)]
    with (tmp_path / "trace").open("wb") as file:
        write_trace([batch(events[:1]), batch(events[1:])], file)
    assert list(read_trace(tmp_path / "trace")) == events


def test_batches_are_written_as_they_come():
    """The generator sees that earlier batches have been taken, long before the last one."""
    taken = []

    def batches():
        for index in range(5):
            taken.append(index)
            yield batch([row(index, "block_bio_queue")])

    file = io.BytesIO()
    write_trace(batches(), file)
    assert taken == list(range(5))
    assert file.getvalue()[-4:] == b"PAR1"


@pytest.mark.parametrize("content", [b"", b"PAR1 and no more PAR1", b"text\n" * 1000])
def test_another_file_is_refused_with_its_name(tmp_path: Path, content: bytes):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="other"):
        list(read_trace(path))


def test_a_missing_file_and_one_with_other_columns_are_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="no such file"):
        list(read_trace(tmp_path / "missing"))
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(UsageError, match="another kind of file"):
        list(read_trace(tmp_path / "fifo"))
    write_parquet(Table.from_pydict({"time_ns": Array([1], DataType.int64())}), tmp_path / "other")
    with pytest.raises(UsageError, match="no columns event, device"):
        list(read_trace(tmp_path / "other"))
