"""Whole fleet runs among files of another user; those by ssh are in the tests of each design."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.fleet.hosts import Hosts
from tests.plugins.fleet.small_study import run_arguments, write_study
from tests.plugins.fleet.traps import nodes_among_traps

pytestmark = [pytest.mark.process, pytest.mark.slow]

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


def name_nodes(hosts: Hosts, way: str) -> list[str]:
    """The options of a way to name the nodes n1 and n2."""
    if way == "inventory":
        (hosts.controller.folder / "hosts").mkdir(exist_ok=True)
        (hosts.controller.folder / "inventory").write_text("n[1:2]\n")
        return ["--inventory", "inventory"]
    for name, text in PROGRAMS.items():
        (hosts.folder / "bin" / name).write_text(text)
        (hosts.folder / "bin" / name).chmod(0o755)
    return ["--nodes", "slurm:2"]


@pytest.mark.parametrize("way", ["inventory", "slurm"])
def test_nothing_is_imported_from_the_folders_of_others_and_no_pickle_is_loaded(
    tmp_path: Path, way: str
):
    hosts = Hosts(tmp_path)
    write_study(hosts, 3)
    arguments = run_arguments(hosts, "", lease="60s")
    at = arguments.index("--nodes")
    arguments[at : at + 2] = name_nodes(hosts, way)
    try:
        with nodes_among_traps(hosts, "n1", "n2"):
            done = hosts.controller(*arguments)
            assert done.returncode == 0, done.stderr
    finally:
        hosts.end()
