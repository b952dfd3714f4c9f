"""Journals that were damaged, cut, forged, or left by a process that was killed."""

from __future__ import annotations

import json
import os
import random
import signal
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest

from iostudy.persist.places import read_committed_settings
from iostudy.settings import kinds
from iostudy.settings.change import ConflictPolicy
from iostudy.settings.transaction.journal import Journal, JournalMode
from iostudy.settings.transaction.recovery import restore_all, restore_kinds, restore_stale
from tests.attack.campaign import AttackCount, attempts
from tests.settings.note import FileNote
from tests.stranger import STRANGER, as_self

BIT_FLIPS = 20_000
KILLS = 500
NOTES = 4
NAME = "1-1.journal"


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Flips, cuts, kills and forgeries; each of them takes a part of the time."""
    draw = random.Random(seed)
    return [
        flip_bits(seconds, BIT_FLIPS, draw),
        cut(1),
        kill(seconds, KILLS, draw),
        forge(),
    ]


class KilledJournal:
    """Notes that a killed owner has changed, and the bytes of its journal."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.notes = [folder / f"note{number}" for number in range(NOTES)]
        self.set_notes("before")
        journal = Journal.create(self.state, JournalMode.STUDY, "iostudy run old")
        for note in self.notes:
            journal.log_changes([FileNote.prepare(note, "after")])
        journal.close()
        self.journal = journal.path.read_bytes()
        journal.path.unlink()

    def set_notes(self, text: str) -> None:
        for note in self.notes:
            note.write_text(text)

    def restore(self, journal: bytes) -> str:
        """What is wrong after these bytes were restored: a silent loss or a traceback."""
        self.set_notes("after")
        path = self.state / NAME
        path.write_bytes(journal)
        path.chmod(0o600)
        try:
            undoing = restore_stale(self.state).undo_result
        except Exception as error:  # noqa: BLE001 - counted
            return f"{type(error).__name__}: {error}"
        for file in self.state.iterdir():
            file.unlink()
        left = sum(note.read_text() != "before" for note in self.notes)
        return f"{left} changes lost in silence" if left and not undoing.failures else ""


