"""What is said of a run's limit: findings with their evidence, the foremost first (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Bottleneck(StrEnum):
    """What can hold a run up. docs/telemetry.md tells how each one is recognised."""

    DEVICE = "device"
    CAP = "cap"
    MEMBER = "member"
    WRITEBACK = "writeback"
    CPU = "cpu"
    CORE = "core"
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
        """It in words, as the beginning of a sentence; with whose it was, if that is given."""
        what, whose = _SUBJECTS[self]
        return what + whose.format(of=of) if of else what


_SUBJECTS = {
    Bottleneck.DEVICE: ("the device", " {of}"),
    Bottleneck.CAP: ("the control group's cap", " on {of}"),
    Bottleneck.MEMBER: ("the slow member", " {of}"),
    Bottleneck.WRITEBACK: ("the kernel's writeback throttling", ""),
    Bottleneck.CPU: ("the CPU", ""),
    Bottleneck.CORE: ("one core of the CPU", ""),
    Bottleneck.QUOTA: ("the control group's CPU quota", ""),
    Bottleneck.RECLAIM: ("memory", ""),
    Bottleneck.NETWORK: ("the network", ""),
    Bottleneck.NFS: ("the NFS server", " of {of}"),
    Bottleneck.STEAL: ("the hypervisor", ""),
    Bottleneck.HEAT: ("the heat of the CPU", ""),
    Bottleneck.LOCK: ("a lock of the workload's own", " ({of})"),
    Bottleneck.LOG: ("the workload's own log", " ({of})"),
    Bottleneck.CONCURRENCY: ("the workload's own concurrency", ""),
    Bottleneck.FOREIGN: ("another process", " ({of})"),
    Bottleneck.UNCLEAR: ("no single resource", ""),
}


class Confidence(StrEnum):
    """How far a finding is to be trusted, by the rules that docs/telemetry.md declares."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True)
class Evidence:
    """One figure that was looked at: ``value`` in ``unit``, of a device, mount or process.

    ``says`` is the figure in plain words with its unit.
    """

    figure: str
    of: str
    value: float
    unit: str
    says: str


@dataclass(frozen=True)
class Finding:
    """One limit, of the device, mount, interface or process ``of`` ("" where there is only one).

    ``held`` is for how much of the time it held the work up, in percent; None where that is not
    known. Limits that it ``explains`` are its consequences, and are told after it.
    """

    limit: Bottleneck
    of: str
    held: float | None
    confidence: Confidence
    evidence: tuple[Evidence, ...]
    explains: tuple[Bottleneck, ...] = ()

    @property
    def sentence(self) -> str:
        """It in plain words with figures: ``The device sda was the limit: busy 99 % ...``."""
        subject = self.limit.subject(self.of)
        return _begin(f"{subject} was the limit: {self._figures}")

    @property
    def also(self) -> str:
        """The same of one that is not the foremost: ``Also the hypervisor, ...: ...``."""
        return f"Also {self.limit.subject(self.of)}: {self._figures}"

    @property
    def _figures(self) -> str:
        figures = ", ".join(each.says for each in self.evidence)
        return f"{figures} ({self.confidence} confidence)"


@dataclass(frozen=True)
class Diagnosis:
    """The findings about a run, what limited it first; none where that is unclear.

    ``looked_at`` are the main figures, whatever was found, the target's devices first if it has
    some. ``missing`` names what could not be looked at. ``busy`` is for how much of the time any
    of the target's devices was at work, with flushes, None where that is not known.
    """

    findings: tuple[Finding, ...] = ()
    looked_at: tuple[Evidence, ...] = ()
    missing: tuple[str, ...] = ()
    busy: Evidence | None = None

    @property
    def limit(self) -> Bottleneck:
        """What limited the run."""
        return self.findings[0].limit if self.findings else Bottleneck.UNCLEAR

    @property
    def sentence(self) -> str:
        """What limited the run in plain words, with figures and the confidence."""
        if self.findings:
            return self.findings[0].sentence
        looked_at = enumerate(self.looked_at)
        figures = [each.says for index, each in looked_at if index == 0 or each.value >= 1]
        figures += [f"no figures of {name}" for name in self.missing]
        return "What limited the run is unclear" + ": " * bool(figures) + ", ".join(figures)

    @property
    def also(self) -> tuple[str, ...]:
        """What else held it up, a sentence each."""
        return tuple(finding.also for finding in self.findings[1:])

    @property
    def no_help(self) -> str:
        """What a faster device could save at most, where the limit is elsewhere; "" else.

        By Amdahl's law that is the time in which it was at work.
        """
        foremost = self.findings[0] if self.findings else None
        if self.busy is None or foremost is None or self.busy.value >= SELDOM_BUSY:
            return ""
        if foremost.limit not in _ELSEWHERE or foremost.confidence is Confidence.LOW:
            return ""
        most = f"can save more than the {self.busy.says} with requests under way"
        return f"Nothing that makes {self.busy.of} faster {most}"

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that is said of the run: its limit, what else held it up, and what cannot help."""
        return (self.sentence, *self.also, *filter(None, (self.no_help,)))


SELDOM_BUSY = 50.0
"""Percent of the time below which a device's setting can save less than half of it."""
_ELSEWHERE = frozenset(
    {
        Bottleneck.CPU,
        Bottleneck.CORE,
        Bottleneck.QUOTA,
        Bottleneck.NETWORK,
        Bottleneck.STEAL,
        Bottleneck.HEAT,
        Bottleneck.CAP,
        Bottleneck.LOCK,
    }
)


def _begin(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
