"""The program in a folder of its own, and the check that it leaves nothing behind."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.cli.program import Program


@pytest.fixture
def program(tmp_path) -> Iterator[Program]:
    program = Program(tmp_path)
    try:
        yield program
    finally:
        # A test that failed half-way must not leave a disk behind for the next one.
        subprocess.run(program._command(("restore", "--force")), env=program.env, check=False)
