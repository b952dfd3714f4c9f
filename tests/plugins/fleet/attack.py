"""Campaigns against fleets: answers of hostile nodes, and inventories."""

from __future__ import annotations

from tests.attack.campaign import AttackCount
from tests.plugins.fleet import fleet_answers, inventories


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Both in turn, each for so long."""
    return [*fleet_answers.run(seconds, seed), *inventories.run(seconds, seed)]
