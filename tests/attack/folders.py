"""Owners of output and target folders who swap what root is about to write into."""

from __future__ import annotations

import hashlib
import os
import random
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iostudy.host.mounts import read_mounts
from tests import attacker
from tests.attack.campaign import AttackCount, attempts
from tests.attacker import Watch
from tests.fixtures_loop import MIB, loop_disk
from tests.forked import start_forked

_MOST = 1000
_LINKS = 20
_LONGEST_SECONDS = 60.0
_AFTERWARDS_SECONDS = 2.0
_STUDY = """\
question: Does the record size matter?
target: {target}
factors:
  workload.include_flush: [true, false]
workloads:
  - iozone: {{operations: [write], min_file_size: 4MiB, max_file_size: 4MiB, min_record_size: 1MiB}}
decide: {{margin: 5%, risk: 5%, blocks: [5, 5]}}
validity: {{foreign_io: 100%, attempts: 10}}
"""

_FILE = "iozone-0000"
"""The file of iozone, which lies in the work folder itself."""


@dataclass(frozen=True)
class FolderScene:
    """A folder ``home`` of another user, and what is root's alone: a file, a folder, a device."""

    home: Path
    secret: Path
    vault: Path
    device: Path

    @property
    def prepared(self) -> Path:
        """The folder that the attacker puts in the place of root's."""
        return self.home / "prepared"

    def state(self) -> dict[str, str]:
        """The content of everything that is root's."""
        kept = sorted(path.name for path in self.vault.iterdir())
        return {
            "the file": f"{self.secret.stat().st_mode:o} {_digest(self.secret)}",
            "the folder": " ".join(kept),
            "the device": _digest(self.device),
        }


@dataclass(frozen=True)
class Attack:
    """What the owner of the folder does: once before the command, then again and again."""

    name: str
    command: Callable[[FolderScene], list[str]]
    plant: Callable[[FolderScene], None]
    race: Callable[[FolderScene], object]


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Every attack in turn, on commands as they are, and on some that insist."""
    order = random.Random(seed)
    kinds = [(attack, options) for attack in ATTACKS for options in ((), ("--unsafe-folders",))]
    counts = {
        kind: AttackCount(f"folders: {kind[0].name} {' '.join(kind[1])}".strip()) for kind in kinds
    }
    with loop_disk(4 * MIB) as victim:
        for number in attempts(seconds, _MOST):
            if number % len(kinds) == 0:
                order.shuffle(kinds)
            kind = kinds[number % len(kinds)]
            counts[kind].record(attempt(*kind, Path("/dev") / victim))
    return list(counts.values())


def attempt(attack: Attack, options: tuple[str, ...], device: Path) -> str:
    """One try; what the attack achieved, empty if nothing."""
    with _scene(device) as scene:
        before = scene.state()
        attack.plant(scene)
        with attacker.attacking(lambda: attack.race(scene)):
            _run([*attack.command(scene), *options], scene)
        after = scene.state()
        changed = [name for name, value in before.items() if after[name] != value]
        return "; ".join([f"{name} was changed" for name in changed] + _left(scene))


@contextmanager
def _scene(device: Path) -> Iterator[FolderScene]:
    with tempfile.TemporaryDirectory(prefix="iostudy-attack-") as name:
        base = Path(name)
        base.chmod(0o755)
        scene = FolderScene(base / "home", base / "secret", base / "vault", device)
        scene.vault.mkdir(0o700)
        scene.secret.touch(0o600)
        scene.secret.write_bytes(os.urandom(4096))
        device.write_bytes(os.urandom(MIB))
        for folder in (scene.home, scene.prepared):
            folder.mkdir()
            os.chown(folder, attacker.UID, attacker.UID)
        (base / "study.yaml").write_text(_STUDY.format(target="{loopback: {size: 16MiB}}"))
        (base / "here.yaml").write_text(_STUDY.format(target=scene.home))
        try:
            yield scene
        finally:
            _clear(base, device)


def _run(command: list[str], scene: FolderScene) -> None:
    """Run the program until it was attacked, ask it to end, and let it restore what is left."""
    base = scene.home.parent
    running = _start(command, base)
    _wait(running, scene)
    running.send_signal(signal.SIGTERM)
    running.wait()
    _start(["restore"], base).wait()


def _start(command: list[str], base: Path) -> subprocess.Popen[bytes]:
    variables = {**os.environ, "IOSTUDY_STATE_DIR": str(base / "state")}
    nowhere: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    return start_forked(command, base, variables, start_new_session=True, **nowhere)


def _wait(running: subprocess.Popen[bytes], scene: FolderScene) -> None:
    """Until it ends, or a little longer than until the attacker had a chance."""
    before, deadline = scene.state(), time.monotonic() + _LONGEST_SECONDS
    while running.poll() is None and time.monotonic() < deadline:
        if any(scene.home.glob("aside-*")) or scene.state() != before:
            deadline = min(deadline, time.monotonic() + _AFTERWARDS_SECONDS)
        time.sleep(0.1)


def _left(scene: FolderScene) -> list[str]:
    base = scene.home.parent
    mounted = [f"a mount was left: {point}" for point in _mounts(base)]
    loops = _loops(base, scene.device)
    return mounted + [f"a loop device was left: {name}" for name in loops]


def _mounts(base: Path) -> list[Path]:
    return [mount.point for mount in read_mounts() if mount.point.is_relative_to(base)]


def _loops(base: Path, device: Path) -> list[str]:
    """Those of files below ``base``, or of the device that is root's."""
    files = Path("/sys/block").glob("loop*/loop/backing_file")
    found = []
    for file in files:
        with suppress(OSError):
            if file.read_text().startswith((f"{base}/", f"{device}\n")):
                found.append(file.parent.parent.name)
    return found


