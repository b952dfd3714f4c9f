"""Parts as cells of a matrix, as in iozone -R: file sizes by record sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

OPERATION, FILE_SIZE, RECORD_SIZE = LABELS = ("operation", "file_size", "record_size")
"""The labels of a part that is a cell, in any order."""

CORNER = "file \\ record"


@dataclass(frozen=True)
class Matrix(Generic[T]):
    """The cells of one operation, by (file size, record size); some may be missing."""

    operation: str
    cells: Mapping[tuple[str, str], T]

    @property
    def file_sizes(self) -> tuple[str, ...]:
        """The rows, as they first came."""
        return tuple(dict.fromkeys(file_size for file_size, _ in self.cells))

    @property
    def record_sizes(self) -> tuple[str, ...]:
        """The columns, as they first came."""
        return tuple(dict.fromkeys(record_size for _, record_size in self.cells))

    def table(self, show: Callable[[T], str]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Heads and rows of text; a cell that is missing is empty."""
        rows = [
            (own, *(self._shown(own, column, show) for column in self.record_sizes))
            for own in self.file_sizes
        ]
        return (CORNER, *self.record_sizes), rows

    def _shown(self, row: str, column: str, show: Callable[[T], str]) -> str:
        return show(self.cells[row, column]) if (row, column) in self.cells else ""


def build_matrices(parts: Iterable[tuple[Mapping[str, str], T]]) -> tuple[Matrix[T], ...]:
    """A matrix for each operation; none where any of the parts is no cell of one."""
    cells: dict[str, dict[tuple[str, str], T]] = {}
    for labels, value in parts:
        if set(labels) != set(LABELS):
            return ()
        own = cells.setdefault(labels[OPERATION], {})
        own[labels[FILE_SIZE], labels[RECORD_SIZE]] = value
    return tuple(Matrix(operation, own) for operation, own in cells.items())
