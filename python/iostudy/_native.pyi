"""The typed face of the Rust core."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Literal, final

from iostudy.job import JobSpec, SyncCall

class EngineError(OSError):
    """An I/O error of the engine: ``errno``, ``strerror`` and ``filename`` are set.

    A note names the system call and the byte offset.
    """

class VerificationError(Exception):
    """Data read back differ from what was written; the message names file and byte offset."""

class StoppedError(Exception):
    """The tick of a job asked it to stop before its end."""

@final
class FileJob:
    """Records of files, moved by threads, as a JobSpec says.

    Content is a pure function of ``seed``, the file's position among all and the offset. Raises
    ValueError for values that cannot work (no paths, zero sizes, a record larger than the file,
    O_DIRECT with sizes that are no multiples of 4096, fsync of a read, an unknown order).
    """

    def __init__(self, spec: JobSpec) -> None: ...
    def run(self, tick: Callable[[int], bool] | None = None) -> JobResult:
        """Carry it out with the GIL released; signals are handled within 100 ms.

        ``tick`` is called about every 50 ms with the bytes moved so far, and stops the job when it
        returns False. Raises EngineError, VerificationError, StoppedError, or whatever ``tick`` or
        a signal handler raises; in every case all threads have ended before. They end with their
        record; only an fsync that has begun cannot be cut short, since the kernel has no way to.
        """

@final
class Truncation:
    """Files cut off at ``size`` bytes, each by a thread of its own.

    ``sync`` brings the new size to the disk, inside the measured time. Raises ValueError for an
    unknown one.
    """

    def __init__(
        self, paths: Sequence[str | bytes], *, size: int, sync: SyncCall | None = None
    ) -> None: ...
    def run(self, tick: Callable[[int], bool] | None = None) -> JobResult:
        """Carry it out as a FileJob; a file is a write of no bytes, from opening to closing it.

        Once ``tick``, which is told 0, says no, files that are not begun stay as they are.
        """

@final
class JobResult:
    """What a FileJob measured after its ramp; times in seconds."""

    @property
    def bytes(self) -> int:
        """Read and written."""
    @property
    def moved_bytes(self) -> int:
        """Read and written, with what the ramp did."""
    @property
    def wall_seconds(self) -> float:
        """From the start barrier, or the end of the ramp, to the end of the last thread."""
    @property
    def thread_seconds(self) -> list[float]:
        """Each thread from opening its files to closing them, in the order of ``threads``."""
    @property
    def thread_phases(self) -> list[tuple[float, float, float, float]]:
        """What each thread took for open, for the records, for the sync at the end, for close."""
    @property
    def read(self) -> IoStats: ...
    @property
    def write(self) -> IoStats: ...
    @property
    def sync(self) -> Latencies:
        """Of single fsync or fdatasync calls."""
    @property
    def unissued(self) -> int:
        """About how many records of an open loop had arrived and were never begun."""
    @property
    def fallbacks(self) -> list[str]:
        """What was done otherwise than asked, such as psync where io_uring is forbidden."""
    @property
    def cpu_seconds(self) -> float:
        """Processor time of all threads, user and system, with that of the ramp."""

@final
class IoStats:
    """What was done with records, or by read and write calls, in one direction.

    A record's latency is its system call with making its data before, or verifying it after; it
    begins when the record was due.
    """

    @property
    def bytes(self) -> int: ...
    @property
    def latencies(self) -> Latencies: ...

@final
class Latencies:
    """How long single operations took, in microseconds, to three significant digits."""

    @property
    def count(self) -> int: ...
    def percentiles_us(self, percentiles: Sequence[float]) -> list[float]: ...
    @property
    def max_us(self) -> float: ...
    @property
    def mean_us(self) -> float:
        """0 where nothing was recorded."""
    def histogram_us(self) -> list[tuple[float, int]]:
        """Recorded buckets as (upper bound in microseconds, count)."""

@final
class MetadataJob:
    """Phases of metadata operations on a tree of directories, by threads that start together.

    Each of ``operations`` is a phase: every thread does it to all its ``files`` (``list``: to the
    directories of its tree), and the next begins when the last thread has ended. ``create_write``,
    ``open_read``, ``stat``, ``rename`` and ``delete`` are for files, ``mkdir`` and ``rmdir`` for as
    many empty directories beside them. They lie ``depth`` levels below ``directory/thread-N``, or
    below ``directory/shared`` where ``shared`` lets all threads meet in each directory; no
    directory has more than ``files_per_directory`` of each. Every file has ``bytes_to_write`` bytes
    of its own, a pure function of ``seed`` and its number. Sizes, bytes and listed names are
    compared with what was made.

    ``sync``: ``none``; ``file`` ends each created file with fsync; ``directory`` does that, and
    fsync of the directory after every operation that changed it; ``phase`` ends every phase that
    changed something with syncfs(2).

    Raises ValueError for values that cannot work: an order in which an operation has nothing to do,
    an operation twice, zeros, paths that are longer than the kernel takes.
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
    def required_operations(self) -> list[str]:
        """The operations that another job of the same form must have done before."""
    def run(self, tick: Callable[[int], bool] | None = None) -> list[MetadataPhase]:
        """Carry it out with the GIL released; signals are handled within 100 ms.

        Makes the tree, unmeasured, unless it needs what another job has made there. ``tick`` is
        called about every 50 ms with the operations done so far, and stops the job when it returns
        False. Raises EngineError, VerificationError, StoppedError, or whatever ``tick`` or a signal
        handler raises; in every case all threads have ended before, and what was made stays.
        """

