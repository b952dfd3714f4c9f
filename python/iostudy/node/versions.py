"""Versions of iostudy, Python and the libraries that decide a result."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version

_PACKAGES = ("iostudy", "numpy", "pydantic")


def read_versions() -> Mapping[str, str]:
    """Return the version of each, by its name."""
    return {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}
