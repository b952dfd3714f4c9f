"""Telemetry samples next to the ledger: one archive of NumPy arrays for each trial."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.lib.format import read_array, write_array
from numpy.typing import NDArray

from iostudy.durable import write_whole
from iostudy.errors import LedgerError, RecordError
from iostudy.ledger.rows import SamplesFile
from iostudy.safe_path import read_regular
from iostudy.telemetry.samples import SECONDS, Samples

if TYPE_CHECKING:
    from collections.abc import Callable


ReadSamples: TypeAlias = "Callable[[SamplesFile, tuple[str, ...]], Samples]"
"""`read_samples` of a folder."""

FOLDER = "telemetry"
_NAME = re.compile(rf"{FOLDER}/(run-)?\d{{6,}}\.(npz|parquet)")
_MAX_BYTES = 1 << 30
"""A recording keeps at most 4 MiB of differences, some 100 MiB as arrays."""
MIN_SAMPLES = 2
"""Samples of a trial: at its beginning and at its end."""


def write_samples(folder: Path, trial_id: int, samples: Samples) -> SamplesFile:
    """Write a trial's samples durably below ``folder``; return the file for the ledger."""
    return _write(folder, f"{FOLDER}/{trial_id:06d}.npz", samples)


def write_run_samples(folder: Path, number: int, samples: Samples) -> SamplesFile:
    """Write the samples of the run with this number, from 1, as `write_samples` does."""
    return _write(folder, f"{FOLDER}/run-{number:06d}.npz", samples)


def _write(folder: Path, name: str, samples: Samples) -> SamplesFile:
    path = folder / name
    content = _encode(samples)
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
    path = folder / file.name
    if not _NAME.fullmatch(file.name):
        raise _samples_error("its name is not that of a telemetry file", path)
    try:
        content = read_regular(path, _MAX_BYTES)
    except OSError as error:
        raise _samples_error(str(error), path) from error
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise _samples_error("it is damaged: its checksum differs from the recorded one", path)
    decode = _decode_parquet if path.suffix == ".parquet" else _decode
    try:
        samples = decode(content, columns)
    except ImportError as error:
        raise _samples_error("an earlier version wrote it: needs iostudy[trace]", path) from error
    except Exception as error:  # as many types as there are ways to damage an archive
        message = f"it contains no samples: {type(error).__name__}: {error}"
        raise _samples_error(message, path) from error
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


def _encode(samples: Samples) -> bytes:
    """Return the content of a file with whole numbers and, in seconds, the time of each sample.

    `steps` holds the differences of each column, which are small, from 0 on.
    """
    shape = len(samples.columns), len(samples.seconds)
    values = np.array(list(samples.columns.values()), dtype=np.float64).reshape(shape)
    missing = np.isnan(values)
    arrays = {
        "seconds": samples.seconds,
        "names": np.array(list(samples.columns), dtype=np.str_),
        "steps": np.diff(np.where(missing, 0, values).astype(np.int64), axis=1, prepend=0),
        "missing": missing,
    }
    buffer = io.BytesIO()
    # The usual level takes four times as long, for a sixth fewer bytes.
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as file:
                write_array(file, array, allow_pickle=False)
    return buffer.getvalue()


def _decode(content: bytes, columns: tuple[str, ...]) -> Samples:
    """Return the samples in ``content``; ``columns`` are prefixes of the requested column names."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(member.file_size for member in archive.infolist()) > _MAX_BYTES:
            raise ValueError("its arrays are too large")

        def read(name: str) -> NDArray[Any]:
            with archive.open(f"{name}.npy") as file:
                return np.asarray(read_array(file, allow_pickle=False))

        seconds, names = read("seconds").astype(np.float64), read("names").tolist()
        wanted = [place for place, name in enumerate(names) if name.startswith(columns)]
        values = read("steps")[wanted].cumsum(axis=1).astype(np.float64)
        values[read("missing")[wanted]] = np.nan
    rows = values.reshape(len(wanted), len(seconds))
    return Samples(seconds, dict(zip((names[place] for place in wanted), rows, strict=True)))


def _decode_parquet(content: bytes, columns: tuple[str, ...]) -> Samples:
    """Return the samples in a file of an earlier version: a table with nulls."""
    from arro3.io import read_parquet

    table = read_parquet(io.BytesIO(content)).read_all()
    wanted = [name for name in table.column_names if name.startswith((SECONDS, *columns))]
    values = {name: np.array(table.column(name).to_pylist(), np.float64) for name in wanted}
    return Samples(values.pop(SECONDS), values)
