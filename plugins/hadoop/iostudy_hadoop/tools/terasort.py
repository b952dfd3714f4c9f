"""TeraGen, TeraSort and TeraValidate: arguments and checksum parsers (pure).

Source: org.apache.hadoop.examples.terasort, the same in Hadoop 2.x and 3.x.
"""

from __future__ import annotations

from iostudy_hadoop.tools.counters import Job
from iostudy_hadoop.tools.results import NoResultError

REPORT = "part-r-00000"
"""The output of TeraValidate's only reduce task."""

_PACKAGE = "org.apache.hadoop.examples.terasort"
GEN, SORT, VALIDATE = (f"{_PACKAGE}.{name}" for name in ("TeraGen", "TeraSort", "TeraValidate"))

_MOST_ERRORS = 3


def teragen_arguments(rows: int, maps: int, into: str) -> tuple[str, ...]:
    """Return the arguments of TeraGen; the number of map tasks is a hint to Hadoop."""
    return (f"-Dmapreduce.job.maps={maps}", str(rows), into)


def terasort_arguments(reduces: int, replication: int, rows: str, into: str) -> tuple[str, ...]:
    """Return the arguments of TeraSort; ``replication`` is that of its output."""
    replicas = f"-Dmapreduce.terasort.output.replication={replication}"
    return (f"-Dmapreduce.job.reduces={reduces}", replicas, rows, into)


def generated_checksum(job: Job) -> str:
    """Return the checksum of TeraGen's rows in the form of TeraValidate."""
    counted = job.count(f"{GEN}$Counters", "CHECKSUM")
    if counted is None:
        raise NoResultError(f"{job.name} has not counted the checksum of its rows")
    return f"{counted % (1 << 64):x}"


def reported_checksum(report: str) -> str:
    """Return the checksum of sorted rows; NoResultError describes errors in them."""
    entries = [line.partition("\t") for line in report.splitlines()]
    errors = [what for key, _, what in entries if key == "error"]
    if errors:
        first = "; ".join(errors[:_MOST_ERRORS])
        raise NoResultError(f"{len(errors)} errors in the rows, the first: {first}")
    checksums = [value.strip() for key, _, value in entries if key == "checksum"]
    if len(checksums) != 1:
        raise NoResultError(f"{len(checksums)} checksums in the report, and not one")
    return checksums[0]
