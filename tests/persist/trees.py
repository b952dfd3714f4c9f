"""Trees with the configuration files of a host."""

from __future__ import annotations

from pathlib import Path


def write(root: Path, files: dict[str, str]) -> Path:
    """The files, by their paths without the leading slash; and a host without mounts."""
    for name, text in {"proc/self/mountinfo": "", **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root
