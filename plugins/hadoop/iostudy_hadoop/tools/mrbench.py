"""MRBench: arguments and output parser (pure).

Source: org.apache.hadoop.mapred.MRBench, which prints the same lines in Hadoop 0.20 to 3.4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from iostudy_hadoop.tools.results import NoResultError

MAIN_CLASS = "org.apache.hadoop.mapred.MRBench"

_JOB = re.compile(r"^\s*Total milliseconds for task: (\d+) = (\d+)\s*$", re.MULTILINE)
_TABLE = re.compile(
    r"^\s*DataLines\s+Maps\s+Reduces\s+AvgTime \(milliseconds\)\s*\n"
    r"\s*\d+\s+\d+\s+\d+\s+(\d+)\s*$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class MRBenchRun:
    """A run of MRBench, with MRBench's option names."""

    jobs: int
    maps: int
    reduces: int
    input_lines: int
    input_type: str

    def arguments(self, base_dir: str) -> tuple[str, ...]:
        """Return the command line, which requests the time of every job."""
        options = {
            "baseDir": base_dir,
            "numRuns": self.jobs,
            "maps": self.maps,
            "reduces": self.reduces,
            "inputLines": self.input_lines,
            "inputType": self.input_type,
        }
        named = (text for name, value in options.items() for text in (f"-{name}", str(value)))
        return (*named, "-verbose")


@dataclass(frozen=True)
class MRBenchResult:
    """The mean, truncated to whole milliseconds, and the times of all jobs in order."""

    mean_milliseconds: int
    job_milliseconds: tuple[int, ...]


def parse(text: str, jobs: int) -> MRBenchResult:
    """Return the result in the output; NoResultError if it lacks any of the ``jobs``."""
    table = _TABLE.search(text)
    if table is None:
        raise NoResultError("no table with AvgTime (milliseconds)")
    report = _JOB.findall(text)
    numbers = [int(number) for number, _ in report]
    if numbers != list(range(1, jobs + 1)):
        raise NoResultError(f"the times of {len(report)} jobs instead of {jobs}")
    result = MRBenchResult(int(table[1]), tuple(int(milliseconds) for _, milliseconds in report))
    if sum(result.job_milliseconds) // jobs != result.mean_milliseconds:
        raise NoResultError(f"jobs whose mean is {result.mean_milliseconds} ms, as the table says")
    return result
