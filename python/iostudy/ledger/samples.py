"""Telemetry samples beside the ledger: one Parquet file a trial."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from iostudy.durable import write_whole

if TYPE_CHECKING:
    import polars

FOLDER = "telemetry"


def write_samples(folder: Path, trial_id: int, samples: polars.DataFrame) -> str:
    """Write a trial's samples durably; the file's name below ``folder``, for the ledger."""
    buffer = io.BytesIO()
    samples.write_parquet(buffer)
    name = f"{FOLDER}/{trial_id:06d}.parquet"
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    write_whole(path, buffer.getvalue())
    return name