@final
class MetadataPhase:
    """What was measured in one phase of a MetadataJob."""

    @property
    def operation(self) -> str: ...
    @property
    def wall_seconds(self) -> float:
        """From the first start to the last end, and to the end of the syncfs if there is one."""
    @property
    def latencies(self) -> Latencies:
        """Of single operations, as many as there were."""

def remove_tree(directory: str | bytes) -> None:
    """Remove a directory and all that is in it, several directories at a time.

    What is gone already is no error; symbolic links are not followed. Raises EngineError.
    """

@final
class NamespaceJob:
    """Phases of operations on a new namespace: a tree of directories and files with an edit log.

    Every mutation is appended to a log in each of the directories ``logs``, which are made and may
    hold none, and acknowledged when it is durable in all of them; without any, at once. Many wait
    for one sync: a batch of at most ``batch_records`` (0: any number) gathers while the one before
    is written, and its first record waits ``batch_wait_seconds`` for others.

    ``order``: ``in-turn`` writes to one directory after another, ``parallel`` to all at once.
    ``sync``: ``fdatasync`` after each batch, ``dsync`` opens the log with O_DSYNC, ``none`` leaves
    it to the system. ``preallocate`` fills the log with zeros in pieces of so many bytes before it
    is written to (0: not); ``record_bytes`` is the least size of a record.

    Each of ``operations`` (create, open, rename, delete, mkdirs, file-status) is done once to each
    of ``files`` files, in directories of ``files_per_directory``; files that the first one needs
    are made before, unmeasured. ``threads`` operations are under way at a time, carried by
    ``workers`` threads of the system. An image is written after every ``checkpoint_every``
    transactions (0: never). Raises ValueError for values that cannot work.
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
        batch_wait_seconds: float,
        operations: Sequence[str],
        files: int,
        files_per_directory: int,
        threads: int,
        workers: int,
        checkpoint_every: int,
    ) -> None: ...
    def run(self, tick: Callable[[int], bool] | None = None) -> NamespaceOutcome:
        """Carry it out with the GIL released; signals are handled within 100 ms.

        ``tick`` is called about every 50 ms with the operations done so far, and stops the job when
        it returns False. Raises EngineError, VerificationError where an operation is refused or no
        log is left, StoppedError, or whatever ``tick`` or a signal handler raises; what was made
        stays.
        """

@final
class NamespaceOutcome:
    """What a NamespaceJob did."""

    @property
    def phases(self) -> list[NamespacePhase]: ...
    @property
    def failed_logs(self) -> list[str]:
        """The log directories that failed, each with the reason and what it may lack."""
    def verify(self) -> None:
        """Read every log that is left, with the GIL released, and compare it with the tree served.

        Raises VerificationError where a log does not tell what was done, or EngineError.
        """

@final
class NamespacePhase:
    """What was measured in one phase of a NamespaceJob."""

    @property
    def operation(self) -> str: ...
    @property
    def wall_seconds(self) -> float:
        """From the first start to the last acknowledgement."""
    @property
    def latencies(self) -> Latencies:
        """Of single operations, each to its acknowledgement."""
    @property
    def mutations(self) -> int:
        """Those that the log made durable; 0 without a log."""
    @property
    def batches(self) -> int:
        """Each is written to every directory, and synced there if syncs are asked for."""
    @property
    def log_bytes(self) -> int:
        """Bytes of records, in one directory."""
    @property
    def writing_seconds(self) -> float:
        """From the first write of each batch to its last sync, of all batches."""
    @property
    def lock_seconds(self) -> float:
        """How long the workers waited for the tree, all of them together."""
    @property
    def buffer_seconds(self) -> float:
        """How long they waited for the buffer of the log, or for room in it."""
    @property
    def sync_seconds(self) -> float:
        """How long they waited for acknowledgements with nothing else to begin."""
    @property
    def checkpoint_seconds(self) -> float:
        """How long they wrote images."""

@final
class EventJobs:
    """Jobs that read the events of files and compute, as batch jobs of high-energy physics do.

    Job ``j`` is a thread and reads ``events_per_job`` events of the file at ``j`` modulo the number
    of ``paths``; jobs of the same file read events that follow each other. An event is read in
    ``reads`` pieces of ``event_bytes`` in all, with ``gap_bytes`` between them; then it is computed
    for ``compute_seconds``: ``burn`` uses that much processor time, ``sleep`` waits. A job ends
    with its events, or when ``seconds`` are over. Files hold what a FileJob with the same ``seed``
    and ``paths`` has written. Raises ValueError for values that cannot work.
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
        """The size that each file has to have."""
    def run(self, tick: Callable[[int], bool] | None = None) -> EventResult:
        """Carry it out; tick, signals and errors as with ``FileJob.run``."""

