"""Registry of all rules, and their evaluation."""

from __future__ import annotations

from iostudy.host.advice import (
    alignment,
    conflicts,
    filesystems,
    memory,
    nfs,
    open_files,
    queue,
    raid,
    scheduler,
)
from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import AdviceRule, DoctorFinding

RULES: tuple[AdviceRule, ...] = (
    *filesystems.TARGET_RULES,
    *filesystems.RULES,
    *raid.RULES,
    *raid.MEMBER_RULES,
    *queue.CACHE_RULES,
    *alignment.RULES,
    *alignment.STRIPE_RULES,
    *nfs.RULES,
    *open_files.RULES,
    *memory.RULES,
    *scheduler.RULES,
    *queue.RULES,
    *filesystems.ATIME_RULES,
    *conflicts.RULES,
)
"""In report order: first the problems that make measurements useless or unsafe."""


def evaluate_rules(facts: Facts) -> tuple[DoctorFinding, ...]:
    """Return the findings of all rules."""
    return tuple(finding for rule in RULES for finding in rule.findings(facts))
