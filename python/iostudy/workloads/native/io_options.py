"""Options of the io workload: all that the native engine supports."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from iostudy import units
from iostudy._native import FileJob
from iostudy.job import Advice, Arrival, JobSpec, Method, Operation, Order, SyncCall
from iostudy.workloads.directories import PlaceNames
from iostudy.workloads.native.job_files import refuse_misfit
from iostudy.workloads.option_types import Count, Options, Pause, Percent, Seconds, Size, at_most

MAX_RECORD_BYTES = units.GIB
"""Largest record: Linux moves at most 2 GiB less a page per call (read(2), write(2))."""

_MAX_FILES = 1_000_000
"""Most files of all jobs: an inode each, of which ext4 has that many on 16 GiB."""

_MAX_BUFFER_BYTES = 64 * units.GIB
"""Largest total of concurrent records: more would be a study of memory."""

_MAX_RATE = 10**9
"""Highest rate in records per second: one per nanosecond, the clock's resolution."""


class IoOptions(Options):
    """Options of io."""

    operation: Operation = Field(
        "read", description="read, write, or mix: read_percent of the records are read"
    )
    read_percent: Annotated[int, Field(ge=1, le=99)] = Field(
        50, description="with mix: how many of 100 records are read; the others are written"
    )
    overwrite: bool = Field(
        default=False,
        description="write into files that are there and full, as mix always does, instead of into "
        "new ones",
    )
    order: Order = Field(
        "sequential",
        description="in which order a job takes the records of all its files: sequential; reverse; "
        "strided (every step-th, then those after them, until all are taken); skip (every step-th, "
        "the others never); random (each once, shuffled anew for every pass); zipf (some far more "
        "often than others)",
    )
    step: Count = Field(2, description="with strided and skip: from record to record, in records")
    zipf_exponent: Annotated[float, Field(gt=0, le=10)] = Field(
        1.0, description="with zipf: the record of rank r comes with a frequency of r^-exponent"
    )
    record_size: Annotated[Size, at_most(MAX_RECORD_BYTES, units.format_size)] = Field(
        units.MIB, description="bytes of one read or write"
    )
    jobs: Annotated[int, Field(ge=1, le=4096)] = Field(
        1, description="threads, each with its files"
    )
    files: Annotated[int, Field(ge=1, le=65536)] = Field(1, description="files of each job")
    size: Size = Field(256 * units.MIB, description="size of each file")
    directories: PlaceNames = Field(
        (),
        description="places over which the files of all jobs are dealt out in turn: target, names "
        "of further disks of the study, and absolute paths of directories; there the study makes "
        "a folder and removes it at the end; by default all files are in the target",
    )
    engine: Method = Field(
        "psync",
        description="psync: pread(2) and pwrite(2); seek: lseek(2) with read(2) and write(2); "
        "stdio: fread(3) and fwrite(3), with the C library's own buffer; io_uring: io_uring(7), "
        "with depth records of each job under way (psync where the kernel forbids it, with a note)",
    )
    depth: Annotated[int, Field(ge=1, le=4096)] = Field(
        1, description="with io_uring: records of each job under way at once"
    )
    submit_batch: Annotated[int, Field(ge=1, le=4096)] = Field(
        1,
        description="with io_uring: how many records end before as many others are begun with one "
        "system call; at most depth",
    )
    sqpoll: bool = Field(
        default=False, description="with io_uring: a kernel thread takes the records (SQPOLL)"
    )
    iopoll: bool = Field(
        default=False,
        description="with io_uring and direct: poll the device for what has ended (IOPOLL)",
    )
    direct: bool = Field(
        default=False, description="O_DIRECT, past the page cache; sizes are multiples of 4096 then"
    )
    dsync: bool = Field(
        default=False, description="O_DSYNC: every write returns with its data on the disk"
    )
    sync: SyncCall | Literal["none"] = Field(
        "none",
        description="the call that ends every file, inside the measured time; the figures "
        "sync_latency_p50 to sync_latency_max are its latencies, which those of writes exclude",
    )
    sync_every: Annotated[int, Field(ge=0, le=10**9)] = Field(
        0, description="with sync: also after so many records that a job has written; 0: never"
    )
    allocate: bool = Field(
        default=False, description="fallocate(2) the room of every file before its first record"
    )
    advice: Advice | Literal["none"] = Field(
        "none", description="what posix_fadvise(2) says of every file when it is opened"
    )
    arrival: Arrival = Field(
        "closed",
        description="closed: a record begins when the one before has ended; even or poisson: rate "
        "records a second arrive however long those before take, evenly spaced or at random, and a "
        "latency counts from the arrival",
    )
    rate: Annotated[Count, at_most(_MAX_RATE, units.format_count)] | None = Field(
        None, description="records a second of each job: with closed the most, else as many"
    )
    think: Pause = Field(0.0, description="with closed: pause of a job between two records")
    slow_down: Percent = Field(
        0.0,
        description="a known slow-down, to try what a study finds: the job waits for as much of "
        "its time as lowers its rates by exactly this; with one job, one record under way and "
        "direct",
    )
    duration: Seconds | None = Field(
        None, description="how long, after the ramp; without it and total, once over all files"
    )
    total: Size | None = Field(None, description="bytes that each job moves, in whole records")
    ramp: Pause = Field(0.0, description="what ends in this time from the start is not counted")
    compressible: Percent = Field(
        0.0, description="how much of the files' content compresses to nothing"
    )
    verify: bool = Field(
        default=True,
        description="compare what is read with what was written: the stamp of every 4 KiB, and all "
        "bytes of every 64th",
    )

    @model_validator(mode="after")
    def _can_work(self) -> IoOptions:
        refuse_misfit(self.size, self.record_size, direct=self.direct)
        if self.duration is not None and self.total is not None:
            raise ValueError("duration and total both say when to end; give one of them")
        if self.duration == 0:
            raise ValueError("duration is 0; it must be more")
        if self.overwrite and self.operation == "read":
            raise ValueError("overwrite is for writing only")
        files, buffers = self.jobs * self.files, self.jobs * self.depth * self.record_size
        if files > _MAX_FILES:
            raise ValueError(f"{files} files of all jobs; at most {_MAX_FILES}")
        if buffers > _MAX_BUFFER_BYTES:
            taken, most = units.format_size(buffers), units.format_size(_MAX_BUFFER_BYTES)
            raise ValueError(f"jobs x depth x record_size take {taken} of memory; at most {most}")
        FileJob(self.spec((("a file",),), seed=0))  # the engine refuses what else cannot work
        return self

    @property
    def prepared(self) -> bool:
        """Whether the files exist before a trial."""
        return self.operation != "write" or self.overwrite

    @property
    def syncs(self) -> bool:
        """Whether separate calls sync the files."""
        return self.sync != "none"

    def spec(self, threads: tuple[tuple[str, ...], ...], seed: int) -> JobSpec:
        """Return the engine's request for these files."""
        return JobSpec(
            threads=threads,
            operation=self.operation,
            file_bytes=self.size,
            record_bytes=self.record_size,
            seed=seed,
            read_percent=self.read_percent,
            create=not self.prepared,
            order=self.order,
            step=self.step,
            zipf_exponent=self.zipf_exponent,
            total_bytes=self.total,
            seconds=self.duration,
            ramp_seconds=self.ramp,
            method=self.engine,
            depth=self.depth,
            submit_batch=self.submit_batch,
            sqpoll=self.sqpoll,
            iopoll=self.iopoll,
            direct=self.direct,
            dsync=self.dsync,
            sync=None if self.sync == "none" else self.sync,
            sync_every=self.sync_every,
            allocate=self.allocate,
            advice=None if self.advice == "none" else self.advice,
            think_seconds=self.think,
            slow_down=self.slow_down,
            rate=self.rate,
            arrival=self.arrival,
            compressible=self.compressible,
            verify=self.verify,
        )
