"""TestDFSIO: arguments and parser of the result file (pure).

Source: org.apache.hadoop.fs.TestDFSIO, with the same results in Hadoop 2.x and 3.x. Its mb is 2^20
bytes. Some versions also print "Total Throughput mb/sec", which is wrong by a factor of 1000 and
ignored here.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from iostudy.units import MIB
from iostudy_hadoop.tools.results import NoResultError

MAIN_CLASS = "org.apache.hadoop.fs.TestDFSIO"

_HEAD = re.compile(r"^----- TestDFSIO ----- : (.+)$", re.MULTILINE)
_ROUNDED_MIB = 0.01
_FLOAT_ROUNDING = 1e-6
"""Totals are rounded to hundredths of a MiB, from a Java float of 24 bits."""


class DfsioOperation(StrEnum):
    """The operation on each file, under its name in results."""

    WRITE = "write"
    READ = "read"
    APPEND = "append"
    TRUNCATE = "truncate"
    RANDOM_READ = "random read"
    BACKWARD_READ = "backward read"
    SKIP_READ = "skip read"


_OPTIONS = {
    DfsioOperation.WRITE: ("-write",),
    DfsioOperation.READ: ("-read",),
    DfsioOperation.APPEND: ("-append",),
    DfsioOperation.TRUNCATE: ("-truncate",),
    DfsioOperation.RANDOM_READ: ("-read", "-random"),
    DfsioOperation.BACKWARD_READ: ("-read", "-backward"),
    DfsioOperation.SKIP_READ: ("-read", "-skip"),
}


@dataclass(frozen=True)
class DfsioResult:
    """A result in TestDFSIO's units. ``stddev`` is over the files of this run."""

    operation: str
    files: int
    processed_mib: float
    throughput_mib_per_second: float
    average_mib_per_second: float
    stddev_mib_per_second: float
    exec_seconds: float


@dataclass(frozen=True)
class DfsioRun:
    """A run with TestDFSIO's option names; ``left_bytes`` is the size after a truncate.

    ``skip_bytes`` 0 means the size of the buffer.
    """

    operation: DfsioOperation
    files: int
    file_bytes: int
    buffer_bytes: int
    skip_bytes: int = 0
    left_bytes: int = 0
    compression: str | None = None
    storage_policy: str | None = None

    def arguments(self, base: str, results: Path) -> tuple[str, ...]:
        """Return the command line; ``base`` is its folder in HDFS."""
        size = self.left_bytes if self.operation is DfsioOperation.TRUNCATE else self.file_bytes
        options = {
            "-nrFiles": str(self.files),
            "-size": f"{size}B",
            "-bufferSize": str(self.buffer_bytes),
            "-skipSize": f"{self.skip_bytes}B" if self.skip_bytes else None,
            "-compression": self.compression,
            "-storagePolicy": self.storage_policy,
            "-resFile": str(results),
        }
        named = [text for name, value in options.items() if value for text in (name, value)]
        return (f"-Dtest.build.data={base}", *_OPTIONS[self.operation], *named)

    def result(self, text: str) -> DfsioResult:
        """Return this run's result; NoResultError if it is incomplete or of another run.

        Its numbers of files and bytes must match the request.
        """
        result = parse(text)
        least, most = self._processed_bytes()
        rounding = _ROUNDED_MIB + _FLOAT_ROUNDING * most / MIB
        is_whole = least / MIB - rounding <= result.processed_mib <= most / MIB + rounding
        if (result.operation, result.files) != (self.operation, self.files) or not is_whole:
            raise NoResultError(
                f"it is of {result.operation} with {result.files} files and {result.processed_mib} "
                f"MiB; requested was {self.operation} with {self.files} files and "
                f"{least / MIB:.2f} MiB" + (f" to {most / MIB:.2f} MiB" if most > least else "")
            )
        return result

    def _processed_bytes(self) -> tuple[int, int]:
        """Return the smallest and the largest possible total of bytes."""
        size, buffer = self.file_bytes, self.buffer_bytes
        match self.operation:
            case DfsioOperation.WRITE | DfsioOperation.READ | DfsioOperation.APPEND:
                least = most = size
            case DfsioOperation.TRUNCATE:
                least = most = size - self.left_bytes
            case DfsioOperation.RANDOM_READ | DfsioOperation.BACKWARD_READ:
                # Whole buffers until it is enough; less where one begins near the file's end.
                least, most = size, size + buffer - 1
            case DfsioOperation.SKIP_READ:
                starts = range(0, size, buffer + (self.skip_bytes or buffer))
                least = most = sum(min(buffer, size - start) for start in starts)
            case unreachable:
                assert_never(unreachable)
        return self.files * least, self.files * most


def parse(text: str) -> DfsioResult:
    """Return the last result of a file; NoResultError names what is missing."""
    heads = list(_HEAD.finditer(text))
    if not heads:
        raise NoResultError("there is no result of TestDFSIO")
    body = text[heads[-1].end() :]
    return DfsioResult(
        operation=heads[-1][1].strip(),
        files=round(_number(body, "Number of files")),
        processed_mib=_number(body, "Total MBytes processed"),
        throughput_mib_per_second=_number(body, "Throughput mb/sec"),
        average_mib_per_second=_number(body, "Average IO rate mb/sec"),
        stddev_mib_per_second=_number(body, "IO rate std deviation"),
        exec_seconds=_number(body, "Test exec time sec"),
    )


def _number(body: str, name: str) -> float:
    match = re.search(rf"^ *{re.escape(name)}: *(\S+) *$", body, re.MULTILINE)
    if match is None:
        raise NoResultError(f"the line {name!r} is missing")
    try:
        number = float(match[1])
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        # A file that took less than a millisecond has no rate.
        raise NoResultError(f"{name} is {match[1]}, which is no number")
    return number
