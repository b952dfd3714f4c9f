"""A file system of another user, with a set-uid program and a device node, that root mounts."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from iostudy.errors import IostudyError
from iostudy.host.mounts import find_mounts_at
from iostudy.settings.definitions.filesystem import OPTIONS
from iostudy.settings.temporary_mount import TemporaryMount
from iostudy.study.targets.target import MountRequest
from tests import attacker
from tests.attack.campaign import AttackCount, attempts
from tests.fixtures_loop import MIB
from tests.mounts import mounted
from tests.stranger import as_stranger

_MOST = 500
_REQUEST = TypeAdapter(MountRequest)
HARMLESS = ("noatime", "commit=7", "errors=continue", "exec", "lazytime", "loop", "rw", "async")
HOSTILE = (
    "suid", "dev", "defaults", "user", "users", "owner", "group", "X-mount.mkdir",
    "x-mount.owner=0", 'context="x,suid"', "suid=1", '"dev"', " suid",
)  # fmt: skip


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Mount the image with random options, harmless and hostile, until the time is over."""
    draw = random.Random(seed)
    gained = AttackCount("mounts: a user's set-uid program and device node")
    hostile = AttackCount("mounts: an option that undoes nosuid,nodev")
    entered = AttackCount("mounts: a mount point that other users can enter")
    with image() as file:
        for _ in attempts(seconds, _MOST):
            options = draw.sample(HARMLESS, draw.randrange(4))
            gained.record(attack_mount(file, ",".join(options)))
            options.insert(draw.randrange(len(options) + 1), draw.choice(HOSTILE))
            hostile.record(request_options(",".join(options)))
            entered.record(mount_openly(file))
    return [gained, hostile, entered]


@contextmanager
def image() -> Iterator[Path]:
    """An image of ext4 of another user with the attack in it."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o755)
        file = folder / "image"
        file.touch()
        os.truncate(file, 16 * MIB)
        subprocess.run(["mkfs.ext4", "-q", str(file)], check=True)
        with mounted(folder / "inside", "-o", "loop", str(file)) as inside:
            inside.chmod(0o755)
            shutil.copy("/usr/bin/id", inside / "id")
            (inside / "id").chmod(0o4755)
            os.mknod(inside / "device", 0o20666, os.makedev(1, 5))
        os.chown(file, attacker.UID, attacker.UID)
        yield file


def attack_mount(file: Path, options: str) -> str:
    """Return what another user gained, who even had a descriptor of the mounted folder."""
    with tempfile.TemporaryDirectory() as made:
        point = Path(made) / "point"
        point.mkdir()
        change = TemporaryMount.prepare(point, str(file), "ext4", options)
        change.apply()
        opened = os.open(point, os.O_PATH)
        try:
            return as_stranger(lambda: use_image(opened, point))
        finally:
            os.close(opened)
            change.undo()


def use_image(inside: int, point: Path) -> str:
    """Return the rights that the image gave, empty for none."""
    gained = []
    program = [f"/proc/self/fd/{inside}/id", "-u"]
    ran = subprocess.run(program, capture_output=True, text=True, pass_fds=[inside], check=True)
    if ran.stdout.strip() != str(attacker.UID):
        gained.append("a set-uid program ran as another user")
    if os.access(point, os.F_OK):
        gained.append("the mount point could be entered")
    with suppress(PermissionError):
        os.close(os.open("device", os.O_RDONLY, dir_fd=inside))
        gained.append("a device node was opened")
    return "; ".join(gained)


def request_options(options: str) -> str:
    """Return a failure unless a study and a new file system refuse the options."""
    accepted = []
    request = {"mount": "filer:/x", "at": "/mnt/x", "options": options}
    with suppress(ValidationError):
        accepted.append(_REQUEST.validate_python(request))
    with suppress(ValueError):
        accepted.append(OPTIONS.parse(options))
    return f"{options}: accepted by {accepted}" if accepted else ""


def mount_openly(file: Path) -> str:
    """Return a failure unless a mount point that others can enter is refused, and not mounted."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        point = Path(made) / "point"
        point.mkdir(mode=0o700)
        try:
            TemporaryMount.prepare(point, str(file), "ext4", "").apply()
        except IostudyError:
            return "it is mounted" if find_mounts_at(point) else ""
        subprocess.run(["umount", str(point)], check=True)
        return "it was mounted where others can enter"


def leave_out_protection(folder: Path) -> Path:
    """Return a folder with a mount(8) that ignores the options, as a program of a type could."""
    tool = folder / "mount"
    found = shutil.which("mount")
    tool.write_text(f'#!/bin/sh\n[ "$3" = -o ] && exec {found} "$1" "$2" "$5" "$6"\nexit 9\n')
    tool.chmod(0o755)
    return folder
