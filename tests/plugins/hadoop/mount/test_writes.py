"""Writes through a writable mount: new files, appending, renaming, removing, and refusals."""

from __future__ import annotations

import errno
import os
import random
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from iostudy_hadoop.local.cluster import LocalCluster
from tests.plugins.hadoop import webhdfs
from tests.plugins.hadoop.mount.conftest import BLOCK_BYTES, Mounts

pytestmark = [pytest.mark.slow, pytest.mark.root, pytest.mark.process]

LENGTH = 2 * BLOCK_BYTES + 12_345


@pytest.fixture
def folder(mounts: Mounts, hdfs: LocalCluster, tmp_path: Path) -> Path:
    """A new folder of HDFS on a writable mount."""
    point, _ = mounts.start("--writable")
    found = point / tmp_path.name
    found.mkdir(mode=0o750)
    return found


def refuses(attempt: Callable[[], object], number: int) -> None:
    with pytest.raises(OSError) as refused:
        attempt()
    assert refused.value.errno == number


def test_a_file_of_several_blocks_is_read_as_it_was_written(folder: Path) -> None:
    data = random.Random(5).randbytes(LENGTH)
    (folder / "file").write_bytes(data)
    assert (folder / "file").stat().st_size == LENGTH
    assert (folder / "file").read_bytes() == data
    (folder / "empty").write_bytes(b"")
    assert (folder / "empty").read_bytes() == b""


def test_another_client_reads_what_was_written(
    folder: Path, mounts: Mounts, hdfs: LocalCluster
) -> None:
    (folder / "file").write_bytes(b"x" * LENGTH)
    other, _ = mounts.start()
    assert (other / folder.name / "file").read_bytes() == b"x" * LENGTH


def test_a_file_shows_its_length_while_it_is_written(folder: Path, mounts: Mounts) -> None:
    with (folder / "file").open("wb", buffering=0) as file:
        for written in (1000, 5000):
            file.write(b"x" * (written - (folder / "file").stat().st_size))
            assert (folder / "file").stat().st_size == written
        os.fsync(file.fileno())
        other, _ = mounts.start()
        assert (other / folder.name / "file").read_bytes() == b"x" * 5000


def test_a_file_that_is_written_is_not_read_as_a_shorter_one(folder: Path) -> None:
    path = folder / "file"
    with path.open("wb", buffering=0) as file:
        file.write(b"x" * 5000)
        refuses(path.read_bytes, errno.EBUSY)
        assert [each.stat().st_size for each in folder.iterdir()] == [5000]
        with path.open("ab", buffering=0) as other:
            refuses(lambda: other.write(b"y"), errno.EBUSY)
        file.write(b"x")
    assert path.read_bytes() == b"x" * 5001


def test_a_reader_follows_a_file_that_grows(folder: Path) -> None:
    path = folder / "file"
    path.write_bytes(b"one")
    with path.open("rb", buffering=0) as reader:
        assert reader.read(100) == b"one"
        with path.open("ab") as file:
            file.write(b"two")
        assert reader.read(100) == b"two"
        assert path.stat().st_size == 6


def test_the_descriptor_of_a_replaced_file_does_not_reach_the_new_one(folder: Path) -> None:
    log, new = folder / "log", folder / "new"
    log.write_bytes(b"old")
    new.write_bytes(b"new")
    with log.open("ab", buffering=0) as file:
        new.rename(log)
        refuses(lambda: os.ftruncate(file.fileno(), 0), errno.ESTALE)
        refuses(lambda: file.write(b"x"), errno.ESTALE)
    assert log.read_bytes() == b"new"


def test_a_file_is_renamed_while_it_is_written(folder: Path) -> None:
    former, path = folder / "former", folder / "file"
    with former.open("wb", buffering=0) as file:
        file.write(b"one")
        former.rename(path)
        assert path.stat().st_size == 3
        os.close(os.dup(file.fileno()))  # completes the file
        former.write_bytes(b"another")
        file.write(b"two")
    assert path.read_bytes() == b"onetwo"
    assert former.read_bytes() == b"another"


def test_a_listing_does_not_give_a_former_length(folder: Path) -> None:
    path = folder / "file"
    path.write_bytes(b"")
    with os.scandir(folder) as entries:
        path.write_bytes(b"x" * 5000)
        assert [entry.name for entry in entries] == ["file"]
    assert path.read_bytes() == b"x" * 5000


def test_an_emptied_file_keeps_its_replicas_and_blocks(
    folder: Path, mounts: Mounts, hdfs: LocalCluster
) -> None:
    (folder / "file").write_bytes(b"x")
    before = webhdfs.status(hdfs, f"/{folder.name}/file")
    other, _ = mounts.start("--writable", "--replication", "1", "--block-size", "1MiB")
    (other / folder.name / "file").write_bytes(b"y")
    now = webhdfs.status(hdfs, f"/{folder.name}/file")
    assert [now[key] for key in ("replication", "blockSize")] == [
        before[key] for key in ("replication", "blockSize")
    ]


