"""Studies that one host cannot run (pure)."""

from __future__ import annotations

from iostudy.errors import UsageError
from iostudy.study.model import Study


def require_one_host(study: Study) -> None:
    """UsageError for a study with a number of nodes as its load."""
    if study.most_nodes is not None:
        raise UsageError(
            "a study of one host",
            found=f"a load of up to {study.most_nodes} nodes, fleet.nodes",
            where=study.name,
            remedy="run it with `iostudy fleet run --design together`, or leave out this load",
        )
