"""NNThroughputBenchmark: arguments and log parser (pure).

Source: org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark, Hadoop 3.4.2. A thread of it
that meets an exception logs it and ends; the benchmark then waits for that thread for ever. Nobody
there looks at what a renaming or deletion returns: what was done, the number of transactions tells.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from iostudy.hadoop.tools.results import NoResultError

MAIN_CLASS = "org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark"
NAMENODE_CLASS = "org.apache.hadoop.hdfs.server.namenode.NameNode"

_TRANSACTIONS: Mapping[str, int] = {
    "create": 1,
    "open": 2,
    "rename": 3,
    "delete": 3,
    "mkdirs": 1,
    "fileStatus": 2,
}
"""The least that the log has of each file: it is made and closed where it has to be there."""

ALONE_IN_LOG = frozenset(("create", "mkdirs"))
"""The operations before which no files are made, so that the whole log is theirs."""

_ERROR = re.compile(r"^\S+ \S+ (?:ERROR|FATAL) \S+: (?!Log level = )(.*)", re.MULTILINE)


@dataclass(frozen=True)
class NNThroughputRun:
    """One operation of NNThroughputBenchmark, in its own words, on ``files`` files or directories.

    Not -op all: it does every operation that it knows, block reports among them, makes the files of
    each anew into the same log, and tells no figure before the last has ended.
    """

    operation: str
    files: int
    threads: int
    files_per_directory: int

    def arguments(self) -> tuple[str, ...]:
        """The command line, for a name-node of its own; the local file system names no other."""
        files, per = ("-files", "-filesPerDir")
        if self.operation == "mkdirs":
            files, per = ("-dirs", "-dirsPerDir")
        options = {
            "-fs": "file:///",
            "-op": self.operation,
            "-threads": self.threads,
            files: self.files,
            per: self.files_per_directory,
        }
        return tuple(text for name, value in options.items() for text in (name, str(value)))

    def result(self, log: str) -> NNThroughputResult:
        """What the log tells; NoResultError if that is not whole, or not all that was asked for."""
        _, begin, report = log.rpartition(f"--- {self.operation} stats  ---")
        if not begin:
            raise NoResultError(f"no figures of {self.operation}")
        result = NNThroughputResult(
            operations=_count(report, "# operations"),
            milliseconds=_count(report, "Elapsed Time"),
            mean_milliseconds=_count(report, "Average Time"),
            transactions=_count(report, "Number of transactions"),
            syncs=_count(report, "Number of syncs"),
        )
        if result.operations != self.files:
            raise NoResultError(f"{result.operations} of {self.files} operations")
        least = self.files * _TRANSACTIONS[self.operation]
        if result.transactions < least:
            raise NoResultError(f"{result.transactions} transactions in its log, and not {least}")
        if not result.milliseconds:
            raise NoResultError("an elapsed time of 0 ms: too few files for its clock")
        return result


@dataclass(frozen=True)
class NNThroughputResult:
    """The figures of one operation.

    ``milliseconds`` lie between the start of the first thread and the end of the last,
    ``mean_milliseconds`` is the mean time of an operation without its fraction. ``transactions``
    and ``syncs`` are those of the name-node's whole life: what was made before, and removed after,
    is among them.
    """

    operations: int
    milliseconds: int
    mean_milliseconds: int
    transactions: int
    syncs: int


def find_errors(log: str) -> tuple[str, ...]:
    """What the lines of a log say that tell of errors; exceptions follow in lines of their own."""
    return tuple(_ERROR.findall(log))


def _count(text: str, label: str) -> int:
    found = re.search(rf"{re.escape(label)}: (\d+)(?!\S)", text)
    if found is None:
        raise NoResultError(f"no {label!r}")
    return int(found[1])