def test_a_file_is_appended_to_and_emptied(folder: Path) -> None:
    path = folder / "file"
    path.write_bytes(b"one")
    with path.open("ab") as file:
        file.write(b"two")
    assert path.read_bytes() == b"onetwo"
    os.truncate(path, 6)
    with path.open("wb") as file:
        file.write(b"three")
    assert path.read_bytes() == b"three"
    os.truncate(path, 0)
    assert path.read_bytes() == b""


def test_files_are_written_by_several_threads(folder: Path) -> None:
    data = {number: random.Random(number).randbytes(300_000) for number in range(8)}
    writers = [
        threading.Thread(target=(folder / str(number)).write_bytes, args=(content,))
        for number, content in data.items()
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert {number: (folder / str(number)).read_bytes() for number in data} == data


def test_names_are_changed_and_removed(folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "a/file").write_bytes(b"x")
    (folder / "a/file").rename(folder / "a/moved")
    (folder / "a").rename(folder / "b")
    assert (folder / "b/moved").read_bytes() == b"x"
    (folder / "b/other").write_bytes(b"y")
    (folder / "b/other").replace(folder / "b/moved")
    assert (folder / "b/moved").read_bytes() == b"y"
    refuses((folder / "b").rmdir, errno.ENOTEMPTY)
    (folder / "b/moved").unlink()
    (folder / "b/moved").write_bytes(b"new")
    assert (folder / "b/moved").read_bytes() == b"new"
    shutil.rmtree(folder)
    assert not folder.exists()


def test_permissions_and_times_are_those_of_hdfs(folder: Path) -> None:
    path = folder / "file"
    path.write_bytes(b"x")
    path.chmod(0o640)
    os.utime(path, (1000, 2000))
    status = path.stat()
    assert (status.st_mode & 0o777, status.st_atime, status.st_mtime) == (0o640, 1000, 2000)
    assert folder.stat().st_mode & 0o777 == 0o750


def test_what_hdfs_cannot_do_is_refused(folder: Path) -> None:
    path = folder / "file"
    path.write_bytes(b"x" * 100)
    descriptor = os.open(path, os.O_RDWR)
    refuses(lambda: os.pwrite(descriptor, b"y", 50), errno.EOPNOTSUPP)
    refuses(lambda: os.pread(descriptor, 1, 0), errno.EOPNOTSUPP)
    assert os.pwrite(descriptor, b"y", 100) == 1
    refuses(lambda: os.ftruncate(descriptor, 0), errno.EOPNOTSUPP)
    os.close(descriptor)
    refuses(lambda: os.truncate(path, 10), errno.EOPNOTSUPP)
    refuses(lambda: (folder / "link").symlink_to(path), errno.EPERM)
    refuses(lambda: os.chown(path, 1, 1), errno.EPERM)
    assert path.read_bytes() == b"x" * 100 + b"y"


def test_new_files_have_the_replicas_and_blocks_of_the_mount(
    mounts: Mounts, hdfs: LocalCluster
) -> None:
    options = ("--writable", "--replication", "1", "--block-size", "1MiB")
    point, _ = mounts.start(*options)
    (point / "laid-out").write_bytes(b"x" * 100)
    status = webhdfs.status(hdfs, "/laid-out")
    assert (status["replication"], status["blockSize"]) == (1, 1 << 20)
    assert webhdfs.status(hdfs, "/laid-out")["length"] == 100


def test_the_read_buffer_is_changed_while_it_is_mounted(folder: Path, mounts: Mounts) -> None:
    point = folder.parent
    place = f"--on={point}"
    done = mounts.program("set", "mount.hdfs.rdbuffer=64KiB", place)
    assert done.returncode == 0, done.stderr
    assert os.getxattr(point, "user.iostudy.rdbuffer") == b"65536"
    assert "65536" in mounts.program("get", "mount.hdfs.rdbuffer", place).stdout
    done = mounts.program("restore")
    assert os.getxattr(point, "user.iostudy.rdbuffer") == b"10485760", done.stderr


def test_the_read_buffer_of_a_read_only_mount_is_not_changed(mounts: Mounts) -> None:
    point, _ = mounts.start("--rdbuffer", "1MiB")
    done = mounts.program("set", "mount.hdfs.rdbuffer=64KiB", f"--on={point}")
    assert done.returncode == 3
    assert "--writable" in done.stderr
    assert os.getxattr(point, "user.iostudy.rdbuffer") == b"1048576"
