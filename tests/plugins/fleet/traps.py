"""Files of another user around a fleet, each with a name that its programs may import."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.plugins.fleet.hosts import Hosts

_SCRATCH = "dask-scratch-space"
"""The folder in TMPDIR in which an earlier version had code of its scheduler."""
_MODULES = ("iostudy", "json", "asyncio", "platform", "socket", "_frozen_importlib_x", "pydantic")
_WITHOUT_PICKLE = """\
import pickle
def refuse(*_, **__):
    raise AssertionError("a pickle is loaded")
pickle.load = pickle.loads = pickle._loads = pickle._load = refuse
pickle.Unpickler = pickle._Unpickler = refuse
"""


@contextmanager
def nodes_among_traps(hosts: Hosts, *names: str) -> Iterator[None]:
    """Add nodes whose programs, as those of the controller, run in a folder of another user.

    At the end nothing was imported from there, and nothing there is changed. No program can load a
    pickle.
    """
    mark = hosts.folder / "imported"
    traps = _make_traps(hosts.folder / "shared", mark)
    _refuse_pickles(hosts)
    hosts.add(*names, TMPDIR=str(traps))
    for name in names:
        with (hosts.folder / "hosts" / name).open("a") as file:
            file.write(f"cd {traps}\n")
    hosts.controller.env["TMPDIR"] = str(traps)
    before = sorted(traps.rglob("*"))
    yield
    assert not mark.exists(), mark.read_text()
    assert sorted(traps.rglob("*")) == before
    assert (traps / "precious").read_text() == "precious"


def _make_traps(folder: Path, mark: Path) -> Path:
    """Make the folder, with a module for each name that a program may import."""
    scratch = folder / _SCRATCH
    scratch.mkdir(parents=True)
    for place in (folder, scratch):
        for name in _MODULES:
            (place / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write({name!r})\n")
        (place / "global.lock").symlink_to(folder / "precious")
        place.chmod(0o777)
    (folder / "precious").write_text("precious")
    return folder


def _refuse_pickles(hosts: Hosts) -> None:
    """On the controller and on every node, which has its variables by the fake ssh."""
    hosts.controller.interpreter = True
    library = hosts.folder / "library"
    library.mkdir()
    (library / "sitecustomize.py").write_text(_WITHOUT_PICKLE)
    hosts.controller.env["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(library), os.environ.get("PYTHONPATH")))
    )