def _clear(base: Path, device: Path) -> None:
    for point in reversed(_mounts(base)):
        subprocess.run(["umount", point], check=False)
    for name in _loops(base, device):
        subprocess.run(["losetup", "--detach", f"/dev/{name}"], check=False)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _swap(scene: FolderScene, prefix: str) -> None:
    """Put the prepared folder in the place of the first one of that name."""
    watch = Watch(scene.home)
    while scene.prepared.exists():
        watch.wait()
        for folder in scene.home.glob(f"{prefix}*"):
            folder.rename(scene.home / f"aside-{time.monotonic_ns()}")
            scene.prepared.rename(folder)


def _swap_and_relink(scene: FolderScene, prefix: str) -> None:
    """The same; then put a link in the place of every file that the workload removes."""
    if scene.prepared.exists():
        _swap(scene, prefix)
    for folder in scene.home.glob(f"{prefix}*"):
        for link in folder.glob("link-*"):
            while os.path.lexists(folder / _FILE):
                pass
            link.rename(folder / _FILE)


def _move(scene: FolderScene, prefix: str, inside: str) -> None:
    """Move the folder away once that is in it."""
    for folder in scene.home.glob(f"{prefix}*"):
        if not _is_empty(scene, inside):
            folder.rename(scene.home / f"aside-{time.monotonic_ns()}")
    time.sleep(0.005)


def _is_empty(scene: FolderScene, inside: str) -> bool:
    return not (
        _loops(scene.home.parent, scene.device) if inside == "image" else _mounts(scene.home)
    )


def _nothing(_: FolderScene) -> None:
    time.sleep(0.1)


def _loopback(scene: FolderScene) -> list[str]:
    return ["run", "study.yaml", "--out", str(scene.home)]


def _bench(scene: FolderScene) -> list[str]:
    shape = ("-o", "operations=write", "-o", "min_file_size=4MiB", "-o", "max_file_size=4MiB")
    return ["bench", "iozone", "--target", str(scene.home), *shape]


def _study(scene: FolderScene) -> list[str]:
    return ["run", "here.yaml", "--out", str(scene.home.parent / "out")]


def _program(scene: FolderScene) -> list[str]:
    script = "for i in 0 1 2 3 4 5 6 7 8 9; do echo x > link-$i; sleep 0.05; done"
    command = ["-o", f"run=sh -c {shlex.quote(script)}", "-o", "limit=10"]
    return ["bench", "command", "--target", str(scene.home), *command]


def _directory(scene: FolderScene) -> list[str]:
    return ["run", "here.yaml", "--out", str(scene.home)]


