"""Programs that say and do what a test wants, in place of java and mvn."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path


def write(folder: Path, name: str, text: str) -> Path:
    """A shell script of this name in the folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return program


def java(home: Path, version: str, *more: str) -> Path:
    """A Java that says what `-XshowSettings:properties -version` does say, on stderr."""
    lines = ("Property settings:", f"    java.home = {home}", f"    java.version = {version}")
    said = "\n".join((*lines, f"    java.version.date = 2025-04-15\nopenjdk version {version}"))
    return write(home / "bin", "java", "\n".join((*more, f"cat >&2 <<'END'\n{said}\nEND")))


def require_ended(session: int) -> None:
    """No process of it is left; those that were killed may take a moment to go."""
    until = time.monotonic() + 300
    while left := _running(session):
        assert time.monotonic() < until, left
        time.sleep(0.02)


def _running(session: int) -> list[str]:
    """The names of its processes that are no zombies: fields 2, 3 and 6 of /proc/PID/stat."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                name, _, rest = (entry / "stat").read_text("latin-1").rpartition(")")
                state, _parent, _group, of = rest.split()[:4]
                if int(of) == session and state != "Z":
                    found.append(name)
    return found
