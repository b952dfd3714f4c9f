"""iozone's operations, and the cells of its matrix (pure).

Source: iozone(1), version 3.506.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from iostudy import units
from iostudy.job import JobSpec, Method, Order

LARGE_FILE_BYTES = 32 * units.MIB
SMALLEST_RECORD_OF_LARGE_BYTES = 64 * units.KIB
"""From this file size on, -a skips smaller records, unless -z is given."""


class IozoneOperation(StrEnum):
    """The timed operations, in iozone's order."""

    WRITE = "write"
    REWRITE = "rewrite"
    READ = "read"
    REREAD = "reread"
    RANDOM_READ = "random_read"
    RANDOM_WRITE = "random_write"
    BACKWARD_READ = "backward_read"
    RECORD_REWRITE = "record_rewrite"
    STRIDED_READ = "strided_read"
    FWRITE = "fwrite"
    FREWRITE = "frewrite"
    FREAD = "fread"
    FREREAD = "freread"
    PWRITE = "pwrite"
    PREAD = "pread"


@dataclass(frozen=True)
class MatrixCell:
    """One operation with one file size and one record size."""

    operation: IozoneOperation
    file_bytes: int
    record_bytes: int


@dataclass(frozen=True)
class AccessMethod:
    """The access method of an operation; ``creates``: it starts with its own files."""

    writes: bool
    method: Method
    order: Order = "sequential"
    creates: bool = False


ACCESS_METHODS = {
    IozoneOperation.WRITE: AccessMethod(True, "seek", creates=True),
    IozoneOperation.REWRITE: AccessMethod(True, "seek"),
    IozoneOperation.READ: AccessMethod(False, "seek"),
    IozoneOperation.REREAD: AccessMethod(False, "seek"),
    IozoneOperation.RANDOM_READ: AccessMethod(False, "seek", "random"),
    IozoneOperation.RANDOM_WRITE: AccessMethod(True, "seek", "random"),
    IozoneOperation.BACKWARD_READ: AccessMethod(False, "seek", "reverse"),
    IozoneOperation.RECORD_REWRITE: AccessMethod(True, "seek"),
    IozoneOperation.STRIDED_READ: AccessMethod(False, "seek", "strided"),
    IozoneOperation.FWRITE: AccessMethod(True, "stdio", creates=True),
    IozoneOperation.FREWRITE: AccessMethod(True, "stdio"),
    IozoneOperation.FREAD: AccessMethod(False, "stdio"),
    IozoneOperation.FREREAD: AccessMethod(False, "stdio"),
    IozoneOperation.PWRITE: AccessMethod(True, "psync", creates=True),
    IozoneOperation.PREAD: AccessMethod(False, "psync"),
}


def doubling_sizes(smallest: int, largest: int) -> tuple[int, ...]:
    """The smallest size, twice that, and so on up to the largest."""
    sizes = []
    while smallest <= largest:
        sizes.append(smallest)
        smallest *= 2
    return tuple(sizes)


def build_cells(
    operations: tuple[IozoneOperation, ...],
    file_sizes: tuple[int, ...],
    record_sizes: tuple[int, ...],
    *,
    all_records: bool,
) -> Iterator[MatrixCell]:
    """Return each cell in iozone's order: by file size, by record size, by operation."""
    for file_bytes in file_sizes:
        for record_bytes in record_sizes:
            is_small = record_bytes < SMALLEST_RECORD_OF_LARGE_BYTES
            is_skipped = file_bytes >= LARGE_FILE_BYTES and is_small and not all_records
            if record_bytes <= file_bytes and not is_skipped:
                for operation in sorted(operations, key=list(IozoneOperation).index):
                    yield MatrixCell(operation, file_bytes, record_bytes)


def build_job(cell: MatrixCell, paths: tuple[str, ...], *, stride: int, seed: int) -> JobSpec:
    """Return the engine's request of a cell: a thread per path, timed or not."""
    how = ACCESS_METHODS[cell.operation]
    again = cell.operation is IozoneOperation.RECORD_REWRITE
    return JobSpec(
        threads=tuple((path,) for path in paths),
        operation="write" if how.writes else "read",
        create=how.creates,
        method=how.method,
        order=how.order,
        step=stride,
        # The first record, as often as the file has records.
        file_bytes=cell.record_bytes if again else cell.file_bytes,
        total_bytes=cell.file_bytes if again else None,
        record_bytes=cell.record_bytes,
        seed=seed,
    )
