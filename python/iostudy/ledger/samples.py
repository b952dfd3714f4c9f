"""Telemetry samples next to the ledger: one Parquet file per trial, a row for each sample."""

from __future__ import annotations

import hashlib
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from arro3.core import Array, ChunkedArray, DataType, Table
from arro3.io import read_parquet, write_parquet

from iostudy.durable import write_whole
from iostudy.errors import LedgerError, RecordError
from iostudy.ledger.rows import SamplesFile
from iostudy.safe_path import read_regular
from iostudy.telemetry.samples import SECONDS, Samples, Values

if TYPE_CHECKING:
    from collections.abc import Callable


ReadSamples: TypeAlias = "Callable[[SamplesFile, tuple[str, ...]], Samples]"
"""`read_samples` of a folder."""

FOLDER = "telemetry"
_NAME = re.compile(rf"{FOLDER}/(run-)?\d{{6,}}\.parquet")
_MAX_BYTES = 1 << 30
"""A day of 10 samples a second takes some hundred MiB."""
MIN_SAMPLES = 2
"""Samples of a trial: at its beginning and at its end."""


def write_samples(folder: Path, trial_id: int, samples: Samples) -> SamplesFile:
    """Write a trial's samples durably below ``folder``; return the file for the ledger."""
    return _write(folder, f"{FOLDER}/{trial_id:06d}.parquet", samples)


def write_run_samples(folder: Path, number: int, samples: Samples) -> SamplesFile:
    """Write the samples of the run with this number, from 1, as `write_samples` does."""
    return _write(folder, f"{FOLDER}/run-{number:06d}.parquet", samples)


def _write(folder: Path, name: str, samples: Samples) -> SamplesFile:

    path = folder / name
    content = encode_samples(samples)
    try:
        path.parent.mkdir(exist_ok=True)
        write_whole(path, content, follow_parent=False)
    except OSError as error:
        raise RecordError(
            "to write the samples of a trial",
            found=error.strerror or str(error),
            where=str(path),
            remedy="free space on that file system; earlier records are kept, "
            "and --resume continues from there",
        ) from error
    return SamplesFile(name, hashlib.sha256(content).hexdigest())


def read_samples(folder: Path, file: SamplesFile, columns: tuple[str, ...]) -> Samples:
    """Read the samples of `write_samples`; LedgerError if the file is missing or damaged.

    ``columns`` are prefixes of the requested column names.
    """
    path = folder / file.name
    try:
        if not _NAME.fullmatch(file.name):
            raise _samples_error("its name is not that of a telemetry file", path)
        content = read_regular(path, _MAX_BYTES)
        if hashlib.sha256(content).hexdigest() != file.sha256:
            raise _samples_error("it is damaged: its checksum differs from the recorded one", path)
        samples = decode_samples(content, columns)
    except (OSError, ParquetError) as error:
        detail = str(error).strip() or type(error).__name__
        raise _samples_error(detail.splitlines()[0], path) from error
    if len(samples.seconds) < MIN_SAMPLES:
        raise _samples_error("it contains no time series", path)
    return samples


def _samples_error(found: str, path: Path) -> LedgerError:
    return LedgerError(
        "the samples of a trial",
        found=found,
        where=str(path),
        remedy="restore the file; verdicts and figures do not need it",
    )


class ParquetError(Exception):
    """The content is not that of a Parquet file with samples."""


def encode_samples(samples: Samples) -> bytes:
    """Return the content of a file with whole numbers and, in seconds, the time of each sample.

    Differences of counters are small: to store these takes less time and space than zstd does.
    """
    columns = {name: _whole_numbers(values) for name, values in samples.columns.items()}
    table = Table.from_pydict({SECONDS: Array.from_numpy(samples.seconds), **columns})
    buffer = io.BytesIO()
    write_parquet(
        table,
        buffer,
        compression="lz4_raw",
        column_encoding={name: "delta_binary_packed" for name in columns},  # noqa: C420 - its type
        dictionary_enabled=False,
    )
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
        pairs = zip(values.tolist(), missing.tolist(), strict=True)
        return Array([None if gone else int(value) for value, gone in pairs], DataType.uint64())
    return Array.from_numpy(values.astype(np.uint64))


def _numbers(column: ChunkedArray) -> Values:
    """The column as floats, NaN for null; exact up to 2**53."""
    if column.null_count:
        values = column.to_pylist()
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.asarray(column.to_numpy(), dtype=np.float64)
