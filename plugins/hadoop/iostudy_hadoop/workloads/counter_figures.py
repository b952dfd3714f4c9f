"""Figures from the counters of MapReduce jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from iostudy.errors import WorkloadError
from iostudy.workloads.definition import Figure
from iostudy.workloads.measurement import BYTES
from iostudy_hadoop.tools.counters import Groups, Job
from iostudy_hadoop.workloads.job import HadoopRun

_FILE_SYSTEMS, _RECORDS = "File System Counters", "Map-Reduce Framework"
_GC, _CPU, _SPILLED = "GC time elapsed (ms)", "CPU time spent (ms)", "Spilled Records"
_SCHEMES = {"hdfs": "HDFS", "local": "FILE"}
_MS_PER_SECOND = 1000

TASK_FIGURES = (
    Figure("map_tasks", "tasks", "map tasks", False),
    Figure("reduce_tasks", "tasks", "reduce tasks", False),
    Figure("gc_time", "s", "time in the garbage collector, as counted by each task", False),
    Figure(
        "cpu_time",
        "s",
        "CPU time of the tasks; with the local runner that of its process",
        False,
    ),
)
"""Figures of `read_task_figures`: those of tasks, without their data."""

FIGURES = (
    Figure("hdfs_read", "B", "bytes that tasks read from HDFS", False),
    Figure("hdfs_written", "B", "bytes that tasks wrote to HDFS, without replication", False),
    Figure("local_read", "B", "bytes that tasks read from local folders", False),
    Figure("local_written", "B", "bytes that tasks wrote to local folders: spills", False),
    Figure("spilled_records", "records", "spilled records, counted at each spill", False),
    *TASK_FIGURES,
    Figure(
        BYTES,
        "B",
        "bytes moved by the jobs: reads from HDFS, writes times the replication, and I/O in "
        "local folders",
        True,
    ),
)
"""Figures of `read_figures`."""


def read_figures(ran: HadoopRun, replication: int) -> dict[str, float]:
    """Return the figures of a run, without those that its jobs did not count."""
    moved = _known({**_moved(ran.jobs, replication), "spilled_records": _sum(ran.jobs, _SPILLED)})
    return moved | read_task_figures(ran)


def read_task_figures(ran: HadoopRun) -> dict[str, float]:
    """Return the figures of tasks, without those that were not counted."""
    jobs = ran.jobs
    return _known(
        {
            "map_tasks": _added([job.maps for job in jobs]),
            "reduce_tasks": _added([job.reduces() for job in jobs]),
            "gc_time": _seconds(_sum(jobs, _GC)),
            "cpu_time": _cpu_seconds(ran),
        }
    )


def _known(figures: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in figures.items() if value is not None}


def count_records(ran: HadoopRun, name: str) -> int:
    """Return the number of records of that kind; WorkloadError if the jobs did not count them."""
    total = _sum(ran.jobs, name)
    if total is None:
        raise WorkloadError(
            f"the counter {name}",
            found=f"{len(ran.jobs)} jobs, which have not counted it",
            where=str(ran.ended.program),
            remedy="run it by hand, and see what its log has at the end",
        )
    return total


def _moved(jobs: Sequence[Job], replication: int) -> dict[str, float | None]:
    moved = {
        f"{name}_{past}": _bytes(jobs, f"{scheme}: Number of bytes {past}")
        for name, scheme in _SCHEMES.items()
        for past in ("read", "written")
    }
    replicated = _added([moved["hdfs_written"]] * replication)
    everything = _added([replicated, *(moved[n] for n in moved if n != "hdfs_written")])
    return {**moved, BYTES: everything}


def _bytes(jobs: Sequence[Job], name: str) -> int | None:
    """Return the bytes; for tasks in one process the largest value is the sum, see `Job.tasks`."""
    if any(job.is_local for job in jobs):
        tasks = [_file_systems(task, name) for job in jobs for task in job.tasks]
        return max(tasks, default=None)
    return _added([_file_systems(job.groups, name) for job in jobs])


def _file_systems(groups: Groups, name: str) -> int:
    """0 where nothing was done in that file system: then it is not listed."""
    return groups.get(_FILE_SYSTEMS, {}).get(name, 0)


def _cpu_seconds(ran: HadoopRun) -> float | None:
    if any(job.is_local for job in ran.jobs):
        return ran.ended.user_seconds + ran.ended.system_seconds
    return _seconds(_sum(ran.jobs, _CPU))


def _sum(jobs: Sequence[Job], name: str) -> int | None:
    return _added([job.count(_RECORDS, name) for job in jobs])


def _added(values: Sequence[int | None]) -> int | None:
    """Return the sum; None if a counter is missing, or without counters."""
    numbers = [value for value in values if value is not None]
    return sum(numbers) if values and len(numbers) == len(values) else None


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / _MS_PER_SECOND
