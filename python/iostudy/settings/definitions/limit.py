"""The resource limits of the workload's own processes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from iostudy.settings.definition import Reach, SettingDefinition, Switching
from iostudy.settings.values import Integer, Size, Values

UNLIMITED = "unlimited"
_LARGEST = (1 << 63) - 1
_OF_HARD = (
    " A change needs root. A soft limit that does not vary follows it down, as pam_limits does at "
    "a login."
)
_NO_EFFECT = "The kernel stores the number but has not enforced it since"


class Bound(StrEnum):
    """Which of the two limits of a resource.

    The SOFT one is enforced; a process may move it up to the HARD one.
    """

    SOFT = "soft"
    HARD = "hard"


_SWITCHING = Switching("a limit acts on what a process opens or starts next")


@dataclass(frozen=True, kw_only=True)
class LimitSettingDefinition(SettingDefinition):
    """One of the two limits of a resource, by its name in limits.conf(5)."""

    resource: str
    bound: Bound
    reach: Reach = Reach.WORKLOAD
    switching: Switching = _SWITCHING


def _count(unit: str, maximum: int = _LARGEST) -> Integer:
    return Integer(0, maximum, unit, words=(UNLIMITED,))


_BYTES = Size(words=(UNLIMITED,))
_RESOURCES: tuple[tuple[str, str, Values, str], ...] = (
    (
        "nofile",
        "files",
        _count("files"),
        (
            "Maximum number of open files and sockets of a process (one more than the largest "
            "descriptor). HDFS DataNodes need tens of thousands. The kernel refuses values above "
            "fs.nr_open."
        ),
    ),
    (
        "nproc",
        "threads",
        _count("threads"),
        "Maximum number of threads of the user, in all processes. Not enforced for root.",
    ),
    (
        "memlock",
        "B",
        _BYTES,
        "Maximum locked memory of a process; io_uring's rings counted here before Linux 5.12.",
    ),
    (
        "fsize",
        "B",
        _BYTES,
        "Maximum size of a file that a process writes; a longer write fails with EFBIG.",
    ),
    ("stack", "B", _BYTES, "Maximum stack size of the first thread."),
    ("core", "B", _BYTES, "Maximum size of a core dump; 0 disables core dumps."),
    ("as", "B", _BYTES, "Maximum address space of a process."),
    (
        "data",
        "B",
        _BYTES,
        "Maximum private writable memory of a process (before Linux 4.7 its heap only).",
    ),
    ("rss", "B", _BYTES, f"Maximum resident memory of a process. {_NO_EFFECT} Linux 2.4.30."),
    (
        "cpu",
        "s",
        _count("s"),
        "Maximum CPU time of a process: it gets SIGXCPU at the soft and SIGKILL at the hard limit.",
    ),
    (
        "locks",
        "locks",
        _count("locks"),
        f"Maximum number of file locks. {_NO_EFFECT} Linux 2.4.25.",
    ),
    ("sigpending", "signals", _count("signals"), "Maximum number of queued signals of the user."),
    ("msgqueue", "B", _BYTES, "Maximum bytes of the user in POSIX message queues."),
    ("nice", "", _count("", 40), "Maximum priority of a process: the nice value 20 minus this."),
    ("rtprio", "", _count("", 99), "Maximum real-time priority of a process; 0 for none."),
    (
        "rttime",
        "us",
        _count("us"),
        "Maximum CPU time of a real-time process without a blocking system call.",
    ),
)


def _definition(
    resource: str, unit: str, values: Values, documentation: str, bound: Bound
) -> LimitSettingDefinition:
    role = "the maximum of the soft limit" if bound is Bound.HARD else "the effective limit"
    return LimitSettingDefinition(
        name=f"limit.{resource}_{bound}",
        resource=resource,
        bound=bound,
        unit=unit,
        default="as inherited by iostudy",
        documentation=(
            f"{documentation} The {bound} limit of the workload's processes, {role}."
            + (_OF_HARD if bound is Bound.HARD else "")
        ),
        source=f"getrlimit(2) (RLIMIT_{resource.upper()})",
        values=values,
    )


DEFINITIONS = tuple(
    _definition(*resource, bound) for resource in _RESOURCES for bound in (Bound.SOFT, Bound.HARD)
)
