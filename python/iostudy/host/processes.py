"""When a process has started: with its number it names one that is never there again."""

from __future__ import annotations

from iostudy.host.files import ROOT, read_attribute

_ENDED = ("Z", "X")


def start_ticks(pid: int) -> int | None:
    """When it started, in clock ticks since the boot: field 22 of proc_pid_stat(5).

    None where there is no such process, or only what is left for its parent to see.
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
