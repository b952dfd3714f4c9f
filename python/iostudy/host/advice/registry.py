"""All rules there are, and what they find."""

from __future__ import annotations

from iostudy.host.advice import (
    arrays,
    atime,
    cache,
    conflicts,
    layout,
    limits,
    memory,
    nfs,
    queue,
    scheduler,
    space,
    targets,
)
from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import Finding, Rule

RULES: tuple[Rule, ...] = (
    *targets.RULES,
    *space.RULES,
    *arrays.RULES,
    *cache.RULES,
    *layout.RULES,
    *nfs.RULES,
    *limits.RULES,
    *memory.RULES,
    *scheduler.RULES,
    *queue.RULES,
    *atime.RULES,
    *conflicts.RULES,
)
"""In the order in which findings are told: first what makes measuring pointless or unsafe."""


def judge(facts: Facts) -> tuple[Finding, ...]:
    """What every rule finds in the facts."""
    return tuple(finding for rule in RULES for finding in rule.findings(facts))
