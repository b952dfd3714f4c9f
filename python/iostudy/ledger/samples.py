"""Telemetry samples next to the ledger: one Parquet file per trial."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from iostudy.durable import write_whole
from iostudy.errors import LedgerError, RecordError
from iostudy.ledger.rows import SamplesFile
from iostudy.safe_path import read_regular

if TYPE_CHECKING:
    from collections.abc import Callable

    from iostudy.telemetry.samples import Samples  # numpy is slow to load

ReadSamples: TypeAlias = "Callable[[SamplesFile, tuple[str, ...]], Samples]"
"""`read_samples` of a folder."""

FOLDER = "telemetry"
_NAME = re.compile(rf"{FOLDER}/(run-)?\d{{6,}}\.parquet")
_MAX_BYTES = 1 << 30
"""A day of 10 samples a second takes some hundred MiB."""
MIN_SAMPLES = 2
"""Samples of a trial: at its beginning and at its end."""


def write_samples(folder: Path, trial_id: int, samples: Samples) -> SamplesFile:
    """Write a trial's samples durably below ``folder``; return the file for the ledger."""
    return _write(folder, f"{FOLDER}/{trial_id:06d}.parquet", samples)


def write_run_samples(folder: Path, number: int, samples: Samples) -> SamplesFile:
    """Write the samples of the run with this number, from 1, as `write_samples` does."""
    return _write(folder, f"{FOLDER}/run-{number:06d}.parquet", samples)


def _write(folder: Path, name: str, samples: Samples) -> SamplesFile:
    from iostudy.ledger import parquet  # loads numpy

    path = folder / name
    content = parquet.encode_samples(samples)
    try:
        path.parent.mkdir(exist_ok=True)
        write_whole(path, content, follow_parent=False)
    except OSError as error:
        raise RecordError(
            "to write the samples of a trial",
            found=error.strerror or str(error),
            where=str(path),
            remedy="free space on that file system; earlier records are kept, "
            "and --resume continues from there",
        ) from error
    return SamplesFile(name, hashlib.sha256(content).hexdigest())


def read_samples(folder: Path, file: SamplesFile, columns: tuple[str, ...]) -> Samples:
    """Read the samples of `write_samples`; LedgerError if the file is missing or damaged.

    ``columns`` are prefixes of the requested column names.
    """
    # Not at the top: most commands never read samples, and numpy is slow to load.
    from iostudy.ledger import parquet

    path = folder / file.name
    try:
        if not _NAME.fullmatch(file.name):
            raise _samples_error("its name is not that of a telemetry file", path)
        content = read_regular(path, _MAX_BYTES)
        if hashlib.sha256(content).hexdigest() != file.sha256:
            raise _samples_error("it is damaged: its checksum differs from the recorded one", path)
        samples = parquet.decode_samples(content, columns)
    except (OSError, parquet.ParquetError) as error:
        detail = str(error).strip() or type(error).__name__
        raise _samples_error(detail.splitlines()[0], path) from error
    if len(samples.seconds) < MIN_SAMPLES:
        raise _samples_error("it contains no time series", path)
    return samples


def _samples_error(found: str, path: Path) -> LedgerError:
    return LedgerError(
        "the samples of a trial",
        found=found,
        where=str(path),
        remedy="restore the file; verdicts and figures do not need it",
    )
