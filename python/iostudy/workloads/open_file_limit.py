"""Checks of the limit on open files against the needs of a workload.

iostudy does not raise the limit of a run, since a study may vary it (``limit.nofile_soft``). It
refuses beforehand what no limit allows, and the rest when a run begins. The unmeasured preparation
uses all that this process may have.

Source: getrlimit(2), RLIMIT_NOFILE; the kernel's Documentation/admin-guide/sysctl/fs.rst, nr_open.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iostudy.errors import UsageError, WorkloadError

_SPARE = 32
"""Reserve for other open files: telemetry, the ledger, libraries."""

_MOST = Path("/proc/sys/fs/nr_open")
_LIMIT = resource.RLIMIT_NOFILE


def refuse_impossible(needed: int, what: str, instead: str = "") -> None:
    """UsageError if no limit that this process may be given lets so many more files be open.

    ``what`` has them open: "jobs". What to give ``instead`` of a higher limit: fewer of them.
    """
    _, hard = resource.getrlimit(_LIMIT)
    most = int(_MOST.read_text("ascii")) if os.geteuid() == 0 else hard
    wanted = _count_needed_files(needed)
    if _is_within(wanted, most):
        return
    bound = "the hard limit (ulimit -Hn, limits.conf)" if most == hard else "fs.nr_open"
    raise UsageError(
        f"{needed} {what}, each with an open file",
        found=f"this process may have {most} files open at most",
        where="the limit of open files",
        remedy=f"raise {bound} to {wanted}, or give {instead or f'fewer {what}'}",
    )


def require(needed: int, what: str, where: Path, instead: str = "") -> None:
    """WorkloadError unless the limit that holds now lets so many more files be open."""
    soft, _ = resource.getrlimit(_LIMIT)
    wanted = _count_needed_files(needed)
    if not _is_within(wanted, soft):
        raise WorkloadError(
            f"{needed} {what}, each with an open file",
            found=f"the soft limit of open files is {soft}",
            where=str(where),
            remedy=f"raise it (ulimit -n {wanted}; in a study the factor limit.nofile_soft), or "
            f"give {instead or f'fewer {what}'}",
        )


@contextmanager
def raise_soft_limit() -> Iterator[None]:
    """The soft limit at the hard one for as long as something is prepared, unmeasured."""
    soft, hard = resource.getrlimit(_LIMIT)
    resource.setrlimit(_LIMIT, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(_LIMIT, (soft, hard))


def _count_needed_files(needed: int) -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir()) + needed + _SPARE


def _is_within(wanted: int, limit: int) -> bool:
    return limit == resource.RLIM_INFINITY or wanted <= limit