@final
class EventResult:
    """What EventJobs measured. Only events that were computed before the time was up count."""

    @property
    def events(self) -> int: ...
    @property
    def read_bytes(self) -> int:
        """Of all jobs, those of events that do not count included."""
    @property
    def fetched_bytes(self) -> int | None:
        """What the kernel fetched from storage for them; None where it does not say.

        More than they read where it read ahead into gaps, less where the page cache had the data.
        """
    @property
    def wall_seconds(self) -> float:
        """From the first start to the last end, or to when the time was up."""
    @property
    def job_seconds(self) -> list[float]:
        """Each job from opening its file to its last event, or to when the time was up."""
    @property
    def reading(self) -> Latencies:
        """Of all reads of an event together, with verifying; those of events that count."""

@final
class Sampler:
    """A thread that reads /proc and /sys at a fixed interval, with no Python while it samples.

    ``devices`` are kernel names as in /proc/diskstats (``loop0``), or None for all of them;
    ``workload`` are processes whose descendants are the workload, with themselves.
    Raises ValueError for an interval that is not above 0 and at most a day.
    """

    def __init__(
        self, devices: Sequence[str] | None, workload: Sequence[int], interval_seconds: float
    ) -> None: ...
    def start(self) -> None:
        """Take the first sample now and go on in a thread of its own."""
    def stop(self) -> Samples:
        """Take the last sample now, end the thread and hand everything over."""

@final
class Reader:
    """Takes a sample of the same when it is asked to."""

    def __init__(self, devices: Sequence[str] | None, workload: Sequence[int]) -> None: ...
    def sample(self) -> None:
        """Take a sample now."""
    def take(self) -> Samples:
        """What has been sampled since it was last taken; the last sample of then is its first."""

@final
class Samples:
    """Samples as columns of equal length; ``telemetry/samples.py`` says which there are."""

    @property
    def names(self) -> list[str]:
        """Of each column, in their order."""
    def at(self) -> bytes:
        """CLOCK_MONOTONIC at each sample, in nanoseconds, as native 64-bit unsigned numbers."""
    def values(self) -> bytes:
        """One column behind the other as native 64-bit floats: NaN where a value was missing."""
    def processes(self) -> list[tuple[int, str, bool, int, int, int]]:
        """The busiest of the workload and of others, by bytes and by CPU time.

        Of each pid, name, whether it is of the workload, CPU time in microseconds, and bytes that
        it caused to be read and written: since the samples were last taken, or from the first on.
        """

class RecordsResult:
    """What every job on records measured."""

    @property
    def wall_seconds(self) -> float:
        """From the first look at a file to the last one in its place."""
    @property
    def read(self) -> IoStats:
        """Calls that read inputs and spills: their system calls alone."""
    @property
    def write(self) -> IoStats:
        """Calls that wrote spills and the output: their system calls alone."""

@final
class TeraGen:
    """Rows as Hadoop's TeraGen makes them, in files ``part-m-00000`` and on.

    Row number N is the same in every run. ``output`` must not be there yet; it has ``_SUCCESS``
    and its parts once all are complete. ``threads`` parts are written at a time. Raises ValueError
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
        """Carry it out with the GIL released; signals are handled within 100 ms.

        ``tick`` is called about every 50 ms with the bytes moved so far, and stops the job when it
        returns False. Raises EngineError, StoppedError, or whatever ``tick`` or a signal handler
        raises; in every case all threads have ended before, and nothing is left of ``output``.
        """

@final
class TeraSort:
    """Rows sorted by their keys within ``memory_bytes``, into files ``part-r-00000`` and on.

    Chunks of the input are sorted and spilled, spread over the folders of ``spill``, in files
    without a name; then they are merged into ``reducers`` parts in order. ``rows`` is how many the
    input must hold. Rows with the same key keep their order. ``fsync`` ends each part; spills are
    never synced. Raises ValueError for zeros, no spill folder, and memory that is not enough,
    naming what would be.
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
        """The most that it has open at a time: of every sorted run, and of a file per thread."""
    def run(self, tick: Callable[[int], bool] | None = None) -> TeraSorted:
        """Carry it out as TeraGen's; VerificationError for input that is not what it should be."""

