"""Optional dependencies and the extras of the package that install them."""

from __future__ import annotations

from importlib.util import find_spec

from iostudy.errors import UsageError

EXTRAS = {"figures": ("vl_convert",), "hdfs": ("hdfs_native",)}
"""The modules of each extra; pyproject.toml has their packages and versions."""


def require_extra(extra: str, purpose: str, alternative: str = "") -> None:
    """UsageError that names the extra if one of its modules is not installed.

    ``purpose`` completes "to ..."; ``alternative`` is a remedy without the extra.
    """
    modules = EXTRAS[extra]
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        install = f"pip install 'iostudy[{extra}]', or `make extras` in a clone"
        raise UsageError(
            f"the Python packages {' and '.join(modules)}, to {purpose}",
            found=f"not installed: {', '.join(missing)}",
            where=f"the extra `{extra}` of iostudy",
            remedy=f"{install}; {alternative}" if alternative else install,
        )
