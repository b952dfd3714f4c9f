"""Kill a process at any line that changes the host, or at any moment, and let another recover.

Runs in a process of its own (``python -m tests.crash.killer``), which forks a victim and a rescuer
for every point: to start an interpreter for each would take most of the time.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import iostudy.settings
from iostudy import own_folder
from iostudy.host import mounts
from iostudy.host.devices import read_device
from iostudy.host.files import ROOT, read_attribute
from iostudy.line_handler import ignore_line
from iostudy.node.volume_sync import wait_for_sync
from iostudy.settings import catalog, commands, kinds, trace_instance
from iostudy.settings.change import Setting
from iostudy.settings.identity import ScratchIdentity
from iostudy.settings.scratch.disk import PREFIX, LoopbackDisk
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.new_filesystem import NewFilesystem
from iostudy.settings.scratch.volume.layout import VolumeLayout
from iostudy.settings.scratch.volume.volume import Volume
from iostudy.settings.switching import Switcher
from iostudy.settings.trace_instance import TraceInstance
from iostudy.settings.transaction import journal
from iostudy.settings.transaction.recovery import restore_stale
from iostudy.settings.transaction.state import REPORT_SUFFIX, state_directory
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.transaction.watchdog import start_watchdog
from iostudy.telemetry.block_events import BlockEvents
from iostudy.workloads.native.latency import compact_histogram
from iostudy.workloads.tick import continue_run
from tests.fixtures_loop import MIB, queue_state

SETTINGS = str(Path(iostudy.settings.__file__).parent)
STEPS = (journal.__file__, commands.__file__)
Act = Callable[[], None]

VALUES = {
    "block.read_ahead_kb": "64",
    "block.nr_requests": "100",
    "block.nomerges": "2",
    "block.mq-deadline.fifo_batch": "8",
    "block.mq-deadline.read_expire": "80",
    "sysctl.vm.dirty_bytes": "100003840",
    "sysctl.vm.dirty_background_ratio": "7",
    "sysctl.vm.swappiness": "11",
    "sysctl.net.ipv4.tcp_rmem": "4096 87380 16777216",
    "thp.defrag": "never",
    "mount.atime": "noatime",
    "mount.lazytime": "on",
    "mount.commit": "77",
    "limit.nofile_soft": "2000",
    "cgroup.wbps": "900MiB",
}
"""One level, or several, of every kind of setting that is quick to change."""

KERNEL = (
    "proc/sys/vm/dirty_*",
    "proc/sys/vm/swappiness",
    "proc/sys/net/ipv4/tcp_rmem",
    "sys/kernel/mm/transparent_hugepage/enabled",
    "sys/kernel/mm/transparent_hugepage/defrag",
)
"""Files that the scenarios change, and that others may be disturbed with."""

VOLUMES = "iostudy-"
"""Beginning of the names of volumes."""

OTHERS_SECONDS = 60
"""Longest time for which something of a concurrent test may look like a leftover."""

INSTANCES = ROOT / trace_instance.DEFAULT_PATH / "instances"


def change_scheduler(loop: str) -> None:
    """Two trials with the scheduler and what hangs on it."""
    with Transaction() as transaction:
        for level in ("bfq", "mq-deadline"):
            values = {"scheduler": level, "nr_requests": "512", "read_ahead_kb": "64"}
            wanted: dict[Setting, str] = {}
            for name, value in values.items():
                wanted |= dict.fromkeys(kinds.bind(f"block.{name}", loop), value)
            with transaction.apply_temporarily(*kinds.prepare_changes(wanted)):
                pass


def change_scheduler_under_watchdog(loop: str) -> None:
    """A trial with another scheduler; a watchdog restores it if this process is killed."""
    with Transaction(on_journal=partial(start_watchdog, output_folder=None)) as transaction:
        wanted = dict.fromkeys(kinds.bind("block.scheduler", loop), "kyber")
        transaction.apply(*kinds.prepare_changes(wanted))
        time.sleep(0.05)


def switch_scheduler(loop: str) -> None:
    """Switches among schedulers with their requests, as under a running workload."""
    schedulers = [{"scheduler": each} for each in ("none", "bfq", "kyber")]
    levels = [*schedulers, {"scheduler": "mq-deadline", "nr_requests": "77"}]
    wanted = [
        {s: value for name, value in level.items() for s in kinds.bind(f"block.{name}", loop)}
        for level in levels
    ]
    with Transaction() as transaction:
        changes = kinds.prepare_switching(wanted)
        with transaction.apply_temporarily(*changes):
            switcher = Switcher(changes)
            for level in (1, 2, 3, 1, 3, 0, 2):
                switcher.switch(level)


def change_every_kind(point: Path) -> None:
    """A trial with settings of every kind on a mounted loop disk."""
    wanted: dict[Setting, str] = {}
    for name, value in VALUES.items():
        wanted |= dict.fromkeys(kinds.bind(name, point), catalog.get(name).parse(value))
    with (
        Transaction() as transaction,
        transaction.apply_temporarily(*kinds.prepare_changes(wanted)),
    ):
        pass


def use_scratch_disk(folder: Path) -> None:
    """A scratch disk with a file system after another, and a scheduler of its own."""
    with Transaction() as transaction:
        (disk,) = LoopbackDisk.prepare(folder, 16 * MIB)
        transaction.apply(disk)
        for kind in ("ext4", "ext2"):
            with transaction.apply_temporarily(NewFilesystem.prepare(disk, Filesystem(kind))):
                wanted = dict.fromkeys(kinds.bind("block.scheduler", disk.mount_point), "kyber")
                with transaction.apply_temporarily(*kinds.prepare_changes(wanted)):
                    (disk.mount_point / "file").write_bytes(bytes(MIB))


def use_volume(folder: Path, disks: Sequence[str], kind: str) -> None:
    """A volume with its first resync, and a file system on it."""
    members = [ScratchIdentity.from_device(read_device(name)) for name in disks]
    with Transaction() as transaction:
        volume = Volume.prepare(own_folder.new_path(folder, PREFIX), VolumeLayout(kind), members)
        with transaction.apply_temporarily(volume):
            wait_for_sync(volume, continue_run, ignore_line)
            with transaction.apply_temporarily(NewFilesystem.prepare(volume, Filesystem("ext4"))):
                (volume.mount_point / "file").write_bytes(bytes(MIB))


def trace_requests(loop: str) -> None:
    """A recording of the requests of a device."""
    device = read_device(loop)
    with Transaction() as transaction:
        instance = TraceInstance.prepare([device])
        with transaction.apply_temporarily(instance):
            events = BlockEvents(instance.path, {device.number: loop}, compact_histogram)
            events.start()
            Path(device.path).read_bytes()
            events.stop()


def leave_settings(loop: str) -> None:
    """Changes whose owner is gone, for a rescuer to be killed over."""
    transaction = Transaction()
    settings = kinds.bind("block.scheduler", loop) + kinds.bind("block.nr_requests", loop)
    values = ("kyber", "300")
    transaction.apply(*kinds.prepare_changes(dict(zip(settings, values, strict=True))))
    kill_me()


def rescue() -> None:
    """What every command does first; waits for a command of the victim that has not ended yet."""
    deadline = time.monotonic() + 300
    while True:
        recovery = restore_stale()
        recovery.within_reach().undo_result.check()
        if not recovery.skip_reasons and not recovery.undo_result.failures:
            return
        assert time.monotonic() < deadline, recovery
        time.sleep(0.01)


def await_watchdog(state: Callable[[], dict[str, Any]], before: dict[str, Any]) -> None:
    """Wait until the watchdog has restored everything; it needs no second command."""
    deadline = time.monotonic() + 300
    while changes(before, state()).keys() - {"journals"}:
        assert time.monotonic() < deadline, changes(before, state())
        time.sleep(0.02)
    rescue()  # a journal without a change, whose owner was killed before it started a watchdog


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What differs, before and after; groups and instances of others may have ended."""
    differ = {key: (before[key], after[key]) for key in before if before[key] != after[key]}
    return {
        key: (old, new)
        for key, (old, new) in differ.items()
        if key not in {"groups", "instances"} or set(new) - set(old)
    }


