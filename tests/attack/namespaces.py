"""Kill -9 where mounts come and go: namespaces, unmounted targets, read-only disks, loop queues."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from iostudy.host.devices import BlockDevice, find_loop_devices, read_device, read_disks
from iostudy.settings import kinds
from iostudy.settings.change import Setting
from iostudy.settings.scratch.disk import LoopbackDisk
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.new_filesystem import NewFilesystem
from iostudy.settings.transaction.journal import journal_paths
from iostudy.settings.transaction.recovery import restore_stale
from iostudy.settings.transaction.state import STATE_DIR, state_directory
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.work_folder import WorkFolder
from tests.attack import in_namespace
from tests.attack.campaign import AttackCount, attempts
from tests.fixtures_loop import MIB, loop_disk, queue_state
from tests.watchdogs import kill_watchdogs

_MOST = 40
_STUDY = """\
question: Which?
target: {loopback: {size: 64MiB}}
factors: {block.scheduler: [none, bfq]}
workloads: [{io: {operation: write, size: 4MiB, sync: fsync}}]
decide: {margin: 3%, risk: 5%, blocks: [900, 900]}
validity: {foreign_io: 1000%, steal: 90%}
"""
_GUARD_SECONDS = 60
_TRIAL_FAILED = 3


class Host:
    """An ext4 on a loop device, mounted at ``point``, in a folder of the campaign."""

    def __init__(self, folder: Path, device: str, draw: random.Random) -> None:
        self.folder, self.device, self.draw = folder, device, draw
        self.point = folder / "data"

    def mount(self) -> None:
        subprocess.run(["mount", self.device, self.point], check=True)

    def unmount(self) -> None:
        subprocess.run(["umount", self.point], check=True)

    def shown(self) -> list[str]:
        """The options of the mount and of its file system here."""
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
        return [line.split(" ", 5)[5] for line in lines if line.split()[4] == str(self.point)]

    def change_options(self) -> None:
        values = {"mount.atime": "noatime", "mount.commit": "77", "mount.nodiratime": "on"}
        names = self.draw.sample(sorted(values), self.draw.randint(1, len(values)))
        wanted: dict[Setting, str] = {}
        for name in names:
            wanted |= dict.fromkeys(kinds.bind(name, self.point), values[name])
        Transaction().apply(*kinds.prepare_changes(wanted))

    def make_folder(self) -> None:
        folder = WorkFolder.prepare(self.point)
        Transaction().apply(folder)
        (folder.path / "file").write_bytes(bytes(MIB))

    def left(self) -> list[str]:
        """Work folders on the file system, wherever they may be mounted."""
        return [path.name for path in self.point.glob("iostudy-*")]


@contextmanager
def host(seed: int) -> Iterator[Host]:
    """The file system of a campaign, and a state directory of its own."""
    with tempfile.TemporaryDirectory() as name, loop_disk() as loop:
        folder, device = Path(name), f"/dev/{loop}"
        subprocess.run(["mkfs.ext4", "-q", device], check=True)
        (folder / "data").mkdir()
        before, os.environ[STATE_DIR] = os.environ.get(STATE_DIR), str(folder / "state")
        made = Host(folder, device, random.Random(seed))
        made.mount()
        try:
            yield made
        finally:
            os.environ.pop(STATE_DIR)
            os.environ |= {STATE_DIR: before} if before is not None else {}
            subprocess.run(["umount", made.point], check=False, stderr=subprocess.DEVNULL)


def namespace_ends(host: Host) -> str:
    """Options changed in a namespace that ends with the victim: the file system's come back."""
    before = host.shown()
    in_namespace.killed(host.change_options)
    recovery = restore_stale()
    if host.shown() != before:
        return f"{before} became {host.shown()}"
    return f"failures: {recovery.undo_result.failures}" if journals() else ""


def namespace_lives(host: Host) -> str:
    """Options changed in a namespace that others stay in: nothing is forgotten before it ends."""
    before = host.shown()
    with in_namespace.kept(host.change_options) as pid:
        restore_stale()
        here = host.shown()
        inner_file = host.folder / "inside"
        in_namespace.inside(
            pid, lambda: (restore_stale(), inner_file.write_text(str(host.shown())))
        )
        if here != before or inner_file.read_text() != str(before):
            return f"{before} became {here}, inside {inner_file.read_text()}"
    return "a journal is left" if journals() else ""


def private_mount(host: Host) -> str:
    """A work folder on what only the victim's namespace has mounted."""
    host.unmount()
    with in_namespace.kept(lambda: (host.mount(), host.make_folder())):
        restore_stale()
    restore_stale()
    return folder_after_mount(host)


def unmounted_target(host: Host) -> str:
    """A work folder on a file system that is mounted after the recovery, as after a restart."""
    in_namespace.killed(host.make_folder)
    host.unmount()
    for _ in range(host.draw.randint(1, 2)):
        restore_stale()
    return folder_after_mount(host)


def folder_after_mount(host: Host) -> str:
    host.mount()
    restore_stale()
    left = host.left()
    subprocess.run(["rm", "-rf", *(host.point / name for name in left)], check=True)
    return f"{left} is left" if left or journals() else ""


def bind_mount(host: Host) -> str:
    """A work folder below a bind mount of the same file system, which is there no more."""
    (host.point / "real").mkdir(exist_ok=True)
    (host.point / "bound").mkdir(exist_ok=True)
    bind = ["mount", "--bind", host.point / "real", host.point / "bound"]

    def act() -> None:
        subprocess.run(bind, check=True)
        Transaction().apply(WorkFolder.prepare(host.point / "bound"))

    in_namespace.killed(act)
    restore_stale()
    subprocess.run(bind, check=True)
    restore_stale()
    subprocess.run(["umount", host.point / "bound"], check=True)
    left = list((host.point / "real").iterdir())
    for path in left:
        path.rmdir()
    return f"{left} is left" if left or journals() else ""


