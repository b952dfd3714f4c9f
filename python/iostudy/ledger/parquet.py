"""Samples as the content of a Parquet file: a row for each sample, null for missing values."""

from __future__ import annotations

import io

import numpy as np
from arro3.core import Array, ChunkedArray, DataType, Table
from arro3.io import read_parquet, write_parquet

from iostudy.telemetry.samples import SECONDS, Samples, Values

_COMPRESSION = "zstd(3)"


class ParquetError(Exception):
    """The content is not that of a Parquet file with samples."""


def encode_samples(samples: Samples) -> bytes:
    """Return the content of a file with whole numbers and, in seconds, the time of each sample."""
    columns = {name: _whole_numbers(values) for name, values in samples.columns.items()}
    table = Table.from_pydict({SECONDS: Array.from_numpy(samples.seconds), **columns})
    buffer = io.BytesIO()
    write_parquet(table, buffer, compression=_COMPRESSION)
    return buffer.getvalue()


def decode_samples(content: bytes, columns: tuple[str, ...]) -> Samples:
    """Return the samples in ``content``; ``columns`` are prefixes of the requested column names."""
    table = _read_table(content)
    if SECONDS not in table.column_names:
        raise ParquetError("it contains no time series")
    wanted = [name for name in table.column_names if name.startswith(columns)]
    values = {name: _numbers(table.column(name)) for name in wanted if name != SECONDS}
    return Samples(_numbers(table.column(SECONDS)), values)


def _read_table(content: bytes) -> Table:
    try:
        return read_parquet(io.BytesIO(content)).read_all()
    except BaseException as error:
        # arro3 panics where a file has a damaged footer, and its panic is not an Exception.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise ParquetError(str(error)) from error
        raise


def _whole_numbers(values: Values) -> Array:
    missing = np.isnan(values)
    if missing.any():
        known = zip(values.tolist(), missing.tolist(), strict=True)
        return Array([None if gone else int(value) for value, gone in known], DataType.uint64())
    return Array.from_numpy(values.astype(np.uint64))


def _numbers(column: ChunkedArray) -> Values:
    """The column as floats, NaN for null; exact up to 2**53."""
    if column.null_count:
        values = column.to_pylist()
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.asarray(column.to_numpy(), dtype=np.float64)