@final
class TeraValidate:
    """Checks that rows are in order through all parts of a folder, by the parts' names."""

    def __init__(self, source: str | bytes, *, threads: int, direct: bool) -> None: ...
    def run(self, tick: Callable[[int], bool] | None = None) -> TeraResult:
        """Carry it out as TeraGen's; VerificationError names the first row out of order."""

@final
class TeraResult(RecordsResult):
    """What TeraGen, TeraSort and TeraValidate measured."""

    @property
    def rows(self) -> int: ...
    @property
    def checksum(self) -> str:
        """The sum of the rows' CRC-32 in hexadecimal, as Hadoop's TeraChecksum prints it."""

@final
class TeraSorted:
    """What TeraSort measured beside."""

    @property
    def result(self) -> TeraResult: ...
    @property
    def spill_seconds(self) -> float:
        """Sampling, and reading, sorting and spilling chunks."""
    @property
    def merge_seconds(self) -> float:
        """Merging, writing and naming the parts."""
    @property
    def spilled_bytes(self) -> list[int]:
        """What each spill folder had to hold, in the order of ``spill``."""
    @property
    def memory_bytes(self) -> int:
        """The most that buffers and tables took at a time."""

@final
class ZipfText:
    """Text of made-up words, in files ``part-m-00000`` and on of the new folder ``folder``.

    The word of rank r among ``vocabulary`` is drawn in proportion to 1 / r ** ``exponent``. Lines
    have up to 100 bytes; the files have ``text_bytes`` together, and depend on all arguments but
    ``threads``. Raises ValueError for zeros and an exponent that is negative or no number.
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
        """Make it; the number of words, and a checksum that does not depend on their order.

        ``tick``, signals and errors as with FileJob.run; after an error the folder is gone.
        """

@final
class WordCount:
    """The words of ``inputs`` counted within ``memory_bytes``, as Hadoop's WordCount does.

    Words end at the white space of Java's StringTokenizer and are bytes. ``output`` must not be
    there yet; it gets ``part-r-00000`` and on, one for each of ``reducers``, in which words are
    sorted. What does not fit into memory is spilled, in turn over the folders of ``spill``, in
    files without a name. ``expected`` is what ZipfText.run has told. Raises ValueError for no
    inputs or spill folders, zeros, and less memory than 1 MiB per thread.
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
    def run(self, tick: Callable[[int], bool] | None = None) -> WordCounts:
        """Carry it out; then, not timed, read the output back and compare order and sums.

        ``tick``, signals and errors as with FileJob.run. VerificationError for an output or texts
        with other words than expected, for a text that is cut meanwhile, and for a word longer
        than a thread's memory allows; it names file and place. Of an output that was not committed
        nothing is left.
        """

@final
class WordCounts(RecordsResult):
    """What WordCount counted and measured."""

    @property
    def text_bytes(self) -> int: ...
    @property
    def words(self) -> int: ...
    @property
    def distinct(self) -> int:
        """How many different words there are."""
    @property
    def spilled_bytes(self) -> int:
        """Written to spill files, those of merging passes among them."""
    @property
    def memory_bytes(self) -> int:
        """What tables and buffers took while words were counted."""
    @property
    def counting_seconds(self) -> float:
        """Of ``wall_seconds``, up to the last word counted and spilled."""

@final
class BlockEvents:
    """Reads what a trace instance records of the requests of block devices.

    ``instance`` is a folder of tracefs with ``mono`` as its clock, the events block_rq_issue,
    block_rq_requeue and block_rq_complete enabled, and ``tracing_on`` 0.
    """

    def __init__(self, instance: str | PathLike[str]) -> None: ...
    def start(self) -> None:
        """Record from now on, and read in a thread. OSError; RuntimeError if it has begun."""
    def stop(self) -> BlockRequests:
        """Record no more, and tell what was seen. OSError; RuntimeError if it has not begun."""

@final
class BlockRequests:
    """Requests from their issue to the driver to their completion."""

    def operations(self) -> list[tuple[str, str, Latencies, list[tuple[int, int]]]]:
        """Number of a whole device (``8:16``), operation, latencies, sizes as (bytes, count).

        The operations are ``read``, ``write``, ``discard`` and ``flush``, whose size is 0.
        """
    @property
    def events(self) -> int:
        """How many were read."""
    @property
    def lost(self) -> int:
        """How many the kernel overwrote before they were read."""
    @property
    def without_issue(self) -> int:
        """Completions of which the issue was not seen."""
    @property
    def without_completion(self) -> int:
        """Issues of which the completion was not seen."""
    @property
    def reader_cpu_seconds(self) -> float:
        """Processor time of the reading thread."""