def scratch_disk(host: Host) -> str:
    """A loop-back disk whose image lies on what only the victim's namespace has mounted."""
    host.unmount()
    in_namespace.killed(lambda: (host.mount(), use_disk(host.point)))
    restore_stale()
    host.mount()
    restore_stale()
    left = [str(path) for path in host.point.glob("scratch-*")]
    own = ("/scratch-", str(host.point))  # of a mount that has ended, the path is cut
    loops = [d.name for d in all_loops() if str(d.backing_file).startswith(own)]
    for path in left:
        subprocess.run(["rm", "-rf", path], check=True)
    return f"{left} {loops} are left" if left or loops or journals() else ""


def read_only_disk(host: Host) -> str:
    """The scratch file system of a study turns read only: exit code 3, for all is restored."""
    process, device, _ = begin_study(host)
    point = mount_points(f"/dev/{device}")[0]
    time.sleep(host.draw.uniform(0, 1))
    remount = ["mount", "-o", "remount,ro", point]
    subprocess.run(remount, check=False, stderr=subprocess.DEVNULL)
    process.communicate(timeout=_GUARD_SECONDS)
    if process.returncode != _TRIAL_FAILED or journals():
        return f"exit code {process.returncode}, {len(journals())} journals"
    return ""


def loop_queue(host: Host) -> str:
    """A study that changes the queue of its loop device, and what is left there after a kill."""
    process, device, found = begin_study(host)
    time.sleep(host.draw.uniform(0, 2))
    kill_watchdogs(str(state_directory()))  # what follows is the recovery by the next command
    process.kill()
    process.communicate()
    if host.draw.random() < 1 / 3:  # somebody cleans up before the recovery
        for point in mount_points(f"/dev/{device}"):
            subprocess.run(["umount", point], check=True)
        subprocess.run(["losetup", "--detach", f"/dev/{device}"], check=False)
    restore_stale()
    if read_device(device).backing_file is not None:  # somebody else has it by now
        return ""
    after = queue_state(device)
    changed = {k: (found.get(k), after.get(k)) for k in after if after[k] != found.get(k)}
    return f"{device}: {changed}" if changed or journals() else ""


def begin_study(host: Host) -> tuple[subprocess.Popen[bytes], str, dict[str, str]]:
    """A study with a mounted disk, the name of its loop device, and the queue as it was found."""
    (host.folder / "study.yaml").write_text(_STUDY)
    out = host.folder / f"out-{time.monotonic_ns()}"
    code = "from iostudy.cli.main import main; main()"
    command = [sys.executable, "-c", code, "run", host.folder / "study.yaml", "--out", out]
    said = out.with_suffix(".stderr")
    with said.open("wb") as stderr:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr)
    deadline, found = time.monotonic() + _GUARD_SECONDS, {}
    while time.monotonic() < deadline and process.poll() is None:
        for image in out.glob("scratch-*/image"):
            for device in find_loop_devices(image):
                found = found or queue_state(device.name)
                if mount_points(str(device.path)):
                    return process, device.name, found
        time.sleep(0.001)
    raise AssertionError(f"the study did not begin: {process.poll()}, {said.read_text()}")


def use_disk(parent: Path) -> None:
    """A loop-back disk with a file system and a scheduler of its own."""
    transaction = Transaction()
    (disk,) = LoopbackDisk.prepare(parent, 16 * MIB)
    transaction.apply(disk)
    transaction.apply(NewFilesystem.prepare(disk, Filesystem("ext4")))
    transaction.apply(WorkFolder.prepare(disk.mount_point, disposable=True))
    values = dict.fromkeys(kinds.bind("block.scheduler", disk.mount_point), "kyber")
    transaction.apply(*kinds.prepare_changes(values))


def mount_points(source: str) -> list[str]:
    lines = Path("/proc/self/mounts").read_text(errors="replace").splitlines()
    return [line.split()[1] for line in lines if line.split()[0] == source]


def all_loops() -> list[BlockDevice]:
    return [device for device in read_disks() if device.name.startswith("loop")]


def journals() -> tuple[Path, ...]:
    return journal_paths(state_directory())


ATTACKS: dict[str, Callable[[Host], str]] = {
    "kill -9 in a mount namespace that ends": namespace_ends,
    "kill -9 in a mount namespace that lives": namespace_lives,
    "kill -9 on a private mount, recovery outside": private_mount,
    "recovery before the target is mounted": unmounted_target,
    "recovery without the bind mount of the target": bind_mount,
    "kill -9 with a loop-back disk on a private mount": scratch_disk,
}
"""Attacks on changes, folders and disks, by name."""
WITH_STUDY: dict[str, Callable[[Host], str]] = {
    "loop-back disk remounted read only": read_only_disk,
    "queue of a loop device after kill -9": loop_queue,
}
"""Attacks on a study of some seconds, by name."""
ATTACKS |= WITH_STUDY


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Every attack for an equal part of the time."""
    return [attack(name, seconds / len(ATTACKS), seed) for name in ATTACKS]


def attack(name: str, seconds: float, seed: int, most: int = _MOST) -> AttackCount:
    """One attack, at most so many times, on a file system of its own."""
    count = AttackCount(name)
    with host(seed) as made:
        for _ in attempts(seconds, most):
            count.record(ATTACKS[name](made))
            for path in journals():
                path.unlink()
    return count
