"""NNBench: arguments and output parser (pure).

Source: org.apache.hadoop.hdfs.NNBench, which prints the same lines in Hadoop 0.20 to 3.4. Their
meaning differs. Up to 2.7, maps of one host use the same files. Up to 2.x, files that could not be
renamed or deleted count as done, and exceptions do not change the exit code. In 3.x a map that
misses the barrier starts at once and is not counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from iostudy_hadoop.tools.results import NoResultError

MAIN_CLASS = "org.apache.hadoop.hdfs.NNBench"
RESULT_FILE = "NNBench_results.log"
"""Written to its working directory; runs append to it."""

Operation = Literal["create_write", "open_read", "rename", "delete"]

LATENCIES: Mapping[Operation, tuple[str, ...]] = {
    "create_write": ("create", "close"),
    "open_read": ("open", "read"),
    "rename": ("rename",),
    "delete": ("delete",),
}
"""The steps of each operation with a mean latency; "read" only if files are read."""

TRANSACTIONS: Mapping[Operation, int] = {
    "create_write": 2,
    "open_read": 1,
    "rename": 1,
    "delete": 1,
}
"""Transactions per file in TPS."""

_WAITING = re.compile(r"Waiting in barrier for: \d+ ms")
_BEGIN = "-------------- NNBench --------------"


@dataclass(frozen=True)
class NNBenchRun:
    """A run of NNBench, with NNBench's option names and units.

    It always uses one reduce task: NNBench reads only the output of the first, and loses
    exceptions, operations and times of the others.
    """

    operation: Operation
    maps: int
    files: int
    block_bytes: int
    bytes_to_write: int
    bytes_per_checksum: int
    replication: int
    read_after_open: bool

    def arguments(self, base_dir: str, start_time_seconds: int) -> tuple[str, ...]:
        """Return the command line; the start is in whole seconds since the epoch."""
        options = {
            "operation": self.operation,
            "maps": self.maps,
            "reduces": 1,
            "startTime": start_time_seconds,
            "blockSize": self.block_bytes,
            "bytesToWrite": self.bytes_to_write,
            "bytesPerChecksum": self.bytes_per_checksum,
            "numberOfFiles": self.files,
            "replicationFactorPerFile": self.replication,
            "baseDir": base_dir,
            "readFileAfterOpen": str(self.read_after_open).lower(),
        }
        return tuple(text for name, value in options.items() for text in (f"-{name}", str(value)))


@dataclass(frozen=True)
class NNBenchResult:
    """The lines of one result, valid or not.

    ``transactions_per_second`` (TPS) is truncated. ``mean_milliseconds`` is the mean time per
    file in a map, ``latencies_milliseconds`` that of each step; both can be infinite or NaN.
    ``map_milliseconds`` is the sum of the times of all maps. ``longest_milliseconds`` lie
    between the start of the first map and the end of the last.
    """

    operation: str
    successful: int
    late_maps: int
    exceptions: int
    transactions_per_second: int
    mean_milliseconds: float
    latencies_milliseconds: tuple[float, ...]
    map_milliseconds: int
    longest_milliseconds: float

    def overlap(self, maps: int) -> float:
        """Return the mean share of maps that ran at the same time.

        1 if all started and ended together; a late map lowers it. 0 if the clock shows no
        time.
        """
        if not self.longest_milliseconds:
            return 0.0
        return self.map_milliseconds / (maps * self.longest_milliseconds)


def parse(text: str) -> NNBenchResult:
    """Return the last result of a result file or log; NoResultError if it is incomplete."""
    _, begin, last = text.rpartition(_BEGIN)
    if not begin:
        raise NoResultError(f"no line {_BEGIN!r}")
    steps = re.findall(r" Avg Lat \(ms\): [\w/]+: (\S+)$", last, re.MULTILINE)
    return NNBenchResult(
        operation=_value(last, r"Test Operation"),
        successful=int(_value(last, r"Successful file operations")),
        late_maps=int(_value(last, r"# maps that missed the barrier")),
        exceptions=int(_value(last, r"# exceptions")),
        transactions_per_second=int(_value(last, r"TPS: [\w/]+")),
        mean_milliseconds=_number(_value(last, r"Avg [Ee]xec time \(ms\): [\w/]+")),
        latencies_milliseconds=tuple(map(_number, steps)),
        map_milliseconds=int(_value(last, r"RAW DATA: TPS Total \(ms\)")),
        longest_milliseconds=_number(_value(last, r"RAW DATA: Longest Map Time \(ms\)")),
    )


def count_waiting_maps(log: str) -> int:
    """Return how many maps waited in the barrier, according to their log."""
    return len(_WAITING.findall(log))


def _value(text: str, label: str) -> str:
    match = re.search(rf"(?:^|\s){label}: (\S+)\s*$", text, re.MULTILINE)
    if match is None:
        raise NoResultError(f"no line {label.replace(chr(92), '')!r}")
    return match[1]


def _number(text: str) -> float:
    """Parse a number of Java, including ``Infinity`` and ``NaN``."""
    return float(text)
