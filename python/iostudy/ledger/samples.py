"""Telemetry samples beside the ledger: one Parquet file a trial."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from iostudy.durable import write_whole
from iostudy.errors import RecordError

if TYPE_CHECKING:
    import polars

FOLDER = "telemetry"


def write_samples(folder: Path, trial_id: int, samples: polars.DataFrame) -> str:
    """Write a trial's samples durably; the file's name below ``folder``, for the ledger."""
    buffer = io.BytesIO()
    samples.write_parquet(buffer)
    name = f"{FOLDER}/{trial_id:06d}.parquet"
    path = folder / name
    try:
        path.parent.mkdir(exist_ok=True)
        write_whole(path, buffer.getvalue())
    except OSError as error:
        raise RecordError(
            "to keep the samples of a trial",
            found=error.strerror or str(error),
            where=str(path),
            remedy="make room on that file system; what was recorded before is kept, "
            "and --resume goes on from there",
        ) from error
    return name
