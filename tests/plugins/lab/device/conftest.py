from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_state(state_dir: Path) -> None:
    """No test touches the journals of this host."""
