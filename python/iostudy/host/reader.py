"""Reading many files of which some may be refused: what could be read, and what could not."""

from __future__ import annotations

from pathlib import Path

from iostudy.host.files import ROOT, read_attribute


class Reader:
    """Reads below a root; ``refused`` tells what it was not allowed to read."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self._refused: dict[str, None] = {}

    @property
    def refused(self) -> tuple[str, ...]:
        """Each refusal once, as ``/proc/1/limits: Permission denied``."""
        return tuple(self._refused)

    def text(self, path: Path) -> str | None:
        """The content of a file, None if it is not there or not to be read."""
        try:
            return read_attribute(path)
        except OSError as error:
            self.refuse(path, error)
            return None

    def refuse(self, path: Path, error: OSError) -> None:
        """Note that ``path`` could not be read. A process that has ended meanwhile is no matter."""
        if not isinstance(error, ProcessLookupError):
            self._refused[f"{path}: {error.strerror}"] = None
