"""Parquet file of a trace: a row for each event, in time order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import IO, TypeVar, cast

from arro3.core import DataType, Field, RecordBatch, RecordBatchReader, Schema
from arro3.io import read_parquet, write_parquet

from iostudy.errors import UsageError
from iostudy.safe_path import read_named
from iostudy_trace.events import BlockEvent

_TYPES = {
    "time_ns": DataType.int64(),
    "event": DataType.string(),
    "device": DataType.string(),
    "sector": DataType.int64(),
    "bytes": DataType.int64(),
    "operation": DataType.string(),
    "pid": DataType.int64(),
    "command": DataType.string(),
    "cpu": DataType.int64(),
    "lost": DataType.int64(),
}
SCHEMA = Schema([Field(name, type_, nullable=True) for name, type_ in _TYPES.items()])
_Value = TypeVar("_Value")
_COMPRESSION = "zstd(3)"
_ROWS_IN_MEMORY = 1 << 18
_MAGIC = b"PAR1"
_ROWS_READ = 1 << 14


def write_trace(batches: Iterable[RecordBatch], file: IO[bytes]) -> None:
    """Write batches as they come; at most a row group of them is in memory.

    OSError if the file cannot be written; then no further batch is taken. An error of ``batches``
    propagates.
    """
    checked = _CheckedFile(file)
    reader = RecordBatchReader.from_batches(SCHEMA, checked.take(batches))
    out = cast("IO[bytes]", checked)
    write_parquet(reader, out, compression=_COMPRESSION, max_row_group_size=_ROWS_IN_MEMORY)
    checked.flush()
    if checked.error is not None:
        raise checked.error


@dataclass
class _CheckedFile:
    """A file that keeps the first error: arro3 panics if a write fails, and hides other errors."""

    file: IO[bytes]
    error: BaseException | None = None

    def take(self, batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
        """Yield batches until an error."""
        try:
            yield from takewhile(lambda _: self.error is None, batches)
        except BaseException as error:  # noqa: BLE001 - it is raised by the caller
            self.error = error

    def write(self, content: bytes) -> int:
        """Write unless an error came before."""
        self._try(lambda: self.file.write(content))
        return len(content)

    def flush(self) -> None:
        """Flush unless an error came before."""
        self._try(self.file.flush)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move the position, for which arro3 asks."""
        return self.file.seek(offset, whence)

    def _try(self, act: Callable[[], object]) -> None:
        if self.error is None:
            try:
                act()
            except OSError as error:
                self.error = error


def read_trace(path: Path) -> Iterator[BlockEvent]:
    """Yield the events of a regular file, as a FIFO would wait. UsageError if it is no trace."""
    if not path.is_file():
        raise _not_a_trace(path, "another kind of file" if path.exists() else "no such file")
    if _guard(path, lambda: read_named(path, len(_MAGIC))) != _MAGIC:
        raise _not_a_trace(
            path, "it is empty" if not path.stat().st_size else "it is no Parquet file"
        )
    batches = _guard(path, lambda: read_parquet(path, batch_size=_ROWS_READ))
    missing = [name for name in _TYPES if name not in batches.schema.names]
    if missing:
        raise _not_a_trace(path, f"no columns {', '.join(missing)}")
    while (batch := _guard(path, lambda: next(batches, None))) is not None:
        yield from list_events([batch])


def list_events(batches: Iterable[RecordBatch]) -> Iterator[BlockEvent]:
    """Yield the events of batches."""
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in BlockEvent._fields)
        yield from map(BlockEvent._make, zip(*columns, strict=True))


def _guard(path: Path, read: Callable[[], _Value]) -> _Value:
    try:
        return read()
    except OSError as error:
        raise _not_a_trace(path, error.strerror or str(error)) from error
    except BaseException as error:
        # arro3 panics where a file has a damaged footer, and its panic is not an Exception.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise _not_a_trace(path, "it is a damaged Parquet file") from error
        raise


def _not_a_trace(path: Path, found: str) -> UsageError:
    return UsageError(
        "a file that `iostudy trace record` has written",
        found=found,
        where=str(path),
        remedy="name the Parquet file of a trace",
    )
