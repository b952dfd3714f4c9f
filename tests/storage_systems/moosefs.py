"""MooseFS with one chunk server on this machine: a network file system through FUSE."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

EMPTY_METADATA = b"MFSM NEW"
"""Metadata of a new file system, for mfsmaster(8)."""
PROGRAMS = ("mfsmaster", "mfschunkserver", "mfsmount")


def find_address() -> str | None:
    """An address of this machine that is not a loop-back one: MooseFS refuses those."""
    found = subprocess.run(["ip", "-json", "address"], capture_output=True, check=True).stdout
    addresses = (own for each in json.loads(found) for own in each["addr_info"])
    wanted = (
        own["local"] for own in addresses if own["family"] == "inet" and own["scope"] == "global"
    )
    return next(wanted, None)


@contextmanager
def serving(folder: Path, address: str) -> Iterator[None]:
    """A master that only this machine may mount, and its chunk server, until the context ends."""
    master, chunks, blocks = folder / "master", folder / "chunks", folder / "blocks"
    for each in (master, chunks, blocks):
        each.mkdir()
    (master / "metadata.mfs").write_bytes(EMPTY_METADATA)
    (folder / "exports").write_text(f"{address} / rw,admin,maproot=0:0\n")
    (folder / "disks").write_text(f"{blocks}\n")
    masters = {
        "EXPORTS_FILENAME": str(folder / "exports"),
        "MATOML_LISTEN_HOST": address,
        "MATOCS_LISTEN_HOST": address,
        "MATOCL_LISTEN_HOST": address,
    }
    chunk_servers = {
        "HDD_CONF_FILENAME": str(folder / "disks"),
        "MASTER_HOST": address,
        "BIND_HOST": address,
        "CSSERV_LISTEN_HOST": address,
    }
    with ExitStack() as stack:
        stack.enter_context(_running("mfsmaster", master, masters))
        stack.enter_context(_running("mfschunkserver", chunks, chunk_servers))
        yield


@contextmanager
def _running(program: str, data: Path, settings: Mapping[str, str]) -> Iterator[None]:
    """A daemon of MooseFS; it starts before the command ends, and stops likewise."""
    file = data.parent / f"{program}.cfg"
    always = {"WORKING_USER": "root", "WORKING_GROUP": "root", "DATA_PATH": str(data)}
    lines = {**always, "LOCK_MEMORY": "0", **settings}.items()
    file.write_text("".join(f"{key} = {value}\n" for key, value in lines))
    command = [program, "-c", str(file)]
    subprocess.run([*command, "start"], check=True)
    try:
        yield
    finally:
        subprocess.run([*command, "stop"], check=True)
