"""Other users prepare the place of a file that root tells a command to write."""

from __future__ import annotations

import os
import random
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from iostudy.output_file import OutputFile
from tests import attacker
from tests.attack.campaign import AttackCount, attempts
from tests.stranger import as_self, as_stranger

_MOST = 2000
_SECRET = "of root alone"


@dataclass(frozen=True)
class Place:
    """Root's file, and a folder of another user in which root is told to write ``file``."""

    secret: Path
    home: Path

    @property
    def file(self) -> Path:
        """The file of root's choice."""
        return self.home / "sub" / "file"

    def harm(self) -> str:
        """Return what became of root's files, empty for nothing."""
        vault = self.secret.parent
        names = sorted(path.name for path in vault.iterdir())
        if names != ["file", "secret"]:
            return f"root's folder has {names}"
        changed = [name for name in names if (vault / name).read_text() != _SECRET]
        return f"changed: {changed}" if changed else ""


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Every plan with every way to write, checked and waived, in random order."""
    draw = random.Random(seed)
    checked = AttackCount("outputs: file of the user's choice, checked")
    waived = AttackCount("outputs: the same with --unsafe-folders")
    for _ in attempts(seconds, _MOST):
        plan, write = draw.choice(PLANS), draw.choice(WRITES)
        insist = draw.random() < 0.5
        (waived if insist else checked).record(attempt(plan, write, insist=insist))
    return [checked, waived]


def attempt(plan: Callable[[Place], None], write: Write, *, insist: bool) -> str:
    """Return what the attack achieved; if the check is waived, only a link of the last name."""
    with scene() as place:
        as_stranger(lambda: str(plan(place)))
        text = as_self(lambda: _write(write, place, insist=insist))
        if text.startswith("Traceback"):
            return f"{plan.__name__} {write.__name__}: {text[-200:]}"
        if not insist and not text.startswith("refused"):
            return f"{plan.__name__} {write.__name__}: not refused"
        if insist and plan in FOLDER_PLANS:
            return ""
        found = place.harm() or ("" if text else "it hangs")
        return f"{plan.__name__} {write.__name__}: {found}" if found else ""


def _write(write: Write, place: Place, *, insist: bool) -> str:
    file = OutputFile(str(place.file))
    file.require_safe(insist=insist)
    try:
        write(file)
    except OSError as error:
        return f"OSError: {error}"
    return "written"


@contextmanager
def scene() -> Iterator[Place]:
    """A place that nobody has prepared yet."""
    with tempfile.TemporaryDirectory() as made:
        base = Path(made)
        base.chmod(0o755)
        place = Place(base / "vault/secret", base / "home")
        place.secret.parent.mkdir(0o700)
        place.secret.write_text(_SECRET)
        (place.secret.parent / "file").write_text(_SECRET)
        for folder in (place.home, place.home / "sub"):
            folder.mkdir()
            os.chown(folder, attacker.UID, attacker.UID)
        yield place


def link_to_secret(place: Place) -> None:
    place.file.symlink_to(place.secret)


def link_to_new(place: Place) -> None:
    place.file.symlink_to(place.secret.parent / "new")


def second_name(place: Place) -> None:
    """As fs.protected_hardlinks = 0 would let the attacker make it; refused otherwise."""
    place.file.hardlink_to(place.secret)


def fifo(place: Place) -> None:
    os.mkfifo(place.file)


def unix_socket(place: Place) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(place.file))


def folder(place: Place) -> None:
    place.file.mkdir()


def nothing(_: Place) -> None:
    """The folder alone is the attacker's."""


def linked_folder(place: Place) -> None:
    place.file.parent.rmdir()
    place.file.parent.symlink_to(place.secret.parent)


def swapped_links(place: Place) -> None:
    """Swap the folder by a link to root's while root writes, and back, for a second."""
    aside = place.home / "aside"
    aside.symlink_to(place.secret.parent)
    if not os.fork():
        signal.alarm(1)
        while True:
            Path(place.file.parent).rename(place.home / "own")
            Path(aside).rename(place.file.parent)
            Path(place.file.parent).rename(aside)
            Path(place.home / "own").rename(place.file.parent)


Write = Callable[[OutputFile], None]


def replace(file: OutputFile) -> None:
    file.write(b"x")


def append(file: OutputFile) -> None:
    file.append("x")


def make(file: OutputFile) -> None:
    with file.open_new() as opened:
        opened.write(b"x")


WRITES = (replace, append, make)
FOLDER_PLANS = (linked_folder, swapped_links)
"""With --unsafe-folders, the user accepts that a file lands in another folder."""
PLANS = (
    link_to_secret, link_to_new, second_name, fifo, unix_socket, folder, nothing, *FOLDER_PLANS,
)  # fmt: skip
