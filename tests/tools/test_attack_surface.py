"""A new socket, temporary name, deserializer or child process needs a row of its own."""

from __future__ import annotations

import pytest
from tools.docs import attack_surface
from tools.docs.attack_surface_rows import ROWS


def test_every_file_has_a_row() -> None:
    assert all(row.reach and row.what for row in ROWS)


def test_a_new_file_and_a_needless_row_are_errors(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new.py").write_text("from pickle import loads\n")
    monkeypatch.setattr(attack_surface, "_PYTHON", tmp_path)
    with pytest.raises(ValueError, match=r"deserializer: new\.py has no row") as caught:
        attack_surface.write_page()
    assert "child process: cli/child.py is in a row without need" in str(caught.value)
