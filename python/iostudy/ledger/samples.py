"""Telemetry samples beside the ledger: one Parquet file a trial."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from iostudy.durable import write_whole
from iostudy.errors import LedgerError, RecordError
from iostudy.ledger.rows import SamplesFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from iostudy.telemetry.samples import Samples  # numpy is slow to load

ReadSamples: TypeAlias = "Callable[[SamplesFile, tuple[str, ...]], Samples]"
"""`read_samples` of a folder."""

FOLDER = "telemetry"
FEWEST = 2
"""Samples of a trial: at its beginning and at its end."""


def write_samples(folder: Path, trial_id: int, samples: Samples) -> SamplesFile:
    """Write a trial's samples durably below ``folder``; the file, for the ledger."""
    buffer = io.BytesIO()
    samples.table().write_parquet(buffer)
    name = f"{FOLDER}/{trial_id:06d}.parquet"
    path = folder / name
    content = buffer.getvalue()
    try:
        path.parent.mkdir(exist_ok=True)
        write_whole(path, content, follow_parent=False)
    except OSError as error:
        raise RecordError(
            "to keep the samples of a trial",
            found=error.strerror or str(error),
            where=str(path),
            remedy="make room on that file system; what was recorded before is kept, "
            "and --resume goes on from there",
        ) from error
    return SamplesFile(name, hashlib.sha256(content).hexdigest())


def read_samples(folder: Path, file: SamplesFile, columns: tuple[str, ...]) -> Samples:
    """The samples that `write_samples` wrote; LedgerError if the file is gone or damaged.

    ``columns`` are what the names of the wanted ones begin with.
    """
    # Not at the top: most commands never read samples, and both are slow to load.
    import polars

    from iostudy.telemetry.samples import SECONDS, Samples

    path = folder / file.name
    try:
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != file.sha256:
            raise _no_samples("it is damaged: its checksum is not the recorded one", path)
        there = polars.read_parquet_schema(io.BytesIO(content))
        wanted = [own for own in there if own == SECONDS or own.startswith(columns)]
        table = polars.read_parquet(io.BytesIO(content), columns=wanted)
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
