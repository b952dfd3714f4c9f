"""Agent of a hostile node: it carries out its calls, and answers with something else.

The environment variable HOSTILE_SEED selects the answers.
"""

from __future__ import annotations

import functools
import os
import pickle
import random
import sys
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any

from pydantic_core import to_jsonable_python

from iostudy_fleet import agent
from iostudy_fleet.deployment import call_messages

SEED = "HOSTILE_SEED"


class Payload:
    """What runs a command where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch /tmp/iostudy-hostile-node-was-here",)


PICKLED = urlsafe_b64encode(pickle.dumps(Payload())).decode()
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1e300, -1e300, 5e-324, 10**25, "", "x" * 100_000, "\x1b[31m", "\0",
    "../../etc/passwd", "/etc/passwd", "nodes.json", [], {}, [[]], PICKLED,
    {"py/reduce": [{"py/type": "os.system"}, {"py/tuple": ["id"]}]},
)  # fmt: skip
"""Values that no function returns in this place."""


def mutate(chance: random.Random, value: Any) -> Any:
    """The value with one part of it replaced, left out, doubled or named otherwise."""
    if chance.random() < 0.3 or not isinstance(value, dict | list) or not value:
        return chance.choice(VALUES)
    if isinstance(value, dict):
        key = chance.choice(sorted(value))
        rest = {name: own for name, own in value.items() if name != key}
        if chance.random() < 0.1:
            return rest
        name = chance.choice(("../x", "", key)) if chance.random() < 0.1 else key
        return {**rest, name: mutate(chance, value[key])}
    at = chance.randrange(len(value))
    if chance.random() < 0.1:
        return value * 2
    return [*value[:at], mutate(chance, value[at]), *value[at + 1 :]]


def mutate_line(chance: random.Random, line: bytes) -> bytes:
    """A line of an answer that is no line of JSON, or too long, or not of this call."""
    kind = chance.randrange(5)
    if kind == 0:
        at = chance.randrange(len(line))
        return line[:at] + bytes([chance.randrange(256)]) + line[at + 1 :]
    if kind == 1:
        return b"[" * 100_000 + b"\n"
    if kind == 2:
        return pickle.dumps(Payload()) + b"\n"
    if kind == 3:
        return b'{"number": 0, "value": "' + b"x" * 5_000_000 + b'"}\n'
    return line * 3


def _spoil(chance: random.Random, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def spoiled(*arguments: Any, **options: Any) -> Any:
        value = function(*arguments, **options)
        if chance.random() < 0.5:
            return value
        return mutate(chance, to_jsonable_python(value, bytes_mode="base64"))

    return spoiled


def main() -> int:
    """Be the agent."""
    chance = random.Random(int(os.environ[SEED]))
    if chance.random() < 0.5:
        own = agent.FUNCTIONS
        agent.FUNCTIONS = {name: _spoil(chance, own[name]) for name in own}
        return agent.main(sys.argv[1:])
    to_line = call_messages._to_line
    call_messages._to_line = lambda content: (
        mutate_line(chance, to_line(content)) if chance.random() < 0.1 else to_line(content)
    )
    return agent.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
