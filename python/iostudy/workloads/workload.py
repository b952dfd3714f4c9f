"""Protocol of a workload, and the place of its run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from iostudy.account import Account
from iostudy.errors import WorkloadError
from iostudy.workloads.concurrent_runs import ConcurrentRun, run_concurrently
from iostudy.workloads.measurement import Measurement
from iostudy.workloads.tick import Tick, continue_run
from iostudy.workloads.windows import SteadyRun

if TYPE_CHECKING:
    from iostudy._native import SimulatedJob

Outcome_co = TypeVar("Outcome_co", covariant=True)
Outcome = TypeVar("Outcome")


class NativeJob(Protocol[Outcome_co]):
    """A job of the native core."""

    def run(self, tick: Tick | None = None) -> Outcome_co:
        """Run it on this machine."""


@runtime_checkable
class ModelledJob(NativeJob[Outcome_co], Protocol[Outcome_co]):
    """A job in Python, which a simulated disk runs as a job of the native core."""

    def model(self) -> SimulatedJob:
        """Return that job; its result has the form of `run`."""


class Machine(Protocol):
    """What runs jobs and holds their files: this machine, or a simulated one."""

    def run(self, job: NativeJob[Outcome], tick: Tick) -> Outcome:
        """Run a job."""

    def run_concurrently(
        self,
        first: ConcurrentRun,
        others: Sequence[ConcurrentRun],
        tick: Tick,
        *,
        repeat_others: bool,
    ) -> bool:
        """Run workloads as `concurrent_runs.run_concurrently` does."""

    def size(self, path: Path) -> int:
        """Return the size of a file in bytes; OSError if it is missing."""


class ThisMachine:
    """The machine on which iostudy runs."""

    def run(self, job: NativeJob[Outcome], tick: Tick) -> Outcome:
        return job.run(tick)

    def run_concurrently(
        self,
        first: ConcurrentRun,
        others: Sequence[ConcurrentRun],
        tick: Tick,
        *,
        repeat_others: bool,
    ) -> bool:
        return run_concurrently(first, others, tick, repeat_others=repeat_others)

    def size(self, path: Path) -> int:
        return path.stat().st_size


@dataclass(frozen=True)
class TargetPaths:
    """The directory or the scratch device that the user names as target; None if it is another."""

    directory: Path | None = None
    device: Path | None = None


NO_TARGET = TargetPaths()


@dataclass(frozen=True)
class Place:
    """The study's folder of a trial, and the conditions of its run.

    ``seed`` is the same for preparation and trial within a block, so that written data can be
    verified. ``tick`` is the caller's callback during the run. ``service`` is the client of the
    service that the workload needs. ``disks`` maps the names of further disks and of directories
    that the study compares to their roots. ``target`` has the user's paths. ``machine`` runs jobs.
    ``account`` is the user to whom the directory belongs if root works there as that user.
    ``folders`` maps the user's directories outside of the target to the study's folders in them.
    """

    directory: Path
    seed: int
    tick: Tick = continue_run
    service: object = None
    disks: Mapping[str, Path] = field(default_factory=dict)
    target: TargetPaths = NO_TARGET
    machine: Machine = field(default_factory=ThisMachine)
    account: Account | None = None
    folders: Mapping[Path, Path] = field(default_factory=dict)

    def folder_in(self, directory: Path) -> Path:
        """Return the folder for files on the disk or mount of ``directory``."""
        return self.folders.get(directory, directory)

    def run(self, job: NativeJob[Outcome]) -> Outcome:
        """Run a job with the caller's tick."""
        return self.machine.run(job, self.tick)


def describe_version(path: Path) -> str:
    """Return the size and modification time of a file, in place of a content that is large."""
    try:
        status = path.stat()
    except OSError as error:
        return error.strerror or str(error)
    return f"{status.st_size} bytes of {status.st_mtime_ns} ns"


class Workload(ABC):
    """A workload with its options, ready to be carried out in a place.

    The order is: check once per study; prepare once per block, then for every trial reset and run,
    at last clean. What a workload has no need of it leaves out.
    """

    @abstractmethod
    def space_bytes(self) -> int:
        """Return the largest space of its files on one disk of the study; 0 if unknown."""

    def written_bytes(self) -> int | None:
        """Return the bytes that a trial writes; None if unknown.

        By default a trial that reads writes nothing, and any other writes its files once.
        """
        return 0 if self.reads() else self.space_bytes() or None

    def prepared_bytes(self) -> int:
        """Return the bytes that `prepare` writes; by default the files of a trial that reads."""
        return self.space_bytes() if self.reads() else 0

    def expected_seconds(self, bytes_per_second: float) -> float | None:
        """Return the time of a trial on storage of that speed; None if unknown.

        By default its files are moved once.
        """
        return self.space_bytes() / bytes_per_second or None

    def reads(self) -> bool:
        """Whether a trial reads data written before it: the page cache is dropped then."""
        return False

    def disks(self) -> frozenset[str]:
        """Return the names of the further disks that it uses."""
        return frozenset()

    def directories(self) -> tuple[Path, ...]:
        """Return the user's directories outside of the target for files whose I/O is measured."""
        return ()

    def places(self, place: Place) -> tuple[Path, ...]:
        """Return a directory on each disk or mount of the files whose I/O is measured."""
        return (place.directory,)

    def contents(self) -> Iterable[tuple[str, str]]:
        """Return the name and the content of each file that its options name.

        A study cannot be resumed with other contents. `describe_version` stands for the content of
        a large file. UsageError for a file that cannot be read.
        """
        return ()

    def check(self) -> None:
        """Refuse, before anything is changed, what this machine lacks; UsageError says what."""
        return

    def check_target(self, target: TargetPaths) -> None:
        """Refuse paths of the workload that do not belong to the target; UsageError names them."""
        del target

    def preparation(self) -> str:
        """Return the key of what prepare creates; trials of a block with the same key share it."""
        return ""

    def prepare(self, place: Place) -> None:
        """Make, unmeasured, what the trials need."""
        return

    def reset(self, place: Place) -> None:
        """Undo, unmeasured and before every trial, what the one before has left."""
        return

    @abstractmethod
    def run(self, place: Place) -> Measurement:
        """Run it once. Raises WorkloadError, never returns partial figures.

        WorkloadStoppedError if ``place.tick`` requested the stop.
        """

    def syncs_apart(self) -> bool:
        """Return whether separate calls sync what it writes: ``sync_latency_*`` measure these."""
        return False

    def unsteady_reason(self) -> str:
        """Return why it has no steady state, in one sentence; "" if it has one."""
        return "it ends with its work"

    def steady_run(self, place: Place) -> SteadyRun:
        """Return a run in a prepared place that repeats until the tick of ``place`` ends it.

        It prepares what it needs beyond `prepare`. Raises WorkloadError, also for a workload
        without a steady state.
        """
        raise WorkloadError(
            "a workload with a steady state",
            found=self.unsteady_reason(),
            where=str(place.directory),
            remedy="compare whole trials (decide: {mode: trials})",
        )

    @abstractmethod
    def clean(self, place: Place) -> None:
        """Remove every file that prepare and run have made; also after a run that failed."""
