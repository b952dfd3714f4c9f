"""Transfer of a node's output folder to the controller, complete or not at all."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from iostudy import durable
from iostudy.errors import IostudyError, RecordError
from iostudy.ledger.store import FILE_NAME as LEDGER
from iostudy.ledger.store import Ledger
from iostudy_fleet.deployment.call_messages import describe_error
from iostudy_fleet.supervision.node_study import ResultFile

PIECE_BYTES = 1 << 20
"""Small enough that heartbeats over the same connection are not late."""
_MODE = 0o755


def fetch_folder(
    files: tuple[ResultFile, ...], read: Callable[[str, int, int], bytes], destination: Path
) -> None:
    """Write the files below ``destination``, which appears as a whole at the end.

    An earlier version is renamed to ``.NAME.old`` first, and removed at last.
    ``read`` returns a piece of a file: its name, offset and size. RecordError if a file is not what
    the node listed, or if the earlier version has a ledger and this one has none; OSError as it
    comes.
    """
    if has_ledger(destination) and all(file.name != LEDGER for file in files):
        raise RecordError(
            "the ledger of the study, of which there are results here",
            found="the node has none",
            where=str(destination),
            remedy="run the study again into another folder; these results stay",
        )
    needed, free = sum(file.size for file in files), shutil.disk_usage(destination.parent).free
    if needed > free:
        raise RecordError(
            f"space for {needed} bytes of results",
            found=f"{free} bytes are free",
            where=str(destination.parent),
            remedy="make space, then --resume; the results remain on the node",
        )
    partial = destination.with_name(f".{destination.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(_MODE)
    for file in files:
        _fetch_file(file, read, partial)
    durable.fsync_directory(partial)
    _replace(partial, destination)


def has_ledger(folder: Path) -> bool:
    """Return whether there are results of a study in a fetched folder."""
    return (folder / LEDGER).exists()


def find_damage(folder: Path) -> str:
    """Return why the ledger of a fetched folder cannot be used; empty if all its rows are there."""
    try:
        Ledger.open(folder, read_only=True).close()
    except (IostudyError, OSError) as error:
        return describe_error(error)
    return ""


def _fetch_file(file: ResultFile, read: Callable[[str, int, int], bytes], folder: Path) -> None:
    name = PurePosixPath(file.name)
    if name.is_absolute() or ".." in name.parts or not name.parts:
        raise _damaged(file, "a path outside its output folder")
    path = folder / name
    path.parent.mkdir(_MODE, parents=True, exist_ok=True)
    digest, offset = hashlib.sha256(), 0
    with path.open("xb") as written:
        while offset < file.size:
            piece = read(file.name, offset, min(PIECE_BYTES, file.size - offset))
            if not 0 < len(piece) <= file.size - offset:
                raise _damaged(file, f"{len(piece)} bytes after {offset} of {file.size} bytes")
            written.write(piece)
            digest.update(piece)
            offset += len(piece)
        written.flush()
        os.fsync(written.fileno())
    if digest.hexdigest() != file.sha256:
        raise _damaged(file, "another checksum")
    durable.fsync_directory(path.parent)


def _replace(partial: Path, destination: Path) -> None:
    """Give the new folder its name; the one that it replaces has fewer trials of the same study."""
    old = destination.with_name(f".{destination.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if destination.exists():
        destination.rename(old)
    partial.rename(destination)
    durable.fsync_directory(destination.parent)
    shutil.rmtree(old, ignore_errors=True)


def _damaged(file: ResultFile, found: str) -> RecordError:
    return RecordError(
        "the file that the node listed",
        found=found,
        where=file.name,
        remedy="the results remain on the node; --resume fetches them again",
    )
