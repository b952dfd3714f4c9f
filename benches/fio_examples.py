"""Count of fio's own example jobs that fio and the workload ``fio`` run on this host.

``python -m benches.fio_examples FOLDER`` (as root), where FOLDER has job files, such as
``examples`` in fio's source package. Every job file runs three times in an empty folder: by fio
alone, by iostudy, and by iostudy with the overrides that its error names. The folder is on a
scratch disk, because some examples fill a disk. A job that names a device gets a new loop disk in
its place, because some examples overwrite devices. Fio alone runs in namespaces of its own: without
network, with a ``/dev`` that has no other disk, and with no other folder to write to; its ``/tmp``
is on the scratch disk. A job that is still running after ``--seconds`` counts as one that runs.
Rows go to stderr as soon as they are known; the counts go to stdout.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from tests.calibration.rows import Row, markdown

from benches.scratch import scratch_folder
from iostudy.errors import IostudyError
from iostudy.workloads.external.fio import FIO, FioOptions
from iostudy.workloads.workload import Place, TargetPaths

SHORT = {"size": "16m", "runtime": "2"}
REMEDIES = {"directory": ".", "filename": "data"}
_LAYOUT_SECONDS = 30
_TERMINATED, _KILLED = 124, 137
"""Exit codes of timeout(1)."""
_RAN = "runs"
_ISOLATED = """
set -e
mount --make-rprivate /
mkdir {work}/dev {work}/tmp {work}/own
mount -t tmpfs none {work}/dev
for each in null zero full random urandom {device}; do cp -a /dev/$each {work}/dev/; done
mount --move {work}/dev /dev
mount --bind {work}/tmp /tmp
mount -o remount,bind,ro /
ip link set lo up 2>/dev/null || true
cd {work}/own
exec timeout -k 5 {most} fio --runtime={run} {job}
"""
_DEVICE = re.compile(r"^(filename=)/dev/(?!(?:null|zero|full|u?random)$)\S+", re.MULTILINE)
_DISK_BYTES, _FILES_BYTES = 1 << 30, 8 << 30
_CAUSES = (
    ("an engine that this build of fio lacks", r"engine .* not loadable|failed to load engine"),
    ("a write to the device of the target", "which a write would destroy"),
    ("a device", r"/dev/|block device|zbd|no zone"),
    ("an offset that the device lacks", "need to specify valid offset"),
    ("a directory that is missing", r"failed parsing directory|is not a directory"),
    ("an engine that works on devices or the network", "does not work on files"),
    ("a job without a size or a file", "specify size|total_file_size|zero block"),
    ("shell commands or other programs", "shell command|ioengine=exec"),
    ("a path outside of the target", "outside of the target"),
    ("a parameter that this build of fio lacks", "Bad option|failed parsing"),
    (
        "a server or a device that the engine needs",
        r"pmemblk: unable|nbd_connect|_connect failed|net init failed|fio_sgio|signal=|=dev-dax,",
    ),
    ("a difference found by its verification", "requested block"),
    ("too large for the disk of 8 GiB", "No space|ENOSPC|space left"),
)


@dataclass(frozen=True)
class Outcome:
    """What became of a job file in three ways: ``runs``, or the reason why not."""

    name: str
    fio: str
    iostudy: str
    overridden: str


def cause(text: str) -> str:
    """The class of a reason; the reason itself if none fits."""
    causes = (name for name, pattern in _CAUSES if re.search(pattern, text, re.IGNORECASE))
    return next(causes, " ".join(text.split())[-100:])


@contextmanager
def with_disk(job: Path, work: Path) -> Iterator[tuple[Path, Path | None]]:
    """The job file with a new loop disk in place of the device that it names, and that disk."""
    text = job.read_text(errors="replace")
    if not _DEVICE.search(text):
        yield job, None
        return
    image = work / "disk"
    image.touch()
    os.truncate(image, _DISK_BYTES)
    attach = ["losetup", "--find", "--show", str(image)]
    disk = Path(subprocess.check_output(attach, text=True).strip())
    try:
        copy = work / job.name
        copy.write_text(_DEVICE.sub(rf"\g<1>{disk}", text))
        yield copy, disk
    finally:
        subprocess.run(["losetup", "--detach", str(disk)], check=True)


def run_fio(job: Path, disk: Path | None, work: Path, seconds: int) -> str:
    """Run fio alone, isolated from all devices but the disk and from the network."""
    most, device = seconds + _LAYOUT_SECONDS, disk.name if disk else ""
    script = _ISOLATED.format(work=work, job=job, device=device, run=seconds, most=most)
    done = subprocess.run(
        ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", script],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    is_running = done.returncode in (_TERMINATED, _KILLED)
    return _RAN if done.returncode == 0 or is_running else done.stdout + done.stderr


def run_iostudy(
    job: Path, disk: Path | None, work: Path, override: dict[str, str], seconds: int
) -> str:
    """Run the workload as a trial does."""
    options = {"job": str(job), "limit": f"{seconds}s", "override": override}
    workload = FIO.make(FioOptions.model_validate(options))
    folder = work / "trial"
    folder.mkdir()
    target = TargetPaths(device=disk) if disk else TargetPaths(directory=work)
    place = Place(folder, seed=0, target=target)
    try:
        workload.check()
        workload.check_target(place.target)
        workload.prepare(place)
        workload.reset(place)
        workload.run(place)
    except IostudyError as error:
        return _RAN if "still running" in str(error) else str(error)
    return _RAN


def try_job(job: Path, parent: Path, seconds: int) -> Outcome:
    """Run a job file in all three ways."""

    def inside(run: str) -> str:
        with tempfile.TemporaryDirectory(dir=parent, ignore_cleanup_errors=True) as folder:
            work = Path(folder)
            with with_disk(job, work) as (placed, disk):
                if run == "fio":
                    return run_fio(placed, disk, work, seconds)
                return run_iostudy(placed, disk, work, override, seconds)

    override: dict[str, str] = {}
    alone, ours = inside("fio"), inside("iostudy")
    named = {name: value for name, value in REMEDIES.items() if f"{name}=" in ours}
    override = SHORT | named
    outcome = Outcome(job.name, alone, ours, inside("overridden"))
    print(*describe(outcome), sep=" | ", file=sys.stderr, flush=True)
    return outcome


def try_jobs(files: list[Path], parent: Path, at_a_time: int, seconds: int) -> list[Outcome]:
    """Run all job files, each of those that run at a time on a scratch disk of its own."""
    with ExitStack() as disks, ThreadPoolExecutor(at_a_time) as pool:
        free: SimpleQueue[Path] = SimpleQueue()
        for _ in range(at_a_time):
            free.put(disks.enter_context(scratch_folder(_FILES_BYTES, parent)))

        def on_a_free_disk(job: Path) -> Outcome:
            folder = free.get()
            try:
                return try_job(job, folder, seconds)
            finally:
                free.put(folder)

        return list(pool.map(on_a_free_disk, files))


def describe(outcome: Outcome) -> tuple[str, ...]:
    """The name, and for each way ``runs`` or the class of the reason."""
    ended = (outcome.fio, outcome.iostudy, outcome.overridden)
    return (outcome.name, *(text if text == _RAN else cause(text) for text in ended))


def count(outcomes: list[Outcome]) -> list[Row]:
    """The job files that run in each way, and the reasons of the others."""
    _, *ways = zip(*map(describe, outcomes), strict=True)
    counts = [Counter(way) for way in ways]
    reasons = sorted({reason for way in counts for reason in way} - {_RAN})
    heads = (f"of {len(outcomes)} job files", "fio alone", "iostudy", "iostudy with overrides")
    return [
        heads,
        *((reason, *(str(way[reason] or "") for way in counts)) for reason in (_RAN, *reasons)),
    ]


def main() -> None:
    """Parse the command line, run all job files, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--work", type=Path, default=Path("/var/tmp"), help="not below /tmp")
    parser.add_argument("--jobs", type=int, default=2, help="job files at a time")
    parser.add_argument("--seconds", type=int, default=10, help="longest time of a job")
    given = parser.parse_args()
    if shutil.which("fio") is None or shutil.which("unshare") is None:
        sys.exit("install fio and util-linux first")
    files = sorted(given.folder.absolute().glob("*.fio"))
    print(markdown(count(try_jobs(files, given.work, given.jobs, given.seconds))))


if __name__ == "__main__":
    main()
