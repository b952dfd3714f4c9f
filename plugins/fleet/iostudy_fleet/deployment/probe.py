"""Facts on a node: version, user, and `iostudy check` of a study.

The source of this file runs on nodes that may lack iostudy: it imports the standard library only.
"""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


def probe(study: str, text: str) -> dict[str, Any]:
    """The facts as JSON values; without a ``text`` no study is checked."""
    installed = _find_version()
    return {
        "host": socket.gethostname(),
        "python": platform.python_version(),
        "executable": sys.executable,
        "root": os.geteuid() == 0,
        "version": installed,
        "check": _check(study, text) if text and installed else None,
    }


def _find_version() -> str | None:
    try:
        return version("iostudy-fleet")
    except PackageNotFoundError:
        return None


def _check(study: str, text: str) -> dict[str, Any]:
    """Exit code and messages of `iostudy check` on this node."""
    with tempfile.TemporaryDirectory(prefix="iostudy-check-") as folder:
        path = Path(folder) / f"{study}.yaml"
        path.write_text(text, encoding="utf-8")
        # A study of a fleet writes to a work folder, not to the directory in which ssh starts it.
        out = str(Path.home() / Path(folder).name)
        done = subprocess.run(
            [sys.executable, "-P", "-m", "iostudy", "check", str(path), "--out", out, "--json"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    return {"code": done.returncode, "output": done.stdout, "error": done.stderr}
