"""Creation and stepwise reading of ROOT files with uproot, an optional dependency.

Libraries are loaded where they are used, so that commands which read no ROOT file start at once.
"""

from __future__ import annotations

import errno
import importlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iostudy.errors import UsageError, WorkloadError
from iostudy_hep import hdfs_file
from iostudy_hep.access import Access

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Values = NDArray[np.uint32]

TREE = "Events"
_VALUE_BYTES = 4
_GOLDEN = 0x9E3779B97F4A7C15  # makes of each event's number bits that differ all over


@dataclass(frozen=True)
class Content:
    """The content of a generated file: ``values`` numbers per event in each column.

    The numbers are a pure function of seed, column and event, and do not compress.
    """

    seed: int
    columns: int
    values: int

    @classmethod
    def with_event_size(cls, seed: int, columns: int, event_bytes: int) -> Content:
        """Content of about ``event_bytes`` for each event."""
        return cls(seed, columns, max(1, event_bytes // columns // _VALUE_BYTES))

    def names(self) -> tuple[str, ...]:
        """The branches."""
        return tuple(f"column{index:04d}" for index in range(self.columns))

    def bases(self) -> dict[str, Values]:
        """Return the base numbers of each branch, computed once."""
        import numpy as np

        draw = np.random.default_rng(self.seed)
        top = 2**32
        return {name: draw.integers(0, top, self.values, np.uint32) for name in self.names()}


def make_rows(base: Values, start: int, stop: int) -> Values:
    """Return the numbers of a branch for the events from ``start`` to before ``stop``."""
    import numpy as np

    events = np.arange(start, stop, dtype=np.uint64) * np.uint64(_GOLDEN)
    keys = (events >> np.uint64(32)).astype(np.uint32)
    return base[np.newaxis, :] ^ keys[:, np.newaxis]


def make(path: Path, content: Content, events: int, step: int, go_on: Callable[[], None]) -> None:
    """Write a tree with baskets of ``step`` events; ``go_on`` may raise before each of them.

    On a file system that only appends, such as HDFS, the file is made in the folder of temporary
    files and copied: uproot writes the headers last.
    """
    try:
        _make(path, content, events, step, go_on)
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            raise
        with tempfile.TemporaryDirectory(prefix="iostudy-root-") as folder:
            made = Path(folder) / path.name
            _make(made, content, events, step, go_on)
            path.unlink()
            shutil.copyfile(made, path)


def _make(path: Path, content: Content, events: int, step: int, go_on: Callable[[], None]) -> None:
    import numpy as np

    uproot = importlib.import_module("uproot")
    bases = content.bases()
    kind = np.dtype((np.uint32, (content.values,)))
    with uproot.recreate(path, compression=None) as file:
        tree = file.mktree(TREE, dict.fromkeys(bases, kind))
        for start in range(0, events, step):
            go_on()
            stop = min(events, start + step)
            tree.extend({name: make_rows(base, start, stop) for name, base in bases.items()})


def require_tree(path: Path, name: str | None) -> None:
    """UsageError unless the file has that tree."""
    try:
        with open_tree(path, name):
            return
    except WorkloadError as error:
        raise UsageError(
            error.wanted, found=error.found, where=error.where, remedy=error.remedy
        ) from error


@contextmanager
def open_tree(path: Path, name: str | None, access: Access = Access.FILE) -> Iterator[Any]:
    """Return the tree of that name, or the only one of the file; WorkloadError without one.

    Reads one request after another, without a cache, basket by basket: with pread(2), or by the
    interface of HDFS.
    """
    with _uproot_errors(path):
        file = _open(path, access)
    with file:
        with _uproot_errors(path):
            kinds = file.classnames(cycle=False)
            trees = {key: file[key] for key, kind in kinds.items() if kind == "TTree"}
        wanted = next(iter(trees), "") if name is None and len(trees) == 1 else name
        if wanted not in trees:
            raise _broken(path, f"its trees are: {', '.join(trees) or 'none'}")
        yield trees[wanted]


def _open(path: Path, access: Access) -> Any:
    uproot = importlib.import_module("uproot")
    if access is Access.HDFS:
        return uproot.open(hdfs_file.open_file(path), array_cache=None)
    handler = importlib.import_module("uproot.source.file").MultithreadedFileSource
    return uproot.open(path, handler=handler, num_workers=1, array_cache=None)


def read(tree: Any, path: Path, branches: str, events: range, bases: Mapping[str, Values]) -> float:
    """Read events of those branches into arrays; the seconds that took, with verifying them.

    They are compared with the content that has these ``bases``; without any with nothing.
    WorkloadError where the file does not give them, or not as they were written.
    """
    import numpy as np

    started = time.perf_counter()
    with _uproot_errors(path):
        arrays = tree.arrays(
            filter_name=branches, entry_start=events.start, entry_stop=events.stop, library="ak"
        )
    for name in bases.keys() & set(arrays.fields):
        values, expected = (
            np.asarray(arrays[name]),
            make_rows(bases[name], events.start, events.stop),
        )
        if not np.array_equal(values, expected):
            event = events.start + int(np.argwhere(values != expected)[0][0])
            raise _broken(path, f"{name} of event {event} differs from what was written")
    return time.perf_counter() - started


def requested_bytes(tree: Any) -> int:
    """Return the bytes requested from the file since it was opened."""
    return int(tree.file.source.num_requested_bytes)


@contextmanager
def _uproot_errors(path: Path) -> Iterator[None]:
    """Translate any exception of uproot and its decompressors to WorkloadError."""
    try:
        yield
    except Exception as error:
        first, _, _ = str(error).strip().partition("\n\n")  # what follows are pages of help
        raise _broken(path, " ".join(first.split()) or type(error).__name__) from error


def _broken(path: Path, found: str) -> WorkloadError:
    return WorkloadError(
        "to read the events of a ROOT file, from one of its trees",
        found=found,
        where=str(path),
        remedy="name a ROOT file (option file) and one of its trees (tree) with branches that "
        "uproot can read; if they are right, data were changed or lost: see dmesg",
    )
