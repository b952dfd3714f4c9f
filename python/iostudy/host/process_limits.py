"""Resource limits of a process: ``/proc/PID/limits``.

Source: proc_pid_limits(5), getrlimit(2); fs/proc/base.c of the kernel for the columns, which are
the same from Linux 2.6.24 to 6.x.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

OPEN_FILES = "Max open files"
UNLIMITED = "unlimited"

_LINE = re.compile(r"(Max \S+(?: \S+)*?) {2,}(\d+|unlimited) +(\d+|unlimited)(?: +\S+)? *")


@dataclass(frozen=True)
class ResourceLimit:
    """A soft and a hard limit; None is no limit at all."""

    soft: int | None
    hard: int | None

    def __str__(self) -> str:
        return f"soft {_format_bound(self.soft)}, hard {_format_bound(self.hard)}"


def parse_limits(text: str) -> Mapping[str, ResourceLimit]:
    """The limits by the names that the kernel gives them (``Max open files``)."""
    matches = (_LINE.fullmatch(line) for line in text.split("\n"))
    return {m[1]: ResourceLimit(_number(m[2]), _number(m[3])) for m in matches if m}


def _number(text: str) -> int | None:
    return None if text == UNLIMITED else int(text)


def _format_bound(value: int | None) -> str:
    return UNLIMITED if value is None else str(value)
