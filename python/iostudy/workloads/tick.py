"""The tick of a run: its caller's progress report and stop."""

from __future__ import annotations

from collections.abc import Callable

Tick = Callable[[int], bool]
"""Called several times a second with the bytes or operations done so far; False: stop now."""


def continue_run(_: int) -> bool:
    """The tick of a caller that waits until the end."""
    return True
