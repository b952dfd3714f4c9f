"""Whether this process may open as many files as a workload needs."""

from __future__ import annotations

import resource
from pathlib import Path

from iostudy.errors import UsageError

_SPARE = 32
"""For whatever else opens a file meanwhile: telemetry, the ledger, a library."""


def require_descriptors(needed: int, what: str) -> None:
    """UsageError unless so many more files can be open at once; ``what`` has them open ("jobs").

    Source: getrlimit(2), RLIMIT_NOFILE.
    """
    limit, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    in_use = sum(1 for _ in Path("/proc/self/fd").iterdir())
    wanted = in_use + needed + _SPARE
    if limit == resource.RLIM_INFINITY or wanted <= limit:
        return
    raised = f"raise it (ulimit -n {wanted}), or " if wanted <= hard else ""
    raise UsageError(
        f"{needed} {what}, each with an open file",
        found=f"this process may have {limit} files open, and has {in_use}",
        where="the limit of open files (ulimit -n)",
        remedy=f"{raised}give fewer {what}",
    )
