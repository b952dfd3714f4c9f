from pathlib import Path

import pytest

from iostudy.settings import catalog


@pytest.fixture(autouse=True)
def _own_state(state_dir: Path) -> None:
    """No test touches the journals of this host."""


@pytest.fixture(autouse=True)
def _own_declarations(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test knows the settings that another one declares."""
    monkeypatch.setattr(catalog, "_declared", {})
