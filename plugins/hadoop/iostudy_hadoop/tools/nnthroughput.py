"""NNThroughputBenchmark: arguments and log parser (pure).

Source: org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark, Hadoop 3.4.2. After an
exception a thread logs it and ends, and the benchmark waits for it forever. It ignores the results
of renames and deletions; only the number of transactions shows what was done.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from iostudy_hadoop.tools.results import NoResultError

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
"""The minimum of log records per file, including its creation and closing where needed."""

ALONE_IN_LOG = frozenset(("create", "mkdirs"))
"""Operations without setup files, so that the whole log is theirs."""

_HARMLESS = "Log level = |Error getting localhost name"
"""Errors in the log that harm nothing: one of each start, and one where no DNS answers."""
_ERROR = re.compile(rf"^\S+ \S+ (?:ERROR|FATAL) \S+: (?!{_HARMLESS})(.*)", re.MULTILINE)


@dataclass(frozen=True)
class NNThroughputRun:
    """One operation of NNThroughputBenchmark on ``files`` files or directories.

    Never -op all: that runs every operation, including block reports, creates the files of each
    anew in the same log, and prints no figure before the last has ended.
    """

    operation: str
    files: int
    threads: int
    files_per_directory: int

    def arguments(self) -> tuple[str, ...]:
        """Return the command line, for a NameNode of its own on the local file system."""
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
        """Return the figures in the log; NoResultError if they are incomplete."""
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

    ``milliseconds`` lie between the start of the first thread and the end of the last.
    ``mean_milliseconds`` is the truncated mean time of an operation. ``transactions`` and
    ``syncs`` cover the whole life of the NameNode, including setup and removal.
    """

    operations: int
    milliseconds: int
    mean_milliseconds: int
    transactions: int
    syncs: int


def find_errors(log: str) -> tuple[str, ...]:
    """Return the log messages of errors; exceptions follow in separate lines."""
    return tuple(_ERROR.findall(log))


def _count(text: str, label: str) -> int:
    match = re.search(rf"{re.escape(label)}: (\d+)(?!\S)", text)
    if match is None:
        raise NoResultError(f"no {label!r}")
    return int(match[1])
