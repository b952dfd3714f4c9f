"""Target that is one directory of this host."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from iostudy.plugins import Ref
from iostudy.study.targets.target import Target
from iostudy.workloads.option_text import format_flow
from iostudy.workloads.workload import TargetPaths


@dataclass(frozen=True)
class DirectoryTarget(Target):
    """An existing directory; the study works in a folder of its own below it.

    Without a path it is the output folder.
    """

    driver: ClassVar[Ref] = "iostudy.node.targets.directory:DirectoryDriver"
    may_be_foreign: ClassVar[bool] = True

    path: Path | None

    def describe(self) -> str:
        return "a folder in the output folder" if self.path is None else str(self.path)

    @property
    def shared_directory(self) -> Path | None:
        return self.path

    def named_paths(self, folder: Path) -> TargetPaths:
        return TargetPaths(directory=self.path or folder)

    def without_place(self) -> Target:
        return DirectoryTarget(None)

    def rewritten(self, original: Any, folder: str) -> Any:
        del original
        return str(self.path or folder)

    def starter_lines(self) -> Iterator[str]:
        """Yield the lines of a study file to start from."""
        yield "# The study works in a folder of its own below this directory, and removes it."
        yield f"target: {format_flow(str(self.path))}"
