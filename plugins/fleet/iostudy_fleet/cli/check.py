"""``iostudy fleet check``: what nodes lack to run a study."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import typer

from iostudy.cli.console import print_line, print_table, say
from iostudy.cli.output_folder import load_study
from iostudy.errors import UsageError
from iostudy.study.model import Study
from iostudy.study.privileges import list_root_requirements
from iostudy_fleet.cli.options import Inventory, Limit, Nodes, Python, Sudo, find_nodes
from iostudy_fleet.study.section import find_nodes_of

if TYPE_CHECKING:
    from iostudy_fleet.deployment.readiness import Readiness
    from iostudy_fleet.deployment.source import NodeSource
    from iostudy_fleet.record import FleetRecord


def check(
    study: Annotated[
        str | None, typer.Argument(help="Also check this study, as `iostudy check` on each node.")
    ] = None,
    nodes: Nodes = None,
    inventory: Inventory = None,
    limit: Limit = None,
    python: Python = None,
    sudo: Sudo = False,
) -> None:
    """Print for each node what it lacks, and the line that installs it; change nothing.

    Every node needs the version of iostudy that this host has.
    """
    loaded = None if study is None else load_study(study)
    chosen = find_nodes(
        None if loaded is None else find_nodes_of(loaded),
        nodes=nodes,
        inventory=inventory,
        limit=limit,
        python=python,
        sudo=sudo,
    )
    from iostudy_fleet.deployment.readiness import require_ready
    from iostudy_fleet.deployment.source import open_source

    fewest = 1 if loaded is None else loaded.most_nodes or 1
    require_enough(fewest, chosen.number)
    with open_source(chosen, None, say) as source:
        judged = judge_nodes(source, loaded)
    print_readiness(judged)
    require_ready(judged)
    require_enough(fewest, len(judged))


def judge_nodes(source: NodeSource, study: Study | None) -> Sequence[Readiness]:
    """Compare every node of the source with this host and with the needs of the study."""
    from iostudy_fleet.deployment.readiness import judge

    name, text = ("", "") if study is None else (study.name, study.text)
    needs_root = (
        study is not None and study.fallback is None and bool(list_root_requirements(study))
    )
    return judge(
        source.probe(name, text),
        version("iostudy-fleet"),
        source.install_command,
        needs_root=needs_root,
    )


def find_ready(
    source: NodeSource, study: Study, record: FleetRecord, *, resume: bool
) -> tuple[Readiness, ...]:
    """Return the nodes to run on, without those with complete results here.

    UsageError if a node is not ready. A resumed run continues without nodes that give no facts, and
    without unready nodes on which only the folder is left to remove.
    """
    from iostudy_fleet.deployment.readiness import require_ready
    from iostudy_fleet.supervision.node_state import Phase

    nodes = [readiness for readiness in judge_nodes(source, study) if record.needs(readiness.node)]
    fetched = record.list_in(Phase.FETCHED)
    unusable = [
        readiness
        for readiness in nodes
        if resume
        and (readiness.facts is None or (readiness.node in fetched and readiness.problems))
    ]
    for readiness in unusable:
        say(f"{readiness.node} is left out: {readiness.problems[0].found}")
    chosen = tuple(readiness for readiness in nodes if readiness not in unusable)
    require_ready(chosen)
    return chosen


def require_enough(fewest: int, found: int | None) -> None:
    """UsageError if fewer nodes can run the study than it needs; None if that is not known yet."""
    if found is not None and found < fewest:
        raise UsageError(
            f"{fewest} {'node' if fewest == 1 else 'nodes'} or more",
            found=f"at most {found} that can run the study",
            where="the fleet",
            remedy="name more nodes, or lower the load; `iostudy run` needs one host",
        )


def print_readiness(nodes: Sequence[Readiness]) -> None:
    """A line for each node, then the warnings of its check."""
    print_table(("node", "iostudy", "Python", "user", "state"), list(map(_format, nodes)))
    for readiness in nodes:
        for warning in readiness.warnings:
            print_line(f"warning: {readiness.node}: {warning}")


def _format(readiness: Readiness) -> list[str]:
    state = (
        "ready"
        if not readiness.problems
        else "; ".join(problem.found for problem in readiness.problems)
    )
    if readiness.facts is None:
        return [readiness.node, "", "", "", state]
    user = "root" if readiness.facts.root else "not root"
    return [readiness.node, readiness.facts.version or "none", readiness.facts.python, user, state]
