"""The memory of this process."""

from __future__ import annotations

from pathlib import Path


def resident_mib(field: str) -> float:
    """Of this process, now (VmRSS) or at the most (VmHWM). Source: proc(5), /proc/PID/status."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split(f"{field}:")[1].split()[0]) / 1024
