"""Folders of iostudy's own, told by their names.

Whoever undoes a change removes a folder because a journal says so. A journal can be wrong, so only
a name that iostudy gives, and nobody else, is believed.
"""

from __future__ import annotations

import re
import secrets
from pathlib import Path

_RANDOM_BYTES = 8
_RANDOM = re.compile(rf"[0-9a-f]{{{2 * _RANDOM_BYTES}}}")


def new(parent: Path, prefix: str) -> Path:
    """The path of a folder below ``parent`` that nobody else has; it is not made."""
    return parent.resolve() / f"{prefix}{secrets.token_hex(_RANDOM_BYTES)}"


def recorded(text: str, prefix: str) -> Path:
    """What `new` gave and a journal has kept; ValueError if that cannot be."""
    path = Path(text)
    random = path.name.removeprefix(prefix)
    named = path.name.startswith(prefix) and _RANDOM.fullmatch(random)
    if not named or not path.is_absolute() or ".." in path.parts:
        raise ValueError(f"not the path of a folder that iostudy makes: {text!r}")
    return path
