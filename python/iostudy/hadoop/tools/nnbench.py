"""NNBench: arguments and output parser (pure).

Source: org.apache.hadoop.hdfs.NNBench, which prints the same lines in Hadoop 0.20 to 3.4. What they
are worth has changed: up to 2.7, maps of the same host work on the same files; up to 2.x, files
that could not be renamed or deleted count as done, and exceptions do not show in the exit code. In
3.x a map that misses the barrier begins at once and is counted nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from iostudy.hadoop.tools.results import NoResultError

MAIN_CLASS = "org.apache.hadoop.hdfs.NNBench"
RESULT_FILE = "NNBench_results.log"
"""Written into its working directory; another run adds to it."""

Operation = Literal["create_write", "open_read", "rename", "delete"]

LATENCIES: Mapping[Operation, tuple[str, ...]] = {
    "create_write": ("create", "close"),
    "open_read": ("open", "read"),
    "rename": ("rename",),
    "delete": ("delete",),
}
"""The steps of each operation whose mean latency is told; "read" only if files are read."""

TRANSACTIONS: Mapping[Operation, int] = {
    "create_write": 2,
    "open_read": 1,
    "rename": 1,
    "delete": 1,
}
"""What one file counts in TPS."""

_WAITING = re.compile(r"Waiting in barrier for: \d+ ms")
_BEGIN = "-------------- NNBench --------------"


@dataclass(frozen=True)
class NNBenchRun:
    """A run of NNBench, with its own options' names and units.

    It is not asked for reduces: of several it reads the output of the first alone, and loses
    exceptions, operations and times that went to the others.
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
        """The command line; the start is a whole number of seconds since the epoch."""
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
    """The lines of one result, whether the run is worth something or not.

    ``transactions_per_second`` (TPS) has lost its fraction. ``mean_milliseconds`` is what a file
    took its map, ``latencies_milliseconds`` what each step of that took; both can be infinite or
    no number. ``map_milliseconds`` is the sum of the times of all maps, and
    ``longest_milliseconds`` lies between the first map's start and the last one's end.
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
        """How many of all maps were at work on average, as a share.

        1 if all of them began and ended at the same time; a map that was late takes it down. 0 if
        they took no time that the clock could tell.
        """
        if not self.longest_milliseconds:
            return 0.0
        return self.map_milliseconds / (maps * self.longest_milliseconds)


def parse(text: str) -> NNBenchResult:
    """The last result in a result file or in a log; NoResultError if it is not whole."""
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
    """How many maps waited in the barrier, as the log of their processes has it."""
    return len(_WAITING.findall(log))


def _value(text: str, label: str) -> str:
    found = re.search(rf"(?:^|\s){label}: (\S+)\s*$", text, re.MULTILINE)
    if found is None:
        raise NoResultError(f"no line {label.replace(chr(92), '')!r}")
    return found[1]


def _number(text: str) -> float:
    """As Java writes it: also ``Infinity`` and ``NaN``, which Python reads."""
    return float(text)
