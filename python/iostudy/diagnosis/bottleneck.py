"""Bottlenecks of a run: findings with evidence, and the diagnosis that they make (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from iostudy.diagnosis.evidence import MOSTLY_IDLE, Confidence, Evidence


class Bottleneck(StrEnum):
    """A resource that can limit a run. docs/telemetry/bottlenecks.md has the rule of each one."""

    DEVICE = "device"
    CAP = "cap"
    MEMBER = "member"
    WRITEBACK = "writeback"
    CPU = "cpu"
    CORE = "core"
    FIRST_TOUCH = "first-touch"
    QUOTA = "quota"
    RECLAIM = "reclaim"
    NETWORK = "network"
    NFS = "nfs"
    STEAL = "steal"
    HEAT = "heat"
    LOCK = "lock"
    LOG = "log"
    CONCURRENCY = "concurrency"
    FOREIGN = "foreign"
    UNCLEAR = "unclear"

    def subject(self, of: str = "") -> str:
        """Return its words as the subject of a sentence, with the resource's name if given."""
        words, suffix = _SUBJECTS[self]
        return words + suffix.format(of=of) if of else words


_SUBJECTS = {
    Bottleneck.DEVICE: ("the device", " {of}"),
    Bottleneck.CAP: ("the control group's cap", " on {of}"),
    Bottleneck.MEMBER: ("the slow member", " {of}"),
    Bottleneck.WRITEBACK: ("the kernel's writeback throttling", ""),
    Bottleneck.CPU: ("the CPU", ""),
    Bottleneck.CORE: ("one core of the CPU", ""),
    Bottleneck.FIRST_TOUCH: ("memory first touched", ""),
    Bottleneck.QUOTA: ("the control group's CPU quota", ""),
    Bottleneck.RECLAIM: ("memory", ""),
    Bottleneck.NETWORK: ("the network", ""),
    Bottleneck.NFS: ("the NFS server", " of {of}"),
    Bottleneck.STEAL: ("the hypervisor", ""),
    Bottleneck.HEAT: ("thermal throttling of the CPU", ""),
    Bottleneck.LOCK: ("a lock in the workload", " ({of})"),
    Bottleneck.LOG: ("the workload's log", " ({of})"),
    Bottleneck.CONCURRENCY: ("the workload's low concurrency", ""),
    Bottleneck.FOREIGN: ("the load of other processes", " ({of})"),
    Bottleneck.UNCLEAR: ("no single resource", ""),
}


OF_A_SLOW_DEVICE = (Bottleneck.DEVICE, Bottleneck.WRITEBACK, Bottleneck.LOG, Bottleneck.CONCURRENCY)
"""Bottlenecks that can be consequences of what slows a device down."""


@dataclass(frozen=True)
class Finding:
    """One bottleneck of a run."""

    __pydantic_config__: ClassVar = {"use_attribute_docstrings": True, "extra": "forbid"}

    limit: Bottleneck
    """The bottleneck."""
    of: str
    """Device, interface, mount or process of the bottleneck; empty for the whole host."""
    held: float | None
    """Share of the time in which it limited the run, in percent; null if unknown."""
    confidence: Confidence
    """Confidence of the finding; that of a further finding is not calibrated."""
    evidence: tuple[Evidence, ...]
    """Figures that show it."""
    explains: tuple[Bottleneck, ...] = ()
    """Other bottlenecks that are its consequences; a diagnosis lists them after it."""

    @property
    def sentence(self) -> str:
        """The main sentence: ``The device sda was the bottleneck: busy 99 % ...``."""
        subject = self.limit.subject(self.of)
        sentence = f"{subject} was the bottleneck: {self._figures} ({self.confidence} confidence)"
        return sentence[0].upper() + sentence[1:]

    @property
    def further_sentence(self) -> str:
        """The sentence of a further bottleneck: ``Also the hypervisor: ...``.

        Its confidence keeps no promise (docs/telemetry/calibration.md).
        """
        grade = f"{self.confidence} confidence, not calibrated"
        return f"Also {self.limit.subject(self.of)}: {self._figures} ({grade})"

    @property
    def _figures(self) -> str:
        return ", ".join(evidence.says for evidence in self.evidence)


@dataclass(frozen=True)
class Diagnosis:
    """The findings of a run, the main bottleneck first; none if it is unclear.

    ``key_figures`` are the main figures of every run, the target's devices first. ``missing`` names
    the figures that were not recorded. ``busy`` is the share of the time in which any of the
    target's devices had requests or flushes, None if unknown. ``obstacle`` says why the rules do
    not apply.
    """

    findings: tuple[Finding, ...] = ()
    key_figures: tuple[Evidence, ...] = ()
    missing: tuple[str, ...] = ()
    busy: Evidence | None = None
    obstacle: str = ""

    @property
    def limit(self) -> Bottleneck:
        """The main bottleneck."""
        return self.findings[0].limit if self.findings else Bottleneck.UNCLEAR

    @property
    def sentence(self) -> str:
        """The main bottleneck in words, with figures and the confidence."""
        if self.findings:
            return self.findings[0].sentence
        if self.obstacle:
            return f"The bottleneck is unclear: {self.obstacle}"
        numbered = enumerate(self.key_figures)
        figures = [e.says for index, e in numbered if index == 0 or e.value >= 1]
        figures += [f"no figures of {name}" for name in self.missing]
        return "The bottleneck is unclear" + ": " * bool(figures) + ", ".join(figures)

    @property
    def further_sentences(self) -> tuple[str, ...]:
        """The further bottlenecks, a sentence each."""
        return tuple(finding.further_sentence for finding in self.findings[1:])

    @property
    def no_help(self) -> str:
        """The most that a faster device could save if the bottleneck is elsewhere; "" otherwise.

        By Amdahl's law that is the time in which it was busy.
        """
        main = self.findings[0] if self.findings else None
        if self.busy is None or main is None or self.busy.value >= MOSTLY_IDLE:
            return ""
        if main.limit not in _ELSEWHERE or main.confidence is Confidence.LOW:
            return ""
        most = f"saves at most the {self.busy.says} with requests under way"
        return f"A faster {self.busy.of} {most}"

    @property
    def sentences(self) -> tuple[str, ...]:
        """All sentences: the main bottleneck, further ones, and what cannot help."""
        return (self.sentence, *self.further_sentences, *filter(None, (self.no_help,)))


_ELSEWHERE = frozenset(
    {
        Bottleneck.CPU,
        Bottleneck.CORE,
        Bottleneck.FIRST_TOUCH,
        Bottleneck.QUOTA,
        Bottleneck.NETWORK,
        Bottleneck.STEAL,
        Bottleneck.HEAT,
        Bottleneck.CAP,
        Bottleneck.LOCK,
    }
)
