"""Hostile declarations of each kind are an error at once, without a traceback."""

from __future__ import annotations

import pytest

from tests.attack.declarations import DECLARATIONS, FILES, PATHS, failure, hostile

CASES = {name: (declaration, script) for name, declaration, script in hostile()}
SHORT = [
    name
    for name in CASES
    if not name.startswith(("read", "write", "both", "normalise", "after", "restore"))
]
LONG = [name for name in CASES if name not in SHORT]


def test_there_are_200() -> None:
    assert len(CASES) >= 200
    assert len(SHORT) == len(DECLARATIONS) + len(FILES) + len(PATHS)


@pytest.mark.child
@pytest.mark.usefixtures("state_dir")
@pytest.mark.parametrize("name", SHORT)
def test_no_declaration_and_no_file_of_a_setting(name: str) -> None:
    declaration, script = CASES[name]
    assert not failure(declaration, script)


@pytest.mark.child
@pytest.mark.usefixtures("state_dir")
@pytest.mark.parametrize(
    "name", [*LONG[::9], *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)]
)
def test_hostile_programs(name: str) -> None:
    declaration, script = CASES[name]
    assert not failure(declaration, script, late=name.startswith("restore"))
