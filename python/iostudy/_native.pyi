"""Types of the Rust core."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from iostudy.job import JobSpec, SimulationSetup, SyncCall, TracedBio

class EngineError(OSError):
    """An I/O error of the engine: ``errno``, ``strerror`` and ``filename`` are set.

    A note names the system call and the byte offset.
    """

class VerificationError(Exception):
    """Data read back differ from what was written; the message names file and byte offset."""

class StoppedError(Exception):
    """The tick of a job stopped it before its end."""

SimulatedJob: TypeAlias = (
    FileJob
    | EventJobs
    | TeraGen
    | TeraSort
    | TeraValidate
    | ZipfText
    | WordCount
    | MetadataJob
    | MrBenchModel
)

class _RecordedRequest(Protocol):
    """A block request of a recorded run; times in seconds, positions in blocks of 512 bytes."""

    inserted: float
    completed: float
    process: int
    cpu: int
    start: int
    sectors: int
    is_read: bool
    is_sync: bool

SimulatedRounds: TypeAlias = tuple[list[tuple[Any, float, float]], tuple[float, int] | None]

@final
class SimulatedDisk:
    """A modelled drive with files, below a simulated host. The files begin at ``first_block``.

    ``volume`` makes it a volume over such drives: stripes, copies of each, sectors of a chunk, and
    whether reads are balanced among copies or go to the first. ``last`` is its last drive, if it
    differs from the others.
    """

    def __init__(
        self,
        model: DriveModel,
        first_block: int,
        volume: tuple[int, int, int, bool] | None = None,
        last: DriveModel | None = None,
    ) -> None: ...
    def size(self, path: str) -> int | None:
        """Return the size of a file in bytes; None if it is missing."""
    def lay_out(self, job: SimulatedJob) -> Any:
        """Make the files of a job in no time, and return its result. ValueError without room."""
    def place(self, path: str, start: int, size_bytes: int) -> None:
        """Make a file at block ``start``. ValueError beyond the end of the drive."""
    def replay(
        self, requests: Sequence[_RecordedRequest], setup: SimulationSetup
    ) -> list[tuple[int, float]]:
        """Let the scheduler choose at the recorded arrivals and completions.

        Returns the index of each request and the time of its dispatch in seconds from the first
        insertion, in the order of dispatch. ValueError for an unknown scheduler or tunable.
        """
    def check(self, setup: SimulationSetup) -> None:
        """Raise ValueError for a scheduler or a tunable that does not exist."""
    def run(
        self,
        jobs: Sequence[SimulatedJob],
        setup: SimulationSetup,
        *,
        repeat_others: bool = False,
        tick: Callable[[int], bool] | None = None,
    ) -> tuple[list[SimulatedRounds], list[tuple[str, float]], list[list[tuple[str, float]]]]:
        """Run jobs at the same time on the virtual clock, with an empty page cache and a new drive.

        With ``repeat_others`` all jobs but the first repeat until it has ended, which stops them.
        Returns the rounds of each job: result, start and end in seconds of each complete one, start
        and bytes of one that was stopped. Also returns the counters of the disk: those of
        /proc/diskstats, the time in which requests waited and the drive had none, and seeks. The
        tick gets numbers of events. Last are the same counters of each drive of a volume.
        ValueError for a job that cannot be simulated.
        """
    def replay_trace(
        self,
        replay: TraceReplay,
        setup: SimulationSetup,
        tick: Callable[[int], bool] | None = None,
    ) -> tuple[TraceReplayResult, list[tuple[str, float]]]:
        """Replay a trace on a new drive. Returns its figures and the counters of the disk.

        ValueError for a bio that the drive refuses.
        """

@final
class MrBenchModel:
    """Jobs of mrbench one after another, in ``directory`` of a simulated disk."""

    def __init__(
        self,
        directory: str,
        *,
        jobs: int,
        maps: int,
        reduces: int,
        fsync: bool,
        input_bytes: int,
    ) -> None: ...

@final
class TraceReplay:
    """The recorded bios of threads, which wait for completions of their thread."""

    def __init__(self, threads: Sequence[Sequence[TracedBio]]) -> None: ...
    def run(self, tick: Callable[[int], bool] | None = None) -> TraceReplayResult:
        """Raise RuntimeError: only `SimulatedDisk` replays a trace."""

@final
class TraceReplayResult:
    """Figures of a replay; latencies are from the submission of a bio to its completion."""

    @property
    def seconds(self) -> float:
        """Time from the start to the last completion."""
    @property
    def latencies(self) -> Latencies:
        """Latencies of all bios."""
    @property
    def read(self) -> IoStats:
        """Reads."""
    @property
    def write(self) -> IoStats:
        """Writes and flushes."""

@final
class DriveModel:
    """Model of a drive on a virtual clock. ``parameters`` is the JSON of ``drive_file.parameters``.

    Raises ValueError for parameters that the model does not know.
    """

    def __init__(self, parameters: str) -> None: ...
    def blocks(self) -> int:
        """Blocks of 512 bytes that the drive holds."""
    def replay(
        self,
        requests: Sequence[tuple[str, int, int, int]],
        depth: int,
    ) -> list[int]:
        """Response times of requests on a new drive, in nanoseconds.

        A request has its operation, first block, number of blocks, and the nanoseconds that the
        host idles before it. The host keeps ``depth`` requests in flight. Equal requests give equal
        responses. ValueError for a request that the drive refuses.
        """
    def start(self) -> RunningDrive:
        """Return a new drive that keeps its state between requests."""

@final
class RunningDrive:
    """A modelled drive whose clock continues from request to request."""

    def run(
        self,
        requests: Sequence[tuple[str, int, int, int]],
        depth: int,
    ) -> list[tuple[int, int]]:
        """Times of submission and completion on the drive's clock, in nanoseconds.

        Requests are those of ``DriveModel.replay``. Returns when all have completed.
        """

@final
class FileJob:
    """I/O job of a JobSpec: threads that read and write the records of files.

    Content is a pure function of ``seed``, the file's position among all and the offset. Raises
    ValueError for invalid values (no paths, zero sizes, a record larger than the file,
    O_DIRECT with sizes that are no multiples of 4096, fsync of a read, an unknown order).
    """

    def __init__(self, spec: JobSpec) -> None: ...
    def set_slow_down(self, share: float) -> None:
        """Change the slow-down of a repeated job, from any thread.

        It applies from the next completion on. ValueError for a share that is not from 0 up to 1,
        and for a job that cannot be slowed down.
        """
    def run(self, tick: Callable[[int], bool] | None = None) -> JobResult:
        """Run the job with the GIL released; signals are handled within 100 ms.

        ``tick`` is called about every 50 ms with the bytes transferred so far; the job stops when
        it returns False. Raises EngineError, VerificationError, StoppedError, or the exception of
        ``tick`` or a signal handler, after all threads have ended. Threads end after their current
        record; an fsync in progress cannot be interrupted.
        """
    def repeat(self, windows: WindowLog, tick: Callable[[int], bool] | None = None) -> None:
        """Repeat the passes, without ramp and end, until ``tick`` returns False.

        ``windows`` count reads, writes and syncs. Errors as with ``run``, without StoppedError.
        """

@final
class WindowLog:
    """Exact counts of a running job's operations in windows of time; it serves one job.

    A window has the operations that completed at or after its start and before its end, by the
    clock of the worker that noticed the completion. All methods may be called from any thread.
    """

    def __init__(self) -> None: ...
    def open(self, start: float, end: float) -> None:
        """Open a window by two readings of CLOCK_MONOTONIC in seconds.

        ValueError where it is empty, starts in the past, or starts before the end of the window
        opened before it.
        """
    def completed(self) -> list[list[IoStats]]:
        """Counts of the windows that all workers have passed since the last call, in order.

        Each has one IoStats per kind of operation, in the order that the job documents.
        """

@final
class Truncation:
    """Truncation of files to ``size`` bytes, one thread per file.

    ``sync`` makes the new size durable, inside the measured time. Raises ValueError for an
    unknown sync call.
    """

    def __init__(
        self, paths: Sequence[str | bytes], *, size: int, sync: SyncCall | None = None
    ) -> None: ...
    def run(self, tick: Callable[[int], bool] | None = None) -> JobResult:
        """Run as a FileJob; each file counts as a write of no bytes, from open to close.

        ``tick`` gets 0. When it returns False, files that were not started keep their size.
        """

@final
class JobResult:
    """Measurements of a FileJob after its ramp time; times in seconds."""

    @property
    def bytes(self) -> int:
        """Bytes read and written."""
    @property
    def moved_bytes(self) -> int:
        """Bytes read and written, including the ramp time."""
    @property
    def wall_seconds(self) -> float:
        """Start barrier, or end of the ramp time, to the end of the last thread."""
    @property
    def thread_seconds(self) -> list[float]:
        """Duration of each thread from open to close, in the order of ``threads``."""
    @property
    def thread_phases(self) -> list[tuple[float, float, float, float]]:
        """Durations of open, records, final sync and close of each thread."""
    @property
    def read(self) -> IoStats: ...
    @property
    def write(self) -> IoStats: ...
    @property
    def sync(self) -> Latencies:
        """Latencies of single fsync or fdatasync calls."""
    @property
    def unissued(self) -> int:
        """Estimated number of open-loop arrivals that were not issued."""
    @property
    def fallbacks(self) -> list[str]:
        """Deviations from the requested method, such as psync where io_uring is forbidden."""
    @property
    def cpu_seconds(self) -> float:
        """CPU time of all threads, user and system, including the ramp time."""

@final
class IoStats:
    """I/O statistics of one direction: of records, or of read and write calls.

    A record's latency starts at its due time and includes the generation or verification of its
    data.
    """

    @property
    def bytes(self) -> int: ...
    @property
    def latencies(self) -> Latencies: ...

@final
class Latencies:
    """Latency histogram in microseconds with three significant digits."""

    @property
    def count(self) -> int: ...
    def percentiles_us(self, percentiles: Sequence[float]) -> list[float]: ...
    @property
    def max_us(self) -> float: ...
    @property
    def mean_us(self) -> float:
        """0 for an empty histogram."""
    def histogram_us(self) -> list[tuple[float, int]]:
        """Recorded buckets as (upper bound in microseconds, count)."""

@final
class MetadataJob:
    """Metadata operations on directory trees, in phases with a start barrier.

    Each of ``operations`` is a phase: every thread applies it to all its ``files`` (``list``: to
    the directories of its tree). The next phase starts when the last thread has ended.
    ``create_write``, ``open_read``, ``stat``, ``rename`` and ``delete`` are for files, ``mkdir``
    and ``rmdir`` for as many empty directories. They lie ``depth`` levels below
    ``directory/thread-N``, or below ``directory/shared`` where ``shared`` makes all threads share
    each directory; no directory has more than ``files_per_directory`` of each. Every file has
    ``bytes_to_write`` unique bytes, a pure function of ``seed`` and its number. Sizes, bytes and
    names are verified.

    ``sync``: ``none``; ``file`` ends each created file with fsync; ``directory`` does that, and
    fsync of the directory after every operation that changed it; ``phase`` ends every phase that
    changed something with syncfs(2).

    Raises ValueError for invalid values: an operation with nothing to do at its position, repeated
    operations, zeros, paths beyond the kernel's limit.
    """

    def __init__(
        self,
        directory: str | bytes,
        *,
        operations: Sequence[str],
        threads: int,
        files: int,
        files_per_directory: int,
        depth: int,
        shared: bool,
        bytes_to_write: int,
        sync: Literal["none", "file", "directory", "phase"],
        seed: int,
    ) -> None: ...
    @property
    def is_cycle(self) -> bool:
        """Whether the operations leave the tree as they find it, empty, for any files."""
    def repeat(self, windows: WindowLog, tick: Callable[[int], bool] | None = None) -> None:
        """Repeat all operations on a few files after another, until ``tick`` returns False.

        ``windows`` count each of the operations. Errors as with ``run``, without StoppedError;
        ValueError where they are no cycle.
        """
    @property
    def required_operations(self) -> list[str]:
        """Operations that an earlier job of the same form must have run."""
    def run(self, tick: Callable[[int], bool] | None = None) -> list[Phase]:
        """Run the job with the GIL released; signals are handled within 100 ms.

        Creates the tree, unmeasured, unless it requires an earlier job's files. ``tick`` is called
        about every 50 ms with the operations completed so far; the job stops when it returns False.
        Raises EngineError, VerificationError, StoppedError, or the exception of ``tick`` or a
        signal handler, after all threads have ended. Created files remain.
        """

class Phase:
    """Measurements of one phase of a job."""

    @property
    def operation(self) -> str: ...
    @property
    def wall_seconds(self) -> float:
        """First start to the last end, final sync or acknowledgement."""
    @property
    def latencies(self) -> Latencies:
        """Latencies of single operations, with a log up to the acknowledgement."""

def set_file_identity(uid: int, gid: int, groups: Sequence[int]) -> tuple[int, int]:
    """Access files as this user in the calling thread and in those that it starts from now on.

    ``groups`` are the supplementary ones. Return user and group before (setfsuid(2)).
    PermissionError if the kernel refuses.
    """

def remove_tree(directory: str | bytes) -> None:
    """Remove a directory and its contents, several directories in parallel.

    Missing entries are no error; symbolic links are not followed. Raises EngineError.
    """

@final
class NamespaceJob:
    """Phases of operations on a new namespace: a tree of directories and files with an edit log.

    Every mutation is appended to a log in each of the directories ``logs``, which are created and
    must not contain a log. It is acknowledged when it is durable in all of them, or immediately
    without any. Group commit shares syncs: a batch of at most ``batch_records`` (0: any number)
    accumulates during the previous write; its first record waits ``batch_wait_seconds`` for others
    (None: until the callers of the last batch have returned, where that takes less than a write).

    ``order``: ``in-turn`` writes to one directory after another, ``parallel`` to all at once.
    ``sync``: ``fdatasync`` after each batch, ``dsync`` opens the log with O_DSYNC, ``none`` never
    syncs. ``preallocate`` is the step in bytes of preallocation with zeros (0: none);
    ``record_bytes`` is the minimum size of a record.

    Each of ``operations`` (create, open, rename, delete, mkdirs, file-status) runs once on each
    of ``files`` files, in directories of ``files_per_directory``; files that the first one needs
    are created before, unmeasured. ``threads`` operations are in flight, on ``workers`` OS threads.
    An image is written every ``checkpoint_every`` transactions (0: never). Raises ValueError for
    invalid values.
    """

    def __init__(
        self,
        logs: Sequence[str | bytes],
        *,
        order: Literal["in-turn", "parallel"],
        sync: Literal["fdatasync", "dsync", "none"],
        preallocate: int,
        record_bytes: int,
        batch_records: int,
        batch_wait_seconds: float | None,
        operations: Sequence[str],
        files: int,
        files_per_directory: int,
        threads: int,
        workers: int,
        checkpoint_every: int,
    ) -> None: ...
    @property
    def is_cycle(self) -> bool:
        """Whether the operations leave the files as they find them."""
    def repeat(self, windows: WindowLog, tick: Callable[[int], bool] | None = None) -> list[str]:
        """Repeat all operations on a few files after another, until ``tick`` returns False.

        ``windows`` count each of the operations. Returns the failed log directories with the
        reason. Errors as with ``run``, without StoppedError; ValueError where they are no cycle.
        """
    def run(self, tick: Callable[[int], bool] | None = None) -> NamespaceOutcome:
        """Run the job with the GIL released; signals are handled within 100 ms.

        ``tick`` is called about every 50 ms with the operations completed so far; the job stops
        when it returns False. Raises EngineError, VerificationError where an operation is rejected
        or no log remains, StoppedError, or the exception of ``tick`` or a signal handler. Created
        files remain.
        """

@final
class NamespaceOutcome:
    """Outcome of a NamespaceJob."""

    @property
    def phases(self) -> list[NamespacePhase]: ...
    @property
    def failed_logs(self) -> list[str]:
        """Log directories that failed, with the reason and the first missing transaction."""
    def verify(self) -> None:
        """Recover every remaining log with the GIL released, and compare it with the served tree.

        Raises VerificationError for a difference, or EngineError.
        """

@final
class NamespacePhase(Phase):
    """Measurements of one phase of a NamespaceJob."""

    @property
    def mutations(self) -> int:
        """Durable mutations; 0 without a log."""
    @property
    def batches(self) -> int:
        """Batches; each is written to every directory, and synced as requested."""
    @property
    def log_bytes(self) -> int:
        """Bytes of batches in one directory."""
    @property
    def writing_seconds(self) -> float:
        """Total time from the first write to the last sync of each batch."""
    @property
    def lock_seconds(self) -> float:
        """Total time that workers waited for the tree lock."""
    @property
    def buffer_seconds(self) -> float:
        """Total time that they waited for the log buffer."""
    @property
    def sync_seconds(self) -> float:
        """Total time that they waited for acknowledgements without other work."""
    @property
    def checkpoint_seconds(self) -> float:
        """Total time that they wrote images."""

@final
class EventJobs:
    """Jobs that read the events of files and compute, as batch jobs of high-energy physics do.

    Job ``j`` is a thread and reads ``events_per_job`` events of the file at ``j`` modulo the number
    of ``paths``; jobs of one file read consecutive ranges of events. An event is read in ``reads``
    pieces of ``event_bytes`` in total, with ``gap_bytes`` between them; then the job computes for
    ``compute_seconds``: ``burn`` uses CPU time, ``sleep`` waits. A job ends with its events, or
    after ``seconds``. A FileJob with the same ``seed`` and ``paths`` writes the files. Raises
    ValueError for invalid values.
    """

    def __init__(
        self,
        paths: Sequence[str | bytes],
        *,
        jobs: int,
        events_per_job: int,
        event_bytes: int,
        gap_bytes: int,
        reads: int,
        compute: Literal["burn", "sleep"],
        compute_seconds: float,
        seconds: float | None,
        direct: bool,
        seed: int,
    ) -> None: ...
    @property
    def file_bytes(self) -> int:
        """Required size of each file."""
    def run(self, tick: Callable[[int], bool] | None = None) -> EventResult:
        """Run the jobs; tick, signals and errors as with ``FileJob.run``."""
    def repeat(self, windows: WindowLog, tick: Callable[[int], bool] | None = None) -> None:
        """Repeat the events of each job, without the time limit, until ``tick`` returns False.

        ``windows`` count events with their bytes and read latencies. Errors as with
        ``FileJob.repeat``.
        """

@final
class EventResult:
    """Measurements of EventJobs; only events completed within the time limit count."""

    @property
    def events(self) -> int: ...
    @property
    def read_bytes(self) -> int:
        """Bytes read by all jobs, including unfinished events."""
    @property
    def fetched_bytes(self) -> int | None:
        """Bytes fetched from storage; None where the kernel has no I/O accounting.

        Read-ahead into gaps makes it larger than the bytes read, page cache hits smaller.
        """
    @property
    def wall_seconds(self) -> float:
        """First start to last end, or to the time limit."""
    @property
    def job_seconds(self) -> list[float]:
        """Duration of each job from open to its last event, or to the time limit."""
    @property
    def read_latencies(self) -> Latencies:
        """Read latencies of counted events, each over all its reads, with verification."""

@final
class Sampler:
    """Thread that samples /proc and /sys at a fixed interval without the GIL.

    ``devices`` are kernel names as in /proc/diskstats (``loop0``), or None for all; ``workload``
    are the root processes of the workload, which includes their descendants.
    Raises ValueError for an interval that is not above 0 and at most a day.
    """

    def __init__(
        self, devices: Sequence[str] | None, workload: Sequence[int], interval_seconds: float
    ) -> None: ...
    def start(self) -> None:
        """Take the first sample and start the sampling thread."""
    def stop(self) -> Samples:
        """Take the last sample, end the thread and return all samples."""

@final
class Reader:
    """Sampler that takes samples on request."""

    def __init__(self, devices: Sequence[str] | None, workload: Sequence[int]) -> None: ...
    def sample(self) -> None:
        """Take a sample."""
    def take(self) -> Samples:
        """Return the samples since the last call, whose last sample comes first."""

@final
class Samples:
    """Samples as columns of equal length; ``telemetry/samples.py`` documents them."""

    @property
    def names(self) -> list[str]:
        """Names of the columns in order."""
    def timestamps(self) -> bytes:
        """CLOCK_MONOTONIC at each sample, in nanoseconds, as native 64-bit unsigned numbers."""
    def values(self) -> bytes:
        """Columns one after another as native 64-bit floats; NaN for missing values."""
    def processes(self) -> list[tuple[int, str, bool, int, int, int]]:
        """Busiest processes of the workload and of others, by bytes and by CPU time.

        Each has pid, name, workload flag, CPU time in microseconds, bytes read and bytes written
        since the last call of ``take``.
        """

class RecordsResult:
    """Measurements of every record job."""

    @property
    def wall_seconds(self) -> float:
        """First file access to last rename."""
    @property
    def read(self) -> IoStats:
        """Read calls of inputs and spills, system call time only."""
    @property
    def write(self) -> IoStats:
        """Write calls of spills and output, system call time only."""

@final
class TeraGen:
    """Generation of rows as in Hadoop's TeraGen, in files ``part-m-00000`` and on.

    Row number N is the same in every run. ``output`` must not exist; it gets its parts and
    ``_SUCCESS`` when all are complete. ``threads`` parts are written in parallel. Raises ValueError
    for zeros.
    """

    def __init__(
        self,
        output: str | bytes,
        *,
        rows: int,
        parts: int,
        threads: int,
        direct: bool,
        fsync: bool,
    ) -> None: ...
    def run(self, tick: Callable[[int], bool] | None = None) -> TeraResult:
        """Run the job with the GIL released; signals are handled within 100 ms.

        ``tick`` is called about every 50 ms with the bytes transferred so far; the job stops when
        it returns False. Raises EngineError, StoppedError, or the exception of ``tick`` or a signal
        handler, after all threads have ended and ``output`` is removed.
        """

@final
class TeraSort:
    """Sort of rows by key within ``memory_bytes``, into files ``part-r-00000`` and on.

    Chunks of the input are sorted and spilled to unlinked files in the folders of ``spill``; then
    they are merged into ``reducers`` parts in order. ``rows`` is the expected number of input rows.
    The sort is stable. ``fsync`` syncs each part; spills are never synced. Raises ValueError for
    zeros, no spill folder, and insufficient memory, with the minimum.
    """

    def __init__(
        self,
        source: str | bytes,
        output: str | bytes,
        *,
        rows: int,
        memory_bytes: int,
        spill: Sequence[str | bytes],
        reducers: int,
        threads: int,
        direct: bool,
        fsync: bool,
    ) -> None: ...
    @property
    def descriptors(self) -> int:
        """Maximum number of open descriptors: one per sorted run and per thread."""
    def run(self, tick: Callable[[int], bool] | None = None) -> TeraSortResult:
        """Run as TeraGen.run; raises VerificationError for invalid input."""

@final
class TeraValidate:
    """Validation of the row order over all parts of a folder, in name order."""

    def __init__(self, source: str | bytes, *, threads: int, direct: bool) -> None: ...
    def run(self, tick: Callable[[int], bool] | None = None) -> TeraResult:
        """Run as TeraGen.run; VerificationError names the first row out of order."""

@final
class TeraResult(RecordsResult):
    """Measurements of TeraGen, TeraSort and TeraValidate."""

    @property
    def rows(self) -> int: ...
    @property
    def checksum(self) -> str | None:
        """The sum of the rows' CRC-32 in hexadecimal, as Hadoop's TeraChecksum prints it.

        None of a simulated job, which has no rows.
        """

@final
class TeraSortResult:
    """Measurements of TeraSort."""

    @property
    def result(self) -> TeraResult: ...
    @property
    def spill_seconds(self) -> float:
        """Duration of sampling and of the spill phase."""
    @property
    def merge_seconds(self) -> float:
        """Duration of the merge phase, including renames."""
    @property
    def spilled_bytes(self) -> list[int]:
        """Bytes written to each spill folder, in the order of ``spill``."""
    @property
    def memory_bytes(self) -> int:
        """Peak memory of buffers and tables."""

@final
class ZipfText:
    """Generation of Zipf-distributed text, in files ``part-m-00000`` and on of ``folder``.

    The word of rank r among ``vocabulary`` has a frequency proportional to
    1 / r ** ``exponent``. Lines have up to 100 bytes; the files have ``text_bytes`` in total, and
    depend on all arguments except ``threads``. Raises ValueError for zeros and an exponent that is
    negative or not a number.
    """

    def __init__(
        self,
        folder: str | bytes,
        *,
        text_bytes: int,
        files: int,
        vocabulary: int,
        exponent: float,
        seed: int,
        threads: int,
    ) -> None: ...
    def run(self, tick: Callable[[int], bool] | None = None) -> tuple[int, int]:
        """Generate the text; return the number of words and an order-independent checksum.

        ``tick``, signals and errors as with FileJob.run; after an error the folder is removed.
        """

@final
class WordCount:
    """Count of the words of ``inputs`` within ``memory_bytes``, as in Hadoop's WordCount.

    Words are byte strings that end at the white space of Java's StringTokenizer. ``output`` must
    not exist; it gets sorted parts ``part-r-00000`` and on, one per reducer. Words beyond the
    memory are spilled to unlinked files, in turn over the folders of ``spill``. ``expected`` is the
    result of ZipfText.run. Raises ValueError for no inputs or spill folders, zeros, and less
    memory than 1 MiB per thread.
    """

    def __init__(
        self,
        inputs: Sequence[str | bytes],
        output: str | bytes,
        *,
        memory_bytes: int,
        spill: Sequence[str | bytes],
        reducers: int,
        threads: int,
        fsync: bool,
        expected: tuple[int, int] | None = None,
    ) -> None: ...
    def run(self, tick: Callable[[int], bool] | None = None) -> WordCountResult:
        """Run the job; then, not timed, verify order and sums of the output.

        ``tick``, signals and errors as with FileJob.run. VerificationError for an output or texts
        with other words than expected, for a text that shrinks during the job, and for a word
        beyond a thread's memory; it names file and offset. An uncommitted output is removed.
        """

@final
class WordCountResult(RecordsResult):
    """Counts and measurements of WordCount."""

    @property
    def text_bytes(self) -> int: ...
    @property
    def words(self) -> int: ...
    @property
    def distinct_words(self) -> int:
        """Number of distinct words."""
    @property
    def spilled_bytes(self) -> int:
        """Bytes written to spill files, including merge passes."""
    @property
    def memory_bytes(self) -> int:
        """Memory of tables and buffers in the counting phase."""
    @property
    def counting_seconds(self) -> float:
        """Part of ``wall_seconds`` up to the last spill of the counting phase."""

@final
class BlockEvents:
    """Recording of block requests by a trace instance.

    ``instance`` is a folder of tracefs with ``mono`` as its clock, the events block_rq_issue,
    block_rq_requeue and block_rq_complete enabled, and ``tracing_on`` 0.
    """

    def __init__(self, instance: str | PathLike[str]) -> None: ...
    def start(self) -> None:
        """Start tracing and the reader thread. OSError; RuntimeError if already started."""
    def stop(self) -> BlockRequests:
        """Stop tracing and return the requests. OSError; RuntimeError if not started."""

@final
class BlockRequests:
    """Statistics of requests from issue to completion."""

    def operations(self) -> list[tuple[str, str, Latencies, list[tuple[int, int]]]]:
        """Number of a whole device (``8:16``), operation, latencies, sizes as (bytes, count).

        The operations are ``read``, ``write``, ``discard`` and ``flush``, whose size is 0.
        """
    def submitted_bytes(self) -> list[tuple[str, int, int]]:
        """Number of a device or partition (``8:17``), thread, and the bytes of its bios."""
    @property
    def events(self) -> int:
        """Number of events read."""
    @property
    def lost_events(self) -> int:
        """Number of events that the kernel overwrote before they were read."""
    @property
    def unmatched_completions(self) -> int:
        """Completions without an observed issue."""
    @property
    def unmatched_issues(self) -> int:
        """Issues without an observed completion."""
    @property
    def reader_cpu_seconds(self) -> float:
        """CPU time of the reader thread."""

@final
class BlockTrace:
    """Trace of block events by a trace instance.

    ``instance`` is a folder of tracefs with ``mono`` as its clock, the events enabled, and
    ``tracing_on`` 0. The kernel's buffers keep the events until they are read.
    """

    def __init__(self, instance: str | PathLike[str], events: Sequence[str]) -> None: ...
    def start(self) -> None:
        """Start tracing. OSError; RuntimeError if already started."""
    def read(self) -> BlockEventBatch:
        """Return the events before the previous read. OSError; RuntimeError if not started."""
    def stop(self) -> BlockEventBatch:
        """Stop tracing and return all remaining events. OSError; RuntimeError if not started."""

@final
class BlockEventBatch:
    """Block events in time order, and places at which events were lost."""

    @property
    def lost_events(self) -> int:
        """Number of events that the kernel overwrote since the read before."""
    def __len__(self) -> int: ...
    def numbers(self) -> list[tuple[str, bytes]]:
        """Columns of signed numbers of 64 bits, -1 for a missing one.

        ``time_ns``, ``kind`` (index of the event's name, missing where events were lost),
        ``device`` (major << 20 | minor), ``sector``, ``sectors``, ``pid``, ``cpu``.
        """
    def operations(self) -> list[str]:
        """Operation flags (rwbs), empty for an event without them."""
    def commands(self) -> list[str]:
        """Names of the commands, empty for an event without one."""

def t_cdf(freedom: NDArray[np.float64], t: NDArray[np.float64]) -> bytes:
    """P(T <= t) of Student's t distribution for each pair, float64 in and out.

    ValueError for arrays of different lengths.
    """

def t_quantile(freedom: NDArray[np.float64], area: NDArray[np.float64]) -> bytes:
    """Return the t with P(T <= t) = area for each pair, as `t_cdf` does."""

def f_tail(numerator: float, denominator: float, f: float) -> float:
    """P(F > f) of the F distribution with these degrees of freedom."""

def chi_squared_quantile(freedom: float, upper_area: float) -> float:
    """Return the x with P(X > x) = upper_area of the chi-squared distribution."""

def beta_cdf(a: float, b: float, x: float) -> float:
    """P(X <= x) of the beta distribution."""

def serve_drive(
    parameters: str,
    mount_point: str,
    socket: str | None,
    memory_limit: int,
    serving: Callable[[], None],
) -> None:
    """Serve a modelled drive on a mount point, through FUSE, until it is unmounted.

    With a path ``socket``, clients of the NBD protocol can use it too. ``serving`` is called once
    the files ``drive`` and ``statistics`` and the socket are there. Data take at most
    ``memory_limit`` bytes of memory. ValueError for wrong parameters, OSError if the kernel
    refuses the mount or the socket.
    """
