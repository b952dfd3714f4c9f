"""The program in a folder of its own, and the check that it leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.inside import InProcessProgram
from tests.cli.program import Program


@pytest.fixture
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Program]:
    """In the process of the test; in processes or interpreters of its own where it is marked so."""
    marked = request.node.get_closest_marker
    if marked("interpreter"):
        program = Program(tmp_path, interpreter=True)
    else:
        program = Program(tmp_path) if marked("process") else InProcessProgram(tmp_path)
    yield program
    program.end()