def lasting_changes(find: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What differs and stays so: groups, instances and loop devices of other tests come and go."""
    deadline = time.monotonic() + OTHERS_SECONDS
    while (found := find()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def kill_me() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed_at_line(number: int, act: Act) -> bool:
    """Whether the act ended before that line (from 1) executed in the modules of settings."""
    left = number

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith(SETTINGS):
            return None
        if event == "line":
            left -= 1
            if not left:
                kill_me()
        return trace

    def traced() -> None:
        sys.settrace(trace)
        act()

    return fork(traced)


def killed_at_step(number: int, act: Act) -> bool:
    """Whether the act ended before that step (from 1).

    A step is a call of the journal, a change of its contents, or the start of a tool: all that the
    journal and the tools do lies between two of them.
    """
    left = number
    journaled: dict[str, bytes] = {}

    def end_step() -> None:
        nonlocal left
        left -= 1
        if not left:
            kill_me()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal journaled
        if frame.f_code.co_filename not in STEPS:
            return None
        caller = frame.f_back
        if event == "call" and caller is not None and caller.f_code.co_filename not in STEPS:
            end_step()
        if (found := read_journals()) != journaled:
            journaled = found
            end_step()
        return trace

    def traced() -> None:
        sys.settrace(trace)
        act()

    return fork(traced)


def read_journals() -> dict[str, bytes]:
    """The contents of all journals, by their names; the watchdog may remove one meanwhile."""
    found = {}
    for path in state_directory().glob("*.*"):
        with suppress(FileNotFoundError):
            found[path.name] = path.read_bytes()
    return found


def killed_at_moment(seconds: float, act: Act) -> bool:
    """Kill the act after that time, should it last so long; False, to go on in any case."""
    fork(act, kill_after_seconds=seconds)
    return False


def fork(act: Act, *, kill_after_seconds: float | None = None) -> bool:
    """Whether the act came to its end in a process of its own, and was not killed."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            act()
            status = 0
        except Exception:  # noqa: BLE001 - os._exit would swallow it
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    if kill_after_seconds is not None:
        time.sleep(kill_after_seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    assert os.waitstatus_to_exitcode(status) == 0, "the act failed by itself"
    return True


def host_state(loop: str, folder: Path) -> dict[str, Any]:
    """Everything that must be as it was."""
    backing = Path("/sys/block").glob("loop*/loop/backing_file")
    groups = Path("/sys/fs/cgroup").glob("**/iostudy*")
    own = str(folder)
    return {
        "queue": queue_state(loop),
        "kernel": {str(p): read_attribute(p) for pattern in KERNEL for p in ROOT.glob(pattern)},
        "mounted": [m for m in mounts.read_mounts() if m.source == f"/dev/{loop}"],
        "groups": sorted(str(g) for g in groups if not g.name.startswith("iostudy-test-")),
        "instances": sorted(map(str, INSTANCES.glob("iostudy*"))),
        "loops": [text for path in backing if (text := read_attribute(path) or "").startswith(own)],
        "mounts": [str(m.point) for m in mounts.read_mounts() if str(m.point).startswith(own)],
        "files": sorted(map(str, folder.rglob("*"))),
        "journals": sorted(
            str(path) for path in state_directory().glob("*.*") if path.suffix != REPORT_SUFFIX
        ),
    }


def volume_remains(disks: Sequence[str]) -> dict[str, Any]:
    """What a volume may leave: signatures of its disks, arrays and devices of device-mapper."""
    probes = [["wipefs", "--noheadings", f"/dev/{name}"] for name in disks]
    signatures = [subprocess.check_output(probe, text=True) for probe in probes]
    mapped = (read_attribute(path) for path in Path("/sys/block").glob("dm-*/dm/name"))
    return {
        "signatures": "".join(signatures),
        "arrays": sorted(path.parent.name for path in Path("/sys/block").glob("md*/md")),
        "mapped": sorted(name for name in mapped if name and name.startswith(VOLUMES)),
    }


def free_loop_schedulers() -> dict[str, str]:
    """The scheduler of every loop device without a file; a detached one keeps its queue."""
    free = (each for each in Path("/sys/block").glob("loop*") if not (each / "loop").exists())
    return {each.name: (each / "queue/scheduler").read_text() for each in free}


def changes_of_loops(schedulers: dict[str, str]) -> dict[str, Any]:
    """Free loop devices with another scheduler than before; new ones are added to those known."""
    free = free_loop_schedulers()
    return {
        name: (schedulers[name], scheduler)
        for name, scheduler in free.items()
        if scheduler != schedulers.setdefault(name, scheduler)
    }


def kills(arguments: argparse.Namespace, act: Act) -> Iterator[Callable[[], bool]]:
    """One way to be killed after the other; each returns whether the act ended before it."""
    if arguments.moments:
        draw = random.Random(arguments.start)
        within = duration_seconds(act)
        for _ in range(arguments.moments):
            yield partial(killed_at_moment, draw.uniform(0, within), act)
        return
    for number in itertools.count(arguments.start, arguments.stride):
        if arguments.steps:
            yield partial(killed_at_step, number, act)
        else:
            yield partial(killed_at_line, number, act)


def duration_seconds(act: Act) -> float:
    """How long the act lasts when nobody kills it."""
    began = time.monotonic()
    assert fork(act)
    return time.monotonic() - began


def load_settings() -> None:
    """Import what every victim would import; its lines are no points: they change nothing."""
    kinds.all_kinds()
    for name, value in VALUES.items():
        catalog.get(name).parse(value)


def main() -> None:
    """Kill and rescue, point after point; the number of points on stdout."""
    parser = argparse.ArgumentParser()
    scenarios = ("scheduler", "switch", "kinds", "scratch", "trace", "rescue", "watchdog", "volume")
    parser.add_argument("scenario", choices=scenarios)
    parser.add_argument("loop")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--start", type=int, default=1)
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--moments", type=int, default=0)
    parser.add_argument(
        "--steps", action="store_true", help="at calls of the journal and of tools alone"
    )
    parser.add_argument("--volume", default="", help="kind of volume")
    parser.add_argument("--disks", nargs="*", default=[], help="disks of the volume, without data")
    arguments = parser.parse_args()
    loop, folder = arguments.loop, arguments.folder
    point = folder.parent / "mounted"
    acts: dict[str, Act] = {
        "scheduler": lambda: change_scheduler(loop),
        "switch": lambda: switch_scheduler(loop),
        "kinds": lambda: change_every_kind(point),
        "scratch": lambda: use_scratch_disk(folder),
        "trace": lambda: trace_requests(loop),
        "rescue": rescue,
        "watchdog": lambda: change_scheduler_under_watchdog(loop),
        "volume": lambda: use_volume(folder, arguments.disks, arguments.volume),
    }

    def state() -> dict[str, Any]:
        return host_state(loop, folder) | volume_remains(arguments.disks)

    load_settings()
    before, schedulers = state(), free_loop_schedulers()
    restore = rescue
    if arguments.scenario == "watchdog":
        restore = partial(await_watchdog, state, before)
    points = 0
    for kill in kills(arguments, acts[arguments.scenario]):
        if arguments.scenario == "rescue":
            fork(lambda: leave_settings(loop))
        ended = kill()
        assert fork(restore)
        changed = lasting_changes(lambda: changes(before, state()) | changes_of_loops(schedulers))
        assert not changed, f"point {points}: {changed}"
        if ended:
            break
        points += 1
    print(points)  # noqa: T201


if __name__ == "__main__":
    main()
