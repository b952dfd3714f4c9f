"""A run with failures of host tests: a second try, and what its last lines say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.child

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(ROOT),
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # they take longer than these tests
    "PYTEST_PLUGINS": "xdist.plugin",
}
TESTS = """\
import pathlib
import pytest

def test_fails_first():
    tries = pathlib.Path(__file__).with_name("tries")
    tries.touch()
    tries.write_text(tries.read_text() + "x")
    assert len(tries.read_text()) > 1, "disturbed"

def test_fails():
    assert False

def test_skips():
    pytest.skip("needs a moon")

@pytest.mark.parametrize("number", [1, 2, 3])
def test_fails_thrice(number):
    assert False

@pytest.mark.unit
def test_unit_fails_first():
    test_fails_first()
"""


def run(folder: Path, function: str) -> tuple[int, str]:
    (folder / "test_it.py").write_text(TESTS)
    settings = "[pytest]\naddopts = -p tests.outcome\nmarkers = unit\n"
    (folder / "pytest.ini").write_text(settings)
    command = [sys.executable, "-m", "pytest", "--retry-alone", f"test_it.py::{function}"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    return done.returncode, done.stdout


def test_a_host_test_that_passes_alone_is_named_as_flaky_with_its_failure(tmp_path):
    code, text = run(tmp_path, "test_fails_first")
    assert code == 0, text
    assert "host tests: 1 flaky" in text
    assert "flaky, passed alone: test_it.py::test_fails_first (AssertionError: disturbed" in text


@pytest.mark.parametrize("function", ["test_fails", "test_fails_thrice", "test_unit_fails_first"])
def test_other_failures_stand(tmp_path, function):
    code, text = run(tmp_path, function)
    assert code == 1
    assert "flaky" not in text


def test_what_was_left_out_is_one_line(tmp_path):
    code, text = run(tmp_path, "test_skips")
    assert code == 0
    assert "left out: 1 (needs a moon)" in text
