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


def new_identity() -> str:
    """What nobody else has, for the end of a name."""
    return secrets.token_hex(_RANDOM_BYTES)


def new(parent: Path, prefix: str, identity: str | None = None) -> Path:
    """The path of a folder below ``parent`` that nobody else has; it is not made.

    With an ``identity``, from `new_identity`, the folders of several parents have one name.
    """
    return parent.resolve() / f"{prefix}{new_identity() if identity is None else identity}"


def recorded(text: str, prefix: str) -> Path:
    """What `new` gave and a journal has kept; ValueError if that cannot be."""
    path = Path(text)
    random = path.name.removeprefix(prefix)
    named = path.name.startswith(prefix) and _RANDOM.fullmatch(random)
    if not named or not path.is_absolute() or ".." in path.parts:
        raise ValueError(f"not the path of a folder that iostudy makes: {text!r}")
    return path
