"""Job counters, parsed from the output of the job client (pure).

Format: Job.monitorAndPrintJob and AbstractCounters.toString of Apache Hadoop 2.x and 3.x, logged at
level INFO. Groups and counters have display names, such as ``File System Counters`` and ``HDFS:
Number of bytes read``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

Groups = Mapping[str, Mapping[str, int]]
"""Values by group and name, both stripped of blanks."""

_OF_JOBS, _OF_RECORDS = "Job Counters", "Map-Reduce Framework"

_SPLITS = re.compile(r"number of splits:(\d+)")
_BEGUN = re.compile(r"Running job: (job_\w+)")
_ENDED = re.compile(r"Job (job_\w+) (?:completed successfully|failed with state \w+ due to: *(.*))")
_HEAD = re.compile(r"(?:Final Counters for (attempt_\w+): )?Counters: (\d+)\s*$")
_TIMES = (
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d,\d{3}"), "%Y-%m-%d %H:%M:%S,%f"),
    (re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d"), "%y/%m/%d %H:%M:%S"),
)


class NoCountersError(Exception):
    """Counters are missing or incomplete; the text quotes what is there."""


@dataclass(frozen=True)
class Job:
    """A job and its counters.

    ``maps`` is the number of its input splits, each of which is a map task. ``seconds`` run
    from its submission until the client learns of its end; None if log lines have no time.
    ``failure`` is the cause of a failure, otherwise empty.

    ``tasks`` has the counters of each task of a local runner. All its tasks share one process,
    and their file system counters are totals since its start: the largest is the total.
    """

    name: str
    maps: int | None
    seconds: float | None
    groups: Groups
    failure: str | None = None
    tasks: tuple[Groups, ...] = field(default=(), repr=False)

    @property
    def is_local(self) -> bool:
        """Whether it ran in the single process of the local runner."""
        return self.name.startswith("job_local")

    def count(self, group: str, name: str) -> int | None:
        """Return the value; None if the job has no such counter."""
        return self.groups.get(group, {}).get(name)

    def reduces(self) -> int | None:
        """Return the number of its reduce tasks; None if the counters do not give it."""
        shuffled = self.count(_OF_RECORDS, "Shuffled Maps")
        if shuffled is None:  # only a job without reduce tasks does not count them
            return 0 if _OF_RECORDS in self.groups else None
        return shuffled // self.maps if self.maps else None


def parse(text: str) -> tuple[Job, ...]:
    """Return all completed jobs in order; jobs run one after another.

    NoCountersError if a job has no counters, or fewer than its heading says.
    """
    reader = _Reader()
    lines = iter(text.splitlines())
    line = next(lines, None)
    while line is not None:
        head = _HEAD.search(line)
        if head is None:
            reader.read(line)
            line = next(lines, None)
        else:
            groups, line = _groups(lines, int(head[2]))
            reader.counted(groups, is_task=head[1] is not None)
    return reader.jobs()


class _Reader:
    """The state of the parser."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []
        self._maps: int | None = None
        self._begun: datetime | None = None
        self._tasks: list[Groups] = []
        self._ended: tuple[str, float | None, str | None] | None = None

    def read(self, line: str) -> None:
        if splits := _SPLITS.search(line):
            self._maps = int(splits[1])
        elif _BEGUN.search(line):
            self._begun = _time(line)
        elif ended := _ENDED.search(line):
            self._require_counted()
            at = _time(line)
            seconds = (at - self._begun).total_seconds() if at and self._begun else None
            self._ended = (ended[1], seconds, ended[2])

    def counted(self, groups: Groups, *, is_task: bool) -> None:
        if is_task:
            self._tasks.append(groups)
        elif self._ended:
            name, seconds, failure = self._ended
            job = Job(name, self._maps, seconds, groups, failure, tuple(self._tasks))
            self._jobs.append(job)
            self._maps, self._begun, self._ended, self._tasks = None, None, None, []

    def jobs(self) -> tuple[Job, ...]:
        self._require_counted()
        return tuple(self._jobs)

    def _require_counted(self) -> None:
        if self._ended:
            raise NoCountersError(f"{self._ended[0]} has ended, and its counters are not reported")


def _groups(lines: Iterator[str], wanted: int) -> tuple[Groups, str | None]:
    """Return the counters up to the first other line, and that line."""
    groups: dict[str, dict[str, int]] = {}
    group: dict[str, int] = {}
    line = next(lines, None)
    while line is not None and line.startswith("\t"):
        name, is_counter, value = line.strip().rpartition("=")
        if is_counter and line.startswith("\t\t"):
            group[name.strip()] = int(value)
        else:
            group = groups.setdefault(line.strip(), {})
        line = next(lines, None)
    count = sum(map(len, groups.values()))
    if count != wanted:
        raise NoCountersError(f"{wanted} counters are announced, and {count} follow")
    return groups, line


def _time(line: str) -> datetime | None:
    for pattern, form in _TIMES:
        if match := pattern.match(line):
            return datetime.strptime(match[0].replace("T", " "), form)
    return None


def describe_problems(jobs: Sequence[Job]) -> tuple[str, ...]:
    """Describe why these jobs are not valid; empty if they are.

    A task that failed or ran more than once did extra work. An attempt killed before its start
    did none. The local runner counts no attempts: each task has one, and the job fails with it.
    """
    return tuple(reason for job in jobs for reason in _reasons(job))


def _reasons(job: Job) -> Iterator[str]:
    if job.failure is not None:
        yield f"{job.name} failed: {job.failure or 'it does not say why'}"
        return
    for kind, tasks in (("map", job.maps), ("reduce", job.reduces())):
        failed, killed, launched = (
            job.count(_OF_JOBS, f"{what} {kind} tasks") or 0
            for what in ("Failed", "Killed", "Launched")
        )
        if failed:
            yield f"{job.name}: {failed} attempts of {kind} tasks failed"
        if tasks is None and killed:
            yield f"{job.name}: {killed} attempts of {kind} tasks were killed"
        elif tasks is not None and launched > tasks + failed:
            yield (
                f"{job.name}: {launched - tasks - failed} attempts more than the {tasks} {kind} "
                "tasks were started (speculatively, or because a node was lost)"
            )
