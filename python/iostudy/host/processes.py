"""Start time of a process, which identifies it together with its number."""

from __future__ import annotations

from iostudy.host.files import ROOT, read_attribute

_ENDED = ("Z", "X")


def read_start_ticks(pid: int) -> int | None:
    """Read its start in clock ticks since the boot: field 22 of proc_pid_stat(5).

    None if the process does not exist or is a zombie.
    """
    try:
        text = read_attribute(ROOT / "proc" / str(pid) / "stat")
    except ProcessLookupError:
        return None
    if text is None:
        return None
    # The name in brackets before may hold blanks and brackets.
    state, *fields = text.rpartition(")")[2].split()
    return None if state in _ENDED else int(fields[18])
