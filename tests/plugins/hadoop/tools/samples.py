"""Recorded output of the benchmark tools of several versions of Hadoop."""

from pathlib import Path

_SAMPLES = Path(__file__).parent / "samples"


def sample(name: str) -> str:
    """The text of a sample, after the lines that say where it comes from."""
    lines = (_SAMPLES / name).read_text().splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("# "))
