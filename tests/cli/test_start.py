"""Commands start in a quarter of a second, because what takes long to load is loaded late."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("library", ["numpy", "scipy", "polars", "altair"])
def test_what_takes_long_to_load_is_not_needed_to_start(library: str) -> None:
    code = f"import iostudy.cli.main, sys; sys.exit({library!r} in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
