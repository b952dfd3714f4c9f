"""Commands start in a quarter of a second, because what takes long to load is loaded late."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("started", "late"),
    [
        ("iostudy.cli.main", {"numpy", "scipy", "polars", "altair", "textual"}),
        ("iostudy.cli.tell", {"scipy.stats", "optuna", "statsmodels"}),
    ],
    ids=["every command", "every report"],
)
def test_what_takes_long_to_load_is_not_needed_to_start(started: str, late: set[str]) -> None:
    code = f"import {started}, sys; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert started in loaded
    assert late.isdisjoint(loaded)
