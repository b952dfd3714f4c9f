"""Samples as Parquet files."""

import io

import numpy as np
import polars
import pytest

from iostudy.ledger.samples import ParquetError, decode_samples, encode_samples
from iostudy.telemetry.samples import Samples

NAN = float("nan")


def test_a_table_gives_the_same_samples_again():
    columns = {"disk.loop0.reads": np.array([NAN, 2.0**53, 0.0]), "cpu.user": np.arange(3.0)}
    samples = Samples(np.array([0.0, 0.1, 0.25]), columns)
    content = encode_samples(samples)
    table = polars.read_parquet(io.BytesIO(content))
    assert table["disk.loop0.reads"].to_list() == [None, 2**53, 0]
    again = decode_samples(content, ("disk.", "cpu."))
    assert again.seconds.tolist() == samples.seconds.tolist()
    for name, values in columns.items():
        assert np.array_equal(again.columns[name], values, equal_nan=True)


def test_a_file_of_an_earlier_version_is_read():
    columns = {
        "seconds": [0.0, 0.1],
        "cpu.user": polars.Series([1, None], dtype=polars.UInt64),
        "vm.x": polars.Series([None, None], dtype=polars.UInt64),
    }
    buffer = io.BytesIO()
    polars.DataFrame(columns).write_parquet(buffer)
    samples = decode_samples(buffer.getvalue(), ("cpu.", "vm."))
    np.testing.assert_array_equal(samples.columns["cpu.user"], [1, NAN])
    assert np.isnan(samples.columns["vm.x"]).all()


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1junkjunkPAR1", b"\0" * 4000])
def test_a_path_that_is_no_regular_file_is_refused(content: bytes):
    with pytest.raises(ParquetError):
        decode_samples(content, ("cpu.",))


def test_a_file_without_times_is_refused():
    buffer = io.BytesIO()
    polars.DataFrame({"cpu.user": [1]}).write_parquet(buffer)
    with pytest.raises(ParquetError):
        decode_samples(buffer.getvalue(), ("cpu.",))
