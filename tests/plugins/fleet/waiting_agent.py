"""Agent of a node with functions that wait, for tests of its connection."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

from iostudy.errors import UsageError
from iostudy_fleet import agent

SECONDS = 10.0
_RELEASED = threading.Event()


def wait_for_release() -> bool:
    """Wait for the call of `release`."""
    return _RELEASED.wait(SECONDS)


def release(delay: float) -> str:
    """End the waits, now and later."""
    time.sleep(delay)
    _RELEASED.set()
    return "released"


def fail() -> None:
    """Raise an error of iostudy."""
    raise UsageError("a disk", found="none", where="this node", remedy="add one")


def print_noise() -> str:
    """Print to the agent's stdout, here and in a child."""
    print('{"number": 0, "value": "forged"}')  # noqa: T201
    subprocess.run(["echo", '{"number": 1, "value": "forged"}'], check=True)
    return "printed"


def return_much(size: int) -> str:
    """Return a text of this size."""
    return "x" * size


if __name__ == "__main__":
    own = (wait_for_release, release, fail, print_noise, return_much)
    functions = {function.__name__: function for function in own}
    agent.FUNCTIONS = {**agent.FUNCTIONS, **functions}
    sys.exit(agent.main([]))
