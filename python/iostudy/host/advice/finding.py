"""What a rule is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from iostudy.host.advice.facts import Facts

HOST = "host"
"""The subject of what concerns the host as a whole."""


class Certainty(StrEnum):
    """How sure a finding is.

    A FACT follows from what the kernel or a manual says. A RECOMMENDATION is what a vendor or a
    project advises, and may not fit this host. What to MEASURE depends on the workload: nobody
    knows before it was tried here.
    """

    FACT = "fact"
    RECOMMENDATION = "recommendation"
    MEASURE = "measure"


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """What a rule has seen at one place. ``setting`` is given where the rule has several.

    ``command`` mends or measures it, for a shell of root's; its words are quoted.
    """

    subject: str
    found: str
    advised: str
    evidence: str
    command: str
    setting: str = ""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A sighting with what its rule says of it. ``setting`` is empty where it is none of ours."""

    id: str
    title: str
    subject: str
    setting: str
    found: str
    advised: str
    why: str
    evidence: str
    source: str
    certainty: Certainty
    command: str


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One thing that can be wrong: ``id`` is stable, ``source`` says who says so."""

    id: str
    title: str
    certainty: Certainty
    why: str
    source: str
    check: Callable[[Facts], Iterable[Sighting]]
    setting: str = ""

    def findings(self, facts: Facts) -> Iterator[Finding]:
        """What the rule finds in these facts."""
        for sighting in self.check(facts):
            yield Finding(
                id=self.id,
                title=self.title,
                subject=sighting.subject,
                setting=sighting.setting or self.setting,
                found=sighting.found,
                advised=sighting.advised,
                why=self.why,
                evidence=sighting.evidence,
                source=self.source,
                certainty=self.certainty,
                command=sighting.command,
            )
