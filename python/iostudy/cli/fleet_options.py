"""Options of `iostudy fleet` that name the nodes, and the source that they mean."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iostudy.errors import UsageError
from iostudy.extras import require_extra

if TYPE_CHECKING:
    from iostudy.fleet.source import NodeSource

# Functions import the modules of fleets, which need an extra.

Nodes = Annotated[
    str | None,
    typer.Option(
        "--nodes", metavar="ssh:HOST,...", help="Nodes by ssh, as ssh:node01,root@node02."
    ),
]
Inventory = Annotated[
    Path | None, typer.Option("--inventory", metavar="FILE", help="Nodes of an Ansible inventory.")
]
Limit = Annotated[
    str | None,
    typer.Option(
        "--limit", metavar="NAME,...", help="Only these groups or hosts of the inventory."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="tls://HOST:PORT", help="Nodes are the workers of a Dask scheduler."
    ),
]
Python = Annotated[
    str,
    typer.Option(
        "--python",
        metavar="PATH",
        help="Python of iostudy on the nodes; iostudy_python in an inventory.",
        show_default="the path of this one",
    ),
]
Sudo = Annotated[
    bool, typer.Option("--sudo", help="Use sudo on the nodes; ansible_become in an inventory.")
]
Listen = Annotated[
    str | None,
    typer.Option(
        "--listen",
        metavar="ADDRESS",
        help="Address of this host that the nodes connect to.",
        show_default="that of the route to the first node",
    ),
]
THIS_PYTHON = sys.executable


def build_source(
    *,
    nodes: str | None,
    inventory: Path | None,
    limit: str | None,
    scheduler: str | None,
    python: str,
    sudo: bool,
    listen: str | None,
) -> NodeSource:
    """The source that the options name; UsageError unless there is exactly one."""
    require_extra("fleet", "run a study on many nodes", "pdsh, ssh or Ansible can start it too")
    from iostudy.fleet.inventory import read_nodes
    from iostudy.fleet.nodes import parse_nodes
    from iostudy.fleet.source import SchedulerSource, SshSource

    given = [option for option in (nodes, inventory, scheduler) if option is not None]
    if len(given) != 1 or (limit is not None and inventory is None):
        raise UsageError(
            "one of --nodes, --inventory and --scheduler; --limit with --inventory only",
            found=f"{len(given)} of them" + (" and --limit" if limit is not None else ""),
            where="the command line",
            remedy="give --nodes ssh:node01,node02 or an inventory of Ansible",
        )
    if scheduler is not None:
        return SchedulerSource(scheduler)
    if nodes is not None:
        return SshSource(parse_nodes(nodes, python=python, sudo=sudo), listen)
    assert inventory is not None
    names = limit.split(",") if limit is not None else []
    return SshSource(read_nodes(inventory, names, python=python, sudo=sudo), listen)
