"""Telemetry samples beside the ledger: one Parquet file a trial."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from iostudy.durable import write_whole
from iostudy.errors import LedgerError, RecordError

if TYPE_CHECKING:
    from collections.abc import Callable

    from iostudy.telemetry.samples import Samples  # numpy is slow to load

ReadSamples: TypeAlias = "Callable[[str, tuple[str, ...]], Samples]"
"""`read_samples` of a folder."""

FOLDER = "telemetry"
FEWEST = 2
"""Samples of a trial: at its beginning and at its end."""


def write_samples(folder: Path, trial_id: int, samples: Samples) -> str:
    """Write a trial's samples durably; the file's name below ``folder``, for the ledger."""
    buffer = io.BytesIO()
    samples.table().write_parquet(buffer)
    name = f"{FOLDER}/{trial_id:06d}.parquet"
    path = folder / name
    try:
        path.parent.mkdir(exist_ok=True)
        write_whole(path, buffer.getvalue(), follow_parent=False)
    except OSError as error:
        raise RecordError(
            "to keep the samples of a trial",
            found=error.strerror or str(error),
            where=str(path),
            remedy="make room on that file system; what was recorded before is kept, "
            "and --resume goes on from there",
        ) from error
    return name


def read_samples(folder: Path, name: str, columns: tuple[str, ...]) -> Samples:
    """The samples of the file that `write_samples` named; LedgerError if it is gone or damaged.

    ``columns`` are what the names of the wanted ones begin with.
    """
    # Not at the top: most commands never read samples, and both are slow to load.
    import polars

    from iostudy.telemetry.samples import SECONDS, Samples

    path = folder / name
    try:
        there = polars.read_parquet_schema(path)
        wanted = [own for own in there if own == SECONDS or own.startswith(columns)]
        table = polars.read_parquet(path, columns=wanted)
    except (OSError, polars.exceptions.PolarsError) as error:
        said = str(error).strip() or type(error).__name__
        raise _no_samples(said.splitlines()[0], path) from error
    if SECONDS not in table.columns or table.height < FEWEST:
        raise _no_samples("it holds no course of time", path)
    return Samples.read(table)


def _no_samples(found: str, path: Path) -> LedgerError:
    return LedgerError(
        "the samples of a trial",
        found=found,
        where=str(path),
        remedy="bring the file back; verdicts and figures do not need it",
    )
