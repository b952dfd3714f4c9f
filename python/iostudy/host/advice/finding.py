"""Rules, their observations and the resulting findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from iostudy.host.advice.facts import Facts

HOST = "host"
"""Subject of findings about the host as a whole."""


class Certainty(StrEnum):
    """Certainty of a finding.

    FACT: it follows from the kernel or a manual. RECOMMENDATION: a vendor or a project advises it,
    and it may not fit this host. MEASURE: it depends on the workload, so only a study can decide.
    """

    FACT = "fact"
    RECOMMENDATION = "recommendation"
    MEASURE = "measure"


@dataclass(frozen=True, kw_only=True)
class Observation:
    """Observation of a rule about one subject. ``setting`` overrides that of the rule.

    ``command`` fixes or measures it in a root shell; its words are quoted.
    """

    subject: str
    found: str
    advised: str
    evidence: str
    command: str
    setting: str = ""


@dataclass(frozen=True, kw_only=True)
class DoctorFinding:
    """An observation with the texts of its rule. ``setting`` is empty if iostudy has none."""

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
class AdviceRule:
    """One possible problem: ``id`` is stable, ``source`` is the reference."""

    id: str
    title: str
    certainty: Certainty
    why: str
    source: str
    check: Callable[[Facts], Iterable[Observation]]
    setting: str = ""

    def findings(self, facts: Facts) -> Iterator[DoctorFinding]:
        """Yield the findings of the rule in these facts."""
        for observation in self.check(facts):
            yield DoctorFinding(
                id=self.id,
                title=self.title,
                subject=observation.subject,
                setting=observation.setting or self.setting,
                found=observation.found,
                advised=observation.advised,
                why=self.why,
                evidence=observation.evidence,
                source=self.source,
                certainty=self.certainty,
                command=observation.command,
            )
