"""Cache of fetched jars with checksums; a folder is complete or absent."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from iostudy.durable import write_whole
from iostudy.errors import UsageError
from iostudy.line_handler import LineHandler

CACHE_DIR = "IOSTUDY_CACHE_DIR"
_MANIFEST = "sha256.json"

Fetch = Callable[[Path], None]
"""Writes the jars into an existing, empty folder."""


def cache_directory(environ: Mapping[str, str]) -> Path:
    """Return ``IOSTUDY_CACHE_DIR``, /var/cache/iostudy for root, or one below ``XDG_CACHE_HOME``.

    Source: XDG Base Directory Specification: ~/.cache by default; relative paths are ignored.
    """
    if environ.get(CACHE_DIR):
        return Path(environ[CACHE_DIR]).absolute()
    if os.geteuid() == 0:
        return Path("/var/cache/iostudy")
    home = Path(environ.get("XDG_CACHE_HOME", ""))
    return (home if home.is_absolute() else Path.home() / ".cache") / "iostudy"


def fetch_once(folder: Path, what: str, fetch: Fetch, on_progress: LineHandler) -> Path:
    """Return the folder with all jars; fetch them if they are missing or damaged.

    Waits while another iostudy fetches them. UsageError if the folder cannot be created. Any
    exception of ``fetch`` leaves the folder unchanged.
    """
    try:
        if _damage(folder) is None:
            return folder
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _alone(folder, what, on_progress):
            damage = _damage(folder)
            if damage is None:
                return folder
            on_progress(f"{what}: {damage} in {folder}; fetching it, which takes up to a minute")
            _fill(folder, fetch)
    except OSError as error:
        raise _unusable(folder, what, error) from error
    return folder


def _damage(folder: Path) -> str | None:
    """Return why the jars are unusable; None if they match their checksums."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_bytes())
    except FileNotFoundError:
        return "there is none yet"
    except ValueError:
        manifest = None
    if not isinstance(manifest, dict):
        return f"{_MANIFEST} was damaged"
    there = _checksums(folder)
    for name in sorted({*there, *manifest}):
        if there.get(name) != manifest.get(name):
            return f"{name} was damaged, removed or added"
    return None


def _checksums(folder: Path) -> dict[str, str]:
    return {path.name: _sha256(path) for path in sorted(folder.glob("*.jar"))}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _alone(folder: Path, what: str, on_progress: LineHandler) -> Iterator[None]:
    """Hold the folder's lock file with flock(2), which ends with the process."""
    descriptor = os.open(f"{folder}.lock", os.O_RDONLY | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_progress(f"{what}: waiting for another iostudy that fetches it")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _fill(folder: Path, fetch: Fetch) -> None:
    """Fetch into a temporary folder and rename it, so that the folder is complete or absent.

    Its name is unique: the Maven of a killed process may still be running.
    """
    for left in folder.parent.glob(f"{folder.name}.new-*"):
        shutil.rmtree(left, ignore_errors=True)  # or else the next time
    partial = folder.with_name(f"{folder.name}.new-{os.getpid()}")
    partial.mkdir()
    try:
        fetch(partial)
        write_whole(partial / _MANIFEST, json.dumps(_checksums(partial), indent=1).encode())
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _unusable(folder: Path, what: str, error: OSError) -> UsageError:
    return UsageError(
        f"a folder to keep {what} in",
        found=error.strerror or str(error),
        where=str(error.filename or folder),
        remedy=f"make it writable, with 200 MiB of room, or name another folder in {CACHE_DIR}",
    )