@contextmanager
def ground() -> Iterator[KilledJournal]:
    """In memory: ext4 brings each file that is written over to the disk."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder, pytest.MonkeyPatch.context() as patch:
        patch.setitem(kinds._CHANGES, FileNote.kind, FileNote.from_record)
        yield KilledJournal(Path(folder))


def flip_bits(seconds: float, most: int, draw: random.Random) -> AttackCount:
    count = AttackCount("one bit of a journal flipped")
    with ground() as place:
        for _ in attempts(seconds, most):
            bit = draw.randrange(8 * len(place.journal))
            flipped = bytearray(place.journal)
            flipped[bit // 8] ^= 1 << bit % 8
            problem = place.restore(bytes(flipped))
            count.record(problem and f"bit {bit}: {problem}")
    return count


def cut(stride: int) -> AttackCount:
    count = AttackCount("journal cut at a byte after its last announcement")
    with ground() as place:
        for length in range(0, len(place.journal), stride):
            problem = place.restore(place.journal[:length])
            count.record(problem and f"cut at byte {length}: {problem}")
    return count


def kill(seconds: float, most: int, draw: random.Random) -> AttackCount:
    """SIGKILL at any moment of announcing: all is restored, and no damage is reported."""
    count = AttackCount("false alarms after kill -9 of an owner that announces")
    with ground() as place:
        for _ in attempts(seconds, most):
            place.set_notes("before")
            kill_owner(place, draw.uniform(0, 0.02))
            # A note that is killed half-way holds neither text; the kernel's attributes cannot.
            undoing = restore_all(place.state, ConflictPolicy.OVERWRITE).undo_result
            problem = "".join(str(failure) for failure in undoing.failures)
            changed = sum(note.read_text() != "before" for note in place.notes)
            files = [path.name for path in place.state.iterdir()]
            count.record(problem or "".join(files) or (f"{changed} changes left" * bool(changed)))
    return count


def kill_owner(place: KilledJournal, seconds: float) -> None:
    child = os.fork()
    if child == 0:
        journal = Journal.create(place.state, JournalMode.STUDY, "iostudy run killed")
        while True:
            for note in place.notes:
                change = FileNote.prepare(note, f"after {time.monotonic_ns()}")
                (number,) = journal.log_changes([change])
                change.apply()
                change.undo()
                journal.log_undo(number)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def forge() -> AttackCount:
    """A forged journal of every kind in a state directory of every kind, for every reader."""
    count = AttackCount("forged journal in a state directory")
    for directory, file, reader in product(DIRECTORIES, FILES, READERS):
        with tempfile.TemporaryDirectory() as made, pytest.MonkeyPatch.context() as patch:
            patch.setitem(kinds._CHANGES, FileNote.kind, FileNote.from_record)
            problem = forge_one(Path(made), directory, file, reader)
            names = f"{directory.__name__}, {file.__name__}, {reader.__name__}"
            count.record(problem and f"{names}: {problem}")
    return count


def forge_one(
    folder: Path,
    directory: Callable[[Path], None],
    file: Callable[[Path, bytes], None],
    reader: Callable[[Path], str],
) -> str:
    """What the forged journal achieved; empty if nothing."""
    folder.chmod(0o755)
    state, target = folder / "state", folder / "target"
    target.write_text("after")
    state.mkdir(mode=0o700)
    file(state / NAME, forged(target))
    os.chown(state / NAME, STRANGER, STRANGER, follow_symlinks=False)
    directory(state)
    text = as_self(lambda: reader(state))
    if target.read_text() != "after" or "core_pattern" in text:
        return "it was carried out"
    if not text:
        return "the reader hung"
    return text[-90:] if "Traceback" in text else ""


def forged(target: Path) -> bytes:
    """A journal of the first format, which every version reads."""
    owner = {"mode": "set", "pid": 1, "command": "iostudy set", "started_at": 1.0}
    pattern = {"kernel/core_pattern": "|/tmp/evil"}
    sysctl = {
        "owner": {},
        "before": {"kernel/core_pattern": "core"},
        "after": pattern,
        "settings": {"sysctl.kernel.core_pattern": "|/tmp/evil"},
    }
    note = {"path": str(target), "before": "forged", "after": "after"}
    events = (
        {"owner": owner},
        {"change": {"number": 1, "kind": "sysctl", "record": sysctl}},
        {"change": {"number": 2, "kind": "note", "record": note}},
    )
    committed = {"committed": True}
    return b"".join(map(line, (*events, committed)))


def line(event: object) -> bytes:
    text = json.dumps(event).encode()
    return b"%08x %b\n" % (zlib.crc32(text), text)


def of_root(state: Path) -> None:
    state.chmod(0o700)


def writable(state: Path) -> None:
    state.chmod(0o777)


def sticky(state: Path) -> None:
    state.chmod(0o1777)


def of_stranger(state: Path) -> None:
    os.chown(state, STRANGER, STRANGER)


def below_stranger(state: Path) -> None:
    os.chown(state.parent, STRANGER, STRANGER)


def regular(path: Path, journal: bytes) -> None:
    path.write_bytes(journal)


def link(path: Path, journal: bytes) -> None:
    other = path.parent / "other"
    other.write_bytes(journal)
    path.symlink_to(other)


def fifo(path: Path, journal: bytes) -> None:
    del journal
    os.mkfifo(path)


def sparse(path: Path, journal: bytes) -> None:
    path.write_bytes(journal)
    os.truncate(path, 60 << 30)


def folder(path: Path, journal: bytes) -> None:
    del journal
    path.mkdir()


def read_held(state: Path) -> str:
    return f"held: {read_committed_settings(state)}"


def restore_left(state: Path) -> str:
    return f"restored: {restore_stale(state)}"


def restore_notes(state: Path) -> str:
    return f"restored: {restore_kinds('note', directory=state)}"


DIRECTORIES = (of_root, writable, sticky, of_stranger, below_stranger)
FILES = (regular, link, fifo, sparse, folder)
READERS = (read_held, restore_left, restore_notes)
