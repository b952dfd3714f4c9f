"""Short labels of output folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath


def label_folders(places: Sequence[str]) -> tuple[str, ...]:
    """Return as few of the last parts of each path as distinguish all of them."""
    paths = [PurePath(place).parts for place in places]
    for count in range(1, max(map(len, paths)) + 1):
        ends = tuple(str(PurePath(*parts[-count:])) for parts in paths)
        if len(set(ends)) == len(ends):
            return ends
    return tuple(places)
