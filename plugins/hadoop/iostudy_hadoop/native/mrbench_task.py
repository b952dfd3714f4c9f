"""Map or reduce task of mrbench, run as a separate process, and its storage operations.

A script, ``python -I -S mrbench_task.py KIND INDEX STAGING [UID GID [GROUP...]]``. Root's becomes
that user once it has started, since Python itself may lie where only root can read. It imports
nothing of iostudy and few other modules, since each import adds to the time that a process takes to
start. It prints a report: its begin and end by the clock that all processes share, then a line with
the seconds of each storage operation.
"""

from __future__ import annotations

import os
import sys
import time
import zlib

JOB, SPLITS = "job.properties", "job.split"
MAP, REDUCE = "map", "reduce"
CREATE, COMMIT, READ = "create", "commit", "read"
_OUT, _INDEX = "file.out", "file.out.index"


class Storage:
    """Files that are created, renamed and read, with the time of each operation.

    With ``sync``, files and target folders of renames are durable (fsync) before an operation
    ends, as in HDFS, whose NameNode syncs its edit log before it answers.
    """

    def __init__(self, *, sync: bool) -> None:
        self.operations: list[tuple[str, float]] = []
        self._sync = sync

    def create(self, path: str, content: bytes) -> None:
        """Make a file that was not there, and the folders above it."""
        began = time.monotonic()
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "xb") as file:
            file.write(content)
            file.flush()
            if self._sync:
                os.fsync(file.fileno())
        self._note(CREATE, began)

    def commit(self, source: str, target: str) -> None:
        """Make what is there visible under its final name."""
        began = time.monotonic()
        os.rename(source, target)
        if self._sync:
            folder = os.open(os.path.dirname(target), os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        self._note(COMMIT, began)

    def read(self, path: str, offset: int = 0, length: int = -1) -> bytes:
        """Return the content of a file or of a range of it."""
        began = time.monotonic()
        with open(path, "rb") as file:
            file.seek(offset)
            content = file.read(length)
        self._note(READ, began)
        return content

    def _note(self, operation: str, began: float) -> None:
        self.operations.append((operation, time.monotonic() - began))


def task_name(kind: str, index: int) -> str:
    """Return the name of a task, as in Hadoop: ``m_000003``."""
    return f"{kind[0]}_{index:06d}"


def part_name(index: int) -> str:
    """Return the name of a reduce's output: ``part-r-00003``."""
    return f"part-r-{index:05d}"


def committed_folder(output: str, index: int) -> str:
    """The folder in which a reduce that has ended leaves its part for the job to commit."""
    return f"{output}/_temporary/0/task_{task_name(REDUCE, index)}"


def format_partitions(contents: list[bytes]) -> bytes:
    """Lines with offset and length of each when they stand one after another."""
    lines, offset = [], 0
    for content in contents:
        lines.append(f"{offset} {len(content)}\n")
        offset += len(content)
    return "".join(lines).encode()


def _stretch(written: bytes, index: int) -> tuple[int, int]:
    offset, length = written.splitlines()[index].split()
    return int(offset), int(length)


def format_properties(properties: dict[str, str]) -> bytes:
    """Lines ``name=value``."""
    return "".join(f"{name}={value}\n" for name, value in properties.items()).encode()


def _properties(written: bytes) -> dict[str, str]:
    return dict(line.split("=", 1) for line in written.decode().splitlines())


def _map(job: dict[str, str], index: int, staging: str, storage: Storage) -> None:
    """Sort a split into one stretch for each reduce."""
    reduces = int(job["reduces"])
    offset, length = _stretch(storage.read(f"{staging}/{SPLITS}"), index)
    lines = storage.read(job["input"], offset, length).splitlines(keepends=True)
    partitions: list[list[bytes]] = [[] for _ in range(reduces)]
    for line in lines:
        partitions[zlib.crc32(line) % reduces].append(line)
    stretches = [b"".join(sorted(lines)) for lines in partitions]
    attempt = f"{job['intermediate']}/_temporary/attempt_{task_name(MAP, index)}_0"
    storage.create(f"{attempt}/{_OUT}", b"".join(stretches))
    storage.create(f"{attempt}/{_INDEX}", format_partitions(stretches))
    storage.commit(attempt, f"{job['intermediate']}/{task_name(MAP, index)}")


def _reduce(job: dict[str, str], index: int, _staging: str, storage: Storage) -> None:
    """Merge this reduce's stretches of all maps."""
    lines: list[bytes] = []
    for number in range(int(job["maps"])):
        folder = f"{job['intermediate']}/{task_name(MAP, number)}"
        offset, length = _stretch(storage.read(f"{folder}/{_INDEX}"), index)
        lines += storage.read(f"{folder}/{_OUT}", offset, length).splitlines(keepends=True)
    attempt = f"{job['output']}/_temporary/0/_temporary/attempt_{task_name(REDUCE, index)}_0"
    storage.create(f"{attempt}/{part_name(index)}", b"".join(sorted(lines)))
    storage.commit(attempt, committed_folder(job["output"], index))


_TASKS = {MAP: _map, REDUCE: _reduce}


def main(kind: str, index: int, staging: str) -> None:
    """Carry out one task and report on it; exit code 1 with what the system has refused."""
    began = time.monotonic()
    try:
        with open(f"{staging}/{JOB}", "rb") as file:
            job = _properties(file.read())
        storage = Storage(sync=job["sync"] == str(True))
        _TASKS[kind](job, index, staging, storage)
    except OSError as error:
        sys.stdout.write(f"{error.errno} {error.filename}")
        sys.exit(1)
    sys.stdout.write(f"{began!r} {time.monotonic()!r}\n")
    sys.stdout.writelines(f"{name} {seconds!r}\n" for name, seconds in storage.operations)


def _become(uid: int, gid: int, *groups: int) -> None:
    os.setgroups(groups)
    os.setgid(gid)
    os.setuid(uid)


if __name__ == "__main__":
    if account := sys.argv[4:]:
        _become(*map(int, account))
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