def _prepare(scene: FolderScene, name: str, target: Path) -> None:
    (scene.prepared / name).symlink_to(target)


def _link(scene: FolderScene, name: str, target: Path) -> None:
    (scene.home / name).symlink_to(target)


def _folder_of_links(scene: FolderScene) -> None:
    shutil.rmtree(scene.prepared)
    scene.prepared.symlink_to(scene.vault)
    os.chown(scene.prepared, attacker.UID, attacker.UID, follow_symlinks=False)


def _hard_link(scene: FolderScene) -> None:
    """As fs.protected_hardlinks = 0 would let the attacker make them."""
    for number in range(_LINKS):
        (scene.prepared / f"link-{number}").hardlink_to(scene.secret)


def _fifo(scene: FolderScene) -> None:
    for number in range(_LINKS):
        os.mkfifo(scene.prepared / f"link-{number}", 0o666)


def _rename(scene: FolderScene) -> None:
    """Move the work folder away and back, with a link to root's in its place meanwhile."""
    for folder in scene.home.glob("iostudy-work-*"):
        aside = scene.home / f"aside-{time.monotonic_ns()}"
        folder.rename(aside)
        folder.symlink_to(scene.vault)
        time.sleep(random.uniform(0, 0.02))
        folder.unlink()
        aside.rename(folder)


def _mount(scene: FolderScene) -> None:
    """Mount the vault over the work folder, as root of a user namespace may."""
    for folder in scene.home.glob("iostudy-work-*"):
        script = f"mount --bind {scene.home.parent} {folder}; mkdir {scene.home}/aside-1; sleep 1"
        subprocess.run(["unshare", "-Urm", "sh", "-c", script], check=False, capture_output=True)


def _symbolic_link(scene: FolderScene) -> None:
    for number in range(_LINKS):
        _prepare(scene, f"link-{number}", scene.secret)


ATTACKS = (
    Attack(
        "the image is a link to a file of root's",
        _loopback,
        lambda scene: _prepare(scene, "image", scene.secret),
        lambda scene: _swap(scene, "scratch-"),
    ),
    Attack(
        "the image is a link to a device",
        _loopback,
        lambda scene: _prepare(scene, "image", scene.device),
        lambda scene: _swap(scene, "scratch-"),
    ),
    Attack(
        "the folder of the disk is moved once it is attached",
        _loopback,
        lambda _: None,
        lambda scene: _move(scene, "scratch-", "image"),
    ),
    Attack(
        "the folder of the disk is moved once it is mounted",
        _loopback,
        lambda _: None,
        lambda scene: _move(scene, "scratch-", "mount"),
    ),
    Attack(
        "a file of the workload is a link",
        _bench,
        _symbolic_link,
        lambda scene: _swap_and_relink(scene, "iostudy-work-"),
    ),
    Attack(
        "a file of the workload has a second name",
        _bench,
        _hard_link,
        lambda scene: _swap_and_relink(scene, "iostudy-work-"),
    ),
    Attack(
        "the work folder is a link to a folder of root's",
        _bench,
        _folder_of_links,
        lambda scene: _swap(scene, "iostudy-work-"),
    ),
    *(
        Attack(f"{name} of a {kind}", command, plant, race)
        for kind, command in (("bench", _bench), ("study", _study), ("program", _program))
        for name, plant, race in (
            ("links in the folder", _symbolic_link, lambda scene: _swap(scene, "iostudy-work-")),
            ("second names in the folder", _hard_link, lambda scene: _swap(scene, "iostudy-work-")),
            ("FIFOs in the folder", _fifo, lambda scene: _swap_and_relink(scene, "iostudy-work-")),
            ("another folder in place", _nothing, _rename),
            ("a mount in a namespace", _nothing, _mount),
        )
    ),
    Attack(
        "ledger.new is a link",
        _directory,
        lambda _: None,
        lambda scene: _link(scene, "ledger.new", scene.secret),
    ),
    Attack(
        "the log of the ledger is a link",
        _directory,
        lambda scene: _link(scene, "ledger.sqlite-wal", scene.secret),
        _nothing,
    ),
    Attack(
        "telemetry is a link to a folder of root's",
        _directory,
        lambda scene: _link(scene, "telemetry", scene.vault),
        _nothing,
    ),
)
