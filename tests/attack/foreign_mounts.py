"""FUSE mounts of another user, who chooses their source and path, next to a device of root."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iostudy.errors import TargetError
from iostudy.host.devices import read_device
from iostudy.host.mounts import read_mounts
from iostudy.host.stack import find_uses
from iostudy.host.topology import read_topology
from iostudy.settings.definitions.filesystem import FILESYSTEM_TYPE
from iostudy.settings.definitions.mount import ATIME
from iostudy.settings.kinds import filesystem, mount
from iostudy.storage_kind import StorageKind, find_storage_kind
from tests import attacker
from tests.attack.campaign import AttackCount, attempts
from tests.fixtures_loop import loop_disk
from tests.stranger import as_stranger

_MOST = 300
_NAMES = (b"a", b"\xff\xfe", "a\u2028b".encode(), b"a\rb", b"a\nb", b"a b", b"a - b", b"a\\040b")
_SUBTYPES = ("ext4", "xfs", "btrfs", "sshfs", "")


def is_possible() -> bool:
    """Whether users can mount by FUSE on this host."""
    return shutil.which("fusermount3") is not None and Path("/dev/fuse").exists()


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Mount with random names and sources, and look at root's device each time."""
    draw = random.Random(seed)
    count = AttackCount("foreign mounts: FUSE with the source of root's device")
    if not is_possible():
        return [count]
    with loop_disk() as name, _folder() as folder:
        sources = (f"/dev/{name}", f"/dev/block/{read_device(name).number}", f"../dev/{name}", name)
        for _ in attempts(seconds, _MOST):
            chosen = draw.choice(_NAMES), draw.choice(sources), draw.choice(_SUBTYPES)
            count.record(attempt(name, folder, *chosen))
    return [count]


def attempt(name: str, folder: Path, point: bytes, source: str, subtype: str) -> str:
    """Return what the mount made iostudy believe, empty for nothing."""
    with _mounted(os.fsencode(folder) + b"/" + point, source, subtype) as place:
        own = [each for each in read_mounts() if each.point == place]
        if [each.source for each in own] != [source]:
            return f"{point!r}: read as {own}"
        found = [text for text in _beliefs(name, place) if text]
        kind = find_storage_kind(own[0].filesystem, source)
        if kind is StorageKind.DEVICE:
            found.append("it is a device")
        return f"{point!r} {source} {subtype}: {'; '.join(found)}" if found else ""


def _beliefs(name: str, place: Path) -> Iterator[str]:
    """What is wrong in the uses, settings and topology of the device."""
    device = read_device(name)
    yield ", ".join(find_uses(device))
    for kind, definition in ((filesystem.KIND, FILESYSTEM_TYPE), (mount.KIND, ATIME)):
        try:
            yield f"{kind.bind(definition, str(device.path))} are bound"
        except TargetError:
            yield ""
    yield ", ".join(
        f"on {each.devices}"
        for each in read_topology().places
        if each.devices and each.mount.point == place
    )


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as made:
        os.chown(made, attacker.UID, attacker.UID)
        yield Path(made)


@contextmanager
def _mounted(point: bytes, source: str, subtype: str) -> Iterator[Path]:
    """A mount of another user that no process serves."""
    as_stranger(lambda: _mount(point, source, subtype))
    try:
        yield Path(os.fsdecode(point))
    finally:
        subprocess.run(["umount", point], check=True)


def _mount(point: bytes, source: str, subtype: str) -> str:
    Path(os.fsdecode(point)).mkdir(exist_ok=True)
    options = f"fsname={source}" + (f",subtype={subtype}" if subtype else "")
    ours, theirs = socket.socketpair()
    with ours, theirs:
        subprocess.run(
            [b"fusermount3", b"-o", options.encode(), b"--", point],
            env={**os.environ, "_FUSE_COMMFD": str(theirs.fileno())},
            pass_fds=(theirs.fileno(),),
            check=True,
        )
    return ""
