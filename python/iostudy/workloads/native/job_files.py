"""Creation, reading, writing, checks and truncation of the files of a native job."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from iostudy import units
from iostudy._native import FileJob, JobResult
from iostudy.errors import WorkloadError
from iostudy.job import JobSpec
from iostudy.workloads.core_errors import io_error, translate_core_errors
from iostudy.workloads.workload import Place

DIRECT_ALIGNMENT = 4096
"""Alignment of direct I/O in bytes: no common device has larger blocks."""

_USUAL_RECORD_BYTES = units.MIB


def refuse_misfit(size: int, record_size: int, *, direct: bool) -> None:
    """ValueError for records that do not fit into files, or direct I/O that is not aligned."""
    if record_size > size:
        raise ValueError("record_size is larger than size; make it smaller")
    if direct and (record_size % DIRECT_ALIGNMENT or size % DIRECT_ALIGNMENT):
        raise ValueError(
            f"direct I/O needs size and record_size to be multiples of {DIRECT_ALIGNMENT} bytes, "
            "for it moves whole blocks of the device; round them, or turn direct off"
        )


def run_job(spec: JobSpec, place: Place, doing: str) -> JobResult:
    """Run a job and see that its files are still there; WorkloadError says what failed.

    ``doing`` is such as "to read the files of the workload".
    """
    job = FileJob(spec)
    with translate_core_errors(doing, place.directory):
        result = place.run(job)
    require_present((Path(path) for paths in spec.threads for path in paths), place)
    return result


def build_write_job(
    threads: tuple[tuple[str, ...], ...], size: int, seed: int, compressible: float
) -> JobSpec:
    """A job that rewrites every file as a whole."""
    return JobSpec(
        threads=threads,
        operation="write",
        create=True,
        file_bytes=size,
        record_bytes=min(size, _USUAL_RECORD_BYTES),
        seed=seed,
        compressible=compressible,
    )


def write_files(spec: JobSpec, place: Place) -> None:
    """Carry a job of `build_write_job` out to the disk, unmeasured."""
    doing = "to write the files that the workload needs"
    run_job(replace(spec, sync="fsync"), place, doing)


def require_present(paths: Iterable[Path], place: Place, size: int | None = None) -> None:
    """WorkloadError for a missing file or one of another size.

    An open file can be written and read after its removal without an error.
    """
    for path in paths:
        try:
            size_now = place.machine.size(path)
        except OSError as error:
            raise io_error("to find the files of the workload", error, place.directory) from error
        if size is not None and size_now != size:
            raise WorkloadError(
                f"a file of {size} bytes",
                found=f"{size_now} bytes ({path})",
                where=str(place.directory),
                remedy="make sure that no other program changes the files while the workload runs",
            )
