"""Options of `iostudy fleet` that name the nodes, and the source that they mean."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from iostudy.errors import UsageError
from iostudy_fleet.study.section import FleetNodes, InventoryHosts, NodeOrigin

Nodes = Annotated[
    str | None,
    typer.Option(
        "--nodes",
        metavar="ssh:HOST,...|slurm:COUNT",
        help="Nodes by ssh, as ssh:node01,root@node02, or whole nodes of Slurm.",
        show_default="nodes of the study",
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
Python = Annotated[
    str | None,
    typer.Option(
        "--python",
        metavar="PATH",
        help="Python of iostudy on the nodes; iostudy_python in an inventory.",
        show_default="nodes.python of the study, or the path of this one",
    ),
]
Sudo = Annotated[
    bool, typer.Option("--sudo", help="Use sudo on the nodes; ansible_become in an inventory.")
]


def find_nodes(
    section: FleetNodes | None,
    *,
    nodes: str | None,
    inventory: Path | None,
    limit: str | None,
    python: str | None,
    sudo: bool,
) -> FleetNodes:
    """The nodes that the options name, else those of the study; UsageError without any."""
    origin = _read_origin(nodes, inventory, limit)
    chosen = section if origin is None else FleetNodes(origin)
    if chosen is None:
        raise _bad_options("none of them, and no section `nodes` in the study")
    return chosen.with_options(python=python, sudo=sudo)


def _read_origin(nodes: str | None, inventory: Path | None, limit: str | None) -> NodeOrigin | None:
    """The origin that the options name; None if they name none, UsageError for several."""
    from iostudy_fleet.deployment.nodes import parse_nodes

    names = tuple(limit.split(",")) if limit is not None else ()
    origins: list[NodeOrigin] = [
        *([parse_nodes(nodes)] if nodes is not None else []),
        *([InventoryHosts(inventory, names)] if inventory is not None else []),
    ]
    if len(origins) > 1 or (limit is not None and inventory is None):
        raise _bad_options(
            f"{len(origins)} of them" + (" and --limit" if limit is not None else "")
        )
    return origins[0] if origins else None


def _bad_options(found: str) -> UsageError:
    return UsageError(
        "one of --nodes and --inventory; --limit with --inventory only",
        found=found,
        where="the command line",
        remedy="give --nodes ssh:node01,node02 or an inventory of Ansible, or write "
        "nodes: {ssh: [node01, node02]} into the study",
    )
