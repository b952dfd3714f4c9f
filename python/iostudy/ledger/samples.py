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
_MAX_BYTES = 1 << 28
"""A recording keeps at most 4 MiB of differences, some 40 MiB as arrays."""
_ARRAYS = "seconds", "steps", "missing", "names"
MIN_SAMPLES = 2
"""Samples of a trial: at its beginning and at its end."""


def write_samples(
    folder: Path, number: int, samples: Samples, *, is_run: bool = False
) -> SamplesFile:
    """Write the samples of a trial, or of a run of windows, durably below ``folder``.

    ``number`` is the trial's id, or the run's from 1. Return the file for the ledger.
    """
    name = f"{FOLDER}/{'run-' if is_run else ''}{number:06d}.npz"
    path, content = folder / name, _encode(samples)
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
        remedy = "pip install 'iostudy[trace]'"
        raise _samples_error("Parquet, of an earlier version", path, remedy) from error
    except BaseException as error:
        # Damage has errors of many types, and arro3 panics, which is no Exception.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise _samples_error(f"it contains no samples: {error!r}", path) from error
        raise
    if len(samples.seconds) < MIN_SAMPLES:
        raise _samples_error("it contains no time series", path)
    return samples


def _samples_error(found: str, path: Path, remedy: str = "restore the file") -> LedgerError:
    remedy = f"{remedy}; verdicts and figures do not need it"
    return LedgerError("the samples of a trial", found=found, where=str(path), remedy=remedy)


def _encode(samples: Samples) -> bytes:
    """Return the content of a file with whole numbers and, in seconds, the time of each sample.

    `steps` holds the differences of each column from 0 on; a missing value repeats the last one.
    """
    shape = len(samples.columns), len(samples.seconds)
    values = np.array(list(samples.columns.values()), dtype=np.float64).reshape(shape)
    missing = np.isnan(values)
    last = np.maximum.accumulate(np.where(missing, 0, np.arange(shape[1])), axis=1)
    whole = np.nan_to_num(np.take_along_axis(values, last, axis=1)).astype(np.uint64)
    steps = np.diff(whole, axis=1, prepend=np.uint64(0)).view(np.int64)
    names = np.array(list(samples.columns), dtype=np.str_)
    buffer = io.BytesIO()
    # The usual level takes four times as long, for a sixth fewer bytes.
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in zip(_ARRAYS, (samples.seconds, steps, missing, names), strict=True):
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

        seconds, steps, missing, names = map(read, _ARRAYS)
    shape = len(names), len(seconds)
    kinds = [(array.dtype.name, array.shape) for array in (seconds, steps, missing)]
    if kinds != [("float64", shape[1:]), ("int64", shape), ("bool", shape)]:
        raise ValueError("its arrays do not fit together")
    wanted = [place for place, name in enumerate(names.tolist()) if name.startswith(columns)]
    values = steps[wanted].cumsum(axis=1).view(np.uint64).astype(np.float64)
    values[missing[wanted]] = np.nan
    return Samples(seconds, dict(zip(names[wanted].tolist(), values, strict=True)))


def _decode_parquet(content: bytes, columns: tuple[str, ...]) -> Samples:
    """Return the samples in a file of an earlier version: a table with nulls."""
    from arro3.io import read_parquet

    table = read_parquet(io.BytesIO(content)).read_all()
    wanted = [name for name in table.column_names if name.startswith((SECONDS, *columns))]
    values = {name: np.array(table.column(name).to_pylist(), np.float64) for name in wanted}
    return Samples(values.pop(SECONDS), values)
