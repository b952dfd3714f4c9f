"""Tests of file work as another user, in one thread and those that it starts."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread

import pytest

from iostudy.account import Account, act_as, act_as_process
from iostudy.errors import UnsafePathError, UsageError, WorkloadError
from iostudy.folders import require_safe_target
from iostudy.settings import kinds
from iostudy.settings.work_folder import WorkFolder
from iostudy.workloads.external.program import Program, run
from iostudy.workloads.page_cache import drop_file

pytestmark = pytest.mark.root

OWNER = Account.of_owner(65534)


@pytest.fixture(name="base")
def base_() -> Iterator[Path]:
    """A folder of root's that everybody may enter."""
    with tempfile.TemporaryDirectory(prefix="iostudy-account-") as name:
        base = Path(name)
        base.chmod(0o755)
        yield base


@pytest.fixture(name="data")
def data_(base: Path) -> Path:
    """A folder of another user."""
    data = base / "data"
    data.mkdir()
    os.chown(data, OWNER.uid, OWNER.gid)
    return data


@pytest.fixture(name="secret")
def secret_(base: Path) -> Path:
    secret = base / "secret"
    secret.touch(0o600)
    return secret


def test_only_the_files_of_that_user_can_be_accessed(data: Path, secret: Path) -> None:
    with act_as(OWNER):
        (data / "file").touch()
        with pytest.raises(PermissionError):
            secret.read_bytes()
    assert (data / "file").stat().st_uid == OWNER.uid
    secret.read_bytes()


def test_groups_of_root_give_no_access(secret: Path) -> None:
    secret.chmod(0o060)
    os.chown(secret, 1, 6)
    earlier = os.getgroups()
    os.setgroups([6])
    try:
        with act_as(OWNER), pytest.raises(PermissionError):
            secret.read_bytes()
        assert os.getgroups() == [6]
    finally:
        os.setgroups(earlier)


def test_threads_inherit_the_user_and_others_keep_theirs(secret: Path) -> None:
    with ThreadPoolExecutor(1) as before:
        before.submit(os.getpid).result()
        errors: list[OSError] = []

        def read() -> None:
            try:
                secret.read_bytes()
            except OSError as error:
                errors.append(error)

        with act_as(OWNER):
            thread = Thread(target=read)
            thread.start()
            thread.join()
            before.submit(read).result()
    assert len(errors) == 1


def test_a_program_has_the_rights_of_the_process_again(data: Path, secret: Path) -> None:
    with act_as(OWNER):
        with act_as_process():
            subprocess.run(["cat", secret], check=True)
        with pytest.raises(PermissionError):
            secret.read_bytes()


def test_a_program_starts_in_no_folder_that_its_user_cannot_reach(data: Path, base: Path) -> None:
    work, vault = data / "work", base / "vault"
    work.mkdir(0o755)
    (vault / "inner").mkdir(parents=True)
    vault.chmod(0o700)
    there = run(Program(("pwd",), work, 20.0, account=OWNER))
    assert there.stdout.text == f"{work.resolve()}\n"
    work.rmdir()
    work.symlink_to(vault / "inner")
    with pytest.raises(WorkloadError, match="Permission denied"):
        run(Program(("pwd",), work, 20.0, account=OWNER))
    assert run(Program(("pwd",), work, 20.0)).stdout.text == f"{(vault / 'inner').resolve()}\n"


def test_a_work_folder_is_made_and_removed_as_its_owner(data: Path, base: Path) -> None:
    folder = WorkFolder.prepare(data, account=OWNER)
    folder.apply()
    assert folder.path.stat().st_uid == OWNER.uid
    recovered = kinds.rebuild_change(folder.kind, folder.record())
    data.rename(base / "aside")
    vault = base / "vault"
    (vault / folder.path.name).mkdir(0o700, parents=True)
    (data.parent / "data").symlink_to(vault)
    with pytest.raises(Exception, match="Permission denied"):
        recovered.undo()
    assert (vault / folder.path.name).is_dir()


def test_the_directories_of_a_study_have_one_owner(data: Path, base: Path) -> None:
    assert require_safe_target([data], insist=False, may_be_foreign=True) == OWNER
    assert require_safe_target([base], insist=False, may_be_foreign=True) is None
    assert require_safe_target([data], insist=True, may_be_foreign=True) is None
    for places in ([data, base], [data / "third"]):
        (data / "third").mkdir(exist_ok=True)
        with pytest.raises(UnsafePathError):
            require_safe_target(places, insist=False, may_be_foreign=True)
    with pytest.raises(UnsafePathError):
        require_safe_target([data], insist=False, may_be_foreign=False)


def test_the_page_cache_of_a_fifo_is_not_waited_for(data: Path) -> None:
    os.mkfifo(data / "fifo")
    with pytest.raises(OSError, match="Illegal seek"):
        drop_file(data / "fifo")


def test_a_folder_is_given_through_own_folders_alone(base: Path) -> None:
    scratch = base / "scratch-0123456789abcdef"
    folder = scratch / "mount" / "iostudy-work-0123456789abcdef"
    (scratch / "mount").mkdir(parents=True)
    folder.mkdir(0o700)
    scratch.chmod(0o700)
    OWNER.give(folder)
    with act_as(OWNER):
        (folder / "file").touch()
    assert scratch.stat().st_mode & 0o777 == 0o710
    base.chmod(0o700)
    with pytest.raises(UsageError, match=re.escape(f"{base} keeps nobody out")):
        OWNER.give(folder)
    assert base.stat().st_mode & 0o777 == 0o700
