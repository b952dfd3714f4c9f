"""Whole fleet runs among files of another user, and without any pickle."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy_fleet.design import Design
from tests.plugins.fleet.hosts import Hosts
from tests.plugins.fleet.small_study import run_arguments, write_study

pytestmark = pytest.mark.process

SCRATCH = "dask-scratch-space"
"""The folder in TMPDIR in which an earlier version had code of its scheduler."""
MODULES = ("iostudy", "json", "asyncio", "platform", "socket", "_frozen_importlib_x", "pydantic")
WITHOUT_PICKLE = """\
import pickle
def refuse(*_, **__):
    raise AssertionError("a pickle is loaded")
pickle.load = pickle.loads = pickle._loads = pickle._load = refuse
pickle.Unpickler = pickle._Unpickler = refuse
"""
SRUN = """\
#!/bin/sh
while [ "$1" != -- ]; do case $1 in --nodelist=*) node=${1#*=};; esac; shift; done
exec ssh -- "$node" "$(shift; for word; do printf "'%s' " "$word"; done)"
"""
PROGRAMS = {
    "srun": SRUN,
    "salloc": '#!/bin/sh\necho "17 n[1-2]"; exec cat\n',
    "scontrol": "#!/bin/sh\necho n1; echo n2\n",
    "squeue": "#!/bin/sh\n",
    "sinfo": "#!/bin/sh\nprintf '%s\\n' 'n1 idle' 'n2 idle'\n",
}
"""In the place of Slurm's, over the fake ssh."""


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    hosts = Hosts(tmp_path)
    write_study(hosts, 3)
    yield hosts
    hosts.end()


def make_traps(folder: Path, mark: Path) -> Path:
    """A folder of another user, with a module for each name that a program may import."""
    scratch = folder / SCRATCH
    scratch.mkdir(parents=True)
    for place in (folder, scratch):
        for name in MODULES:
            (place / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write({name!r})\n")
        (place / "global.lock").symlink_to(folder / "precious")
        place.chmod(0o777)
    (folder / "precious").write_text("precious")
    return folder


def name_nodes(hosts: Hosts, way: str) -> list[str]:
    """The options of a way to name the nodes n1 and n2."""
    if way == "inventory":
        (hosts.controller.folder / "hosts").mkdir(exist_ok=True)
        (hosts.controller.folder / "inventory").write_text("n[1:2]\n")
        return ["--inventory", "inventory"]
    if way == "slurm":
        for name, text in PROGRAMS.items():
            (hosts.folder / "bin" / name).write_text(text)
            (hosts.folder / "bin" / name).chmod(0o755)
        return ["--nodes", "slurm:2"]
    return ["--nodes", "ssh:n1,n2"]


def refuse_pickles(hosts: Hosts) -> None:
    """On the controller and on every node, which has its variables by the fake ssh."""
    hosts.controller.interpreter = True
    library = hosts.folder / "library"
    library.mkdir()
    (library / "sitecustomize.py").write_text(WITHOUT_PICKLE)
    hosts.controller.env["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(library), os.environ.get("PYTHONPATH")))
    )


@pytest.mark.parametrize(
    ("way", "design"),
    [
        ("ssh", Design.REPLICATE),
        ("ssh", Design.TOGETHER),
        pytest.param("inventory", Design.REPLICATE, marks=pytest.mark.slow),
        pytest.param("slurm", Design.REPLICATE, marks=pytest.mark.slow),
    ],
)
def test_nothing_is_imported_from_the_folders_of_others_and_no_pickle_is_loaded(
    hosts: Hosts, way: str, design: Design
):
    refuse_pickles(hosts)
    mark = hosts.folder / "imported"
    traps = make_traps(hosts.folder / "shared", mark)
    hosts.add("n1", "n2", TMPDIR=str(traps))
    for name in ("n1", "n2"):
        with (hosts.folder / "hosts" / name).open("a") as file:
            file.write(f"cd {traps}\n")
    hosts.controller.env["TMPDIR"] = str(traps)
    before = sorted(traps.rglob("*"))
    arguments = run_arguments(hosts, "", lease="60s")
    at = arguments.index("--nodes")
    arguments[at : at + 2] = name_nodes(hosts, way)
    done = hosts.controller(*arguments, "--design", design.value)
    assert done.returncode == 0, done.stderr
    assert not mark.exists(), mark.read_text()
    assert sorted(traps.rglob("*")) == before
    assert (traps / "precious").read_text() == "precious"
