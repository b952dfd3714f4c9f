"""The resource limits of the workload's own processes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from iostudy.settings.definition import Reach, SettingDefinition
from iostudy.settings.values import Size, Values, Whole

UNLIMITED = "unlimited"
_LARGEST = (1 << 63) - 1
_OF_HARD = (
    " To change it takes root. A soft limit that does not vary itself follows it down, as "
    "pam_limits has it at a login."
)
_NO_EFFECT = "The kernel keeps the number but has not looked at it since"


class Bound(StrEnum):
    """Which of the two limits of a resource.

    The SOFT one is enforced; a process may move it up to the HARD one.
    """

    SOFT = "soft"
    HARD = "hard"


@dataclass(frozen=True, kw_only=True)
class LimitSettingDefinition(SettingDefinition):
    """One of the two limits of a resource, by its name in limits.conf(5)."""

    resource: str
    bound: Bound
    reach: Reach = Reach.WORKLOAD


def _count(unit: str, maximum: int = _LARGEST) -> Whole:
    return Whole(0, maximum, unit, words=(UNLIMITED,))


_BYTES = Size(words=(UNLIMITED,))
_RESOURCES: tuple[tuple[str, str, Values, str], ...] = (
    (
        "nofile",
        "files",
        _count("files"),
        (
            "How many files and sockets a process may hold open at once (one more than the largest "
            "descriptor). HDFS data nodes need tens of thousands. None above fs.nr_open is taken."
        ),
    ),
    (
        "nproc",
        "threads",
        _count("threads"),
        (
            "How many threads the user of the process may have, in all processes. Not enforced"
            " for root."
        ),
    ),
    (
        "memlock",
        "B",
        _BYTES,
        "How much memory a process may lock; io_uring's rings counted here before Linux 5.12.",
    ),
    (
        "fsize",
        "B",
        _BYTES,
        "The largest file that a process may write; a longer write fails with EFBIG.",
    ),
    ("stack", "B", _BYTES, "How large the stack of the first thread may grow."),
    ("core", "B", _BYTES, "The largest core dump of a process; 0 makes none."),
    ("as", "B", _BYTES, "How much address space a process may have."),
    (
        "data",
        "B",
        _BYTES,
        "How much private writable memory a process may have (before Linux 4.7 its heap only).",
    ),
    ("rss", "B", _BYTES, f"How much of a process may be in memory. {_NO_EFFECT} Linux 2.4.30."),
    (
        "cpu",
        "s",
        _count("s"),
        (
            "How long a process may compute: it gets SIGXCPU at the soft and SIGKILL at the hard "
            "limit."
        ),
    ),
    ("locks", "locks", _count("locks"), f"How many file locks. {_NO_EFFECT} Linux 2.4.25."),
    (
        "sigpending",
        "signals",
        _count("signals"),
        "How many signals may be queued for the user of the process.",
    ),
    (
        "msgqueue",
        "B",
        _BYTES,
        "How many bytes the user of the process may have in POSIX message queues.",
    ),
    (
        "nice",
        "",
        _count("", 40),
        "How far a process may raise its priority: to the nice value 20 minus this.",
    ),
    (
        "rtprio",
        "",
        _count("", 99),
        "The highest real-time priority that a process may take; 0 for none.",
    ),
    (
        "rttime",
        "us",
        _count("us"),
        "How long a real-time process may compute without a blocking system call.",
    ),
)


def _definition(
    resource: str, unit: str, values: Values, documentation: str, bound: Bound
) -> LimitSettingDefinition:
    other = "the most that the soft limit may be" if bound is Bound.HARD else "the limit that holds"
    return LimitSettingDefinition(
        name=f"limit.{resource}_{bound}",
        resource=resource,
        bound=bound,
        unit=unit,
        default="what iostudy was started with",
        documentation=(
            f"{documentation} This is the {bound} limit, {other}, of the processes that do the "
            "workload's I/O, for the trial; nobody else's limits change."
            + (_OF_HARD if bound is Bound.HARD else "")
        ),
        source=f"getrlimit(2) (RLIMIT_{resource.upper()})",
        values=values,
    )


DEFINITIONS = tuple(
    _definition(*resource, bound) for resource in _RESOURCES for bound in (Bound.SOFT, Bound.HARD)
)
