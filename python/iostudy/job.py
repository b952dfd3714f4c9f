"""Job specification of the native I/O engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Operation = Literal["write", "read", "mix"]
Order = Literal["sequential", "reverse", "strided", "skip", "random", "zipf"]
Method = Literal["psync", "seek", "stdio", "io_uring"]
SyncCall = Literal["fsync", "fdatasync"]
Advice = Literal["sequential", "random", "noreuse", "willneed", "dontneed"]
Arrival = Literal["closed", "even", "poisson"]


@dataclass(frozen=True)
class SimulationSetup:
    """Host and request queue of a simulated disk.

    ``scheduler`` and ``tunables`` have the names of sysfs, like the settings of the queue.
    ``rotational``: the queue is that of a disk. The ratios are percent of ``memory_bytes``.
    ``cpus`` have software queues, of which simulated threads use the first. ``hz`` is the tick rate
    of the kernel. With ``takes_ahead`` the driver takes one request more than the drive accepts, as
    that of a loop device does. ``seed`` fixes start times and the deviations of processor times.
    """

    scheduler: str
    rotational: bool
    seed: int
    nr_requests: int
    max_sectors_kb: int
    tunables: tuple[tuple[str, str], ...] = ()
    read_ahead_kb: int = 128
    nomerges: int = 0
    memory_bytes: int = 4 << 30
    dirty_background_ratio: int = 10
    dirty_ratio: int = 20
    hz: int = 1000
    takes_ahead: bool = False
    cpus: int = 1


@dataclass(frozen=True)
class TracedBio:
    """A bio of a recorded thread; positions in blocks of 512 bytes.

    With ``flushes`` the drive's cache is flushed before its data. It waits until ``after`` bios of
    its thread have completed, and then for its delay.
    """

    start: int
    sectors: int
    is_read: bool
    is_sync: bool
    flushes: bool
    after: int
    delay_ns: int


@dataclass(frozen=True)
class JobSpec:
    """Records of files, moved by threads; each thread has its own files, all as many.

    ``threads`` are the paths of each thread; a file's position among all of them and ``seed`` make
    its content. ``operation``: ``mix`` reads ``read_percent`` of the records and writes the others.
    ``create`` makes the files, or cuts them to nothing; else they must be there. Records of
    ``record_bytes`` go over ``file_bytes`` of each file, from ``begin_bytes`` on.

    ``order`` is over all files of a thread. ``strided`` takes every ``step``-th record, then those
    after them, until all are taken; ``skip`` omits what lies between. ``random`` takes each once,
    shuffled anew for every pass. ``zipf`` draws with a frequency of rank^-``zipf_exponent``. A
    thread ends after one pass, unless ``total_bytes`` (in as many passes as that takes) or
    ``seconds`` is given. Records that end in the first ``ramp_seconds`` are not counted.

    ``method``: ``psync`` is pread(2) and pwrite(2), ``seek`` is lseek(2) with read(2) and write(2).
    ``stdio`` is the C library's fread(3) and fwrite(3) with its own buffer, flushed after the last
    record. ``io_uring`` is io_uring(7) with ``depth`` records of each thread under way: it waits
    for ``submit_batch`` of them to end before it begins as many others with one system call. With
    ``sqpoll`` a thread of the kernel takes the records; with ``iopoll`` the device is polled until
    they end. If the kernel forbids io_uring, it is psync, with a note in the result.

    ``direct`` is O_DIRECT, ``dsync`` O_DSYNC. ``sync`` ends every file with that call, inside the
    measured time, and calls it after every ``sync_every`` records that a thread has written, if
    that is not 0. ``allocate`` is fallocate(2), ``advice`` posix_fadvise(2).

    A thread begins a record when the one before has ended, ``think_seconds`` later, or at most
    ``rate`` times a second. With ``slow_down``, a share, it waits for as much of its time as makes
    its rate lower by exactly that; this takes one thread, one record under way and ``direct``.
    With ``arrival`` ``even`` or ``poisson`` the loop is open: ``rate`` records a second arrive
    however long those before take, and a latency counts from the arrival.

    ``compressible`` is the share of the content that compresses to nothing, 0 to 1. ``verify``
    compares what is read with what was written: the stamp of every 4 KiB block, and the whole of
    every 64th.
    """

    threads: tuple[tuple[str, ...], ...]
    operation: Operation
    file_bytes: int
    record_bytes: int
    seed: int
    read_percent: int = 50
    create: bool = False
    begin_bytes: int = 0
    order: Order = "sequential"
    step: int = 1
    zipf_exponent: float = 1.0
    total_bytes: int | None = None
    seconds: float | None = None
    ramp_seconds: float = 0.0
    method: Method = "psync"
    depth: int = 1
    submit_batch: int = 1
    sqpoll: bool = False
    iopoll: bool = False
    direct: bool = False
    dsync: bool = False
    sync: SyncCall | None = None
    sync_every: int = 0
    allocate: bool = False
    advice: Advice | None = None
    think_seconds: float = 0.0
    slow_down: float = 0.0
    rate: float | None = None
    arrival: Arrival = "closed"
    compressible: float = 0.0
    verify: bool = True
